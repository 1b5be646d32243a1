/**
 * The SDK as it is published: packed, installed into an empty project without a network, imported from JavaScript, and
 * checked by the compiler against a program. It drives a real control plane.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type * as Sdk from '../clients/typescript/src/index.ts';
import { describedIn } from '../control/deployment/docs/groups.ts';
import { clientCodeOf } from '../control/deployment/docs/request-code.ts';
import { packSdk } from '../scripts/sdk/pack.ts';
import { startRoutes, type TestControl } from './kit/control/harness.ts';
import { openApiOf } from './kit/control/openapi.ts';

const run = promisify(execFile);
const root = dirname(import.meta.dirname);
const bin = join(root, 'node_modules', '.bin');
const env = { ...process.env, PATH: [bin, process.env.PATH ?? ''].join(delimiter) };

let project: string;
let test: TestControl;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'trunkline-sdk-user-'));
  const tarball = await packSdk(project);
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const install = ['install', tarball, '--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
  await run('npm', install, { cwd: project, env });
  test = await startRoutes();
});
afterAll(async () => {
  await test.close();
  await rm(project, { recursive: true, force: true });
});

/** What the programs of the README take for given. */
const given = {
  client: "declare const client: import('@trunkline/client').Trunkline;",
  id: 'declare const id: string;',
  save: 'declare function save(page: readonly unknown[]): void;',
  store: 'declare function store(id: string, transcript: string): Promise<void>;',
  express: 'declare const express: any;',
  app: 'declare const app: { post(path: string, parser: unknown, handler: (request: any, response: any) => void): void };',
  process: 'declare const process: { readonly env: Readonly<Record<string, string | undefined>> };',
};

/** The programs of the README, each with what it does not declare itself. */
async function readmePrograms(): Promise<{ name: string; text: string }[]> {
  const readme = await readFile(join(installed(), 'README.md'), 'utf8');
  return [...readme.matchAll(/^```[jt]s\n([\s\S]*?)^```$/gm)].map(([, code = ''], index) => {
    const missing = Object.entries(given).filter(([name]) => !code.includes(`const ${name} =`));
    return {
      name: `readme-${index}.ts`,
      text: `${missing.map(([, text]) => text).join('\n')}\n${code}\nexport {};\n`,
    };
  });
}

/** The programs that the pages of endpoints show, each as a function. */
async function docsPrograms(): Promise<string[]> {
  const { paths } = await openApiOf(test);
  const programs = describedIn(paths).flatMap((one) => clientCodeOf(one) ?? []);
  return programs.map((code) => {
    const [heading = '', , ...lines] = code.split('\n');
    expect(heading).toBe("import { Trunkline } from '@trunkline/client';");
    return `async () => {\n${lines.join('\n')}\nreturn answer;\n}`;
  });
}

const installed = () => join(project, 'node_modules', '@trunkline', 'client');

it('brings no dependency, and nothing but its code, types and README', async () => {
  const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'));
  expect(Object.keys(lock.packages)).toEqual(['', 'node_modules/@trunkline/client']);
  const { stdout } = await run('find', [installed(), '-type', 'f', '-printf', '%P\n']);
  const files = stdout.trim().split('\n');
  expect(files.filter((file) => !/^(package\.json|README\.md|dist\/[\w-]+\.(js|d\.ts))$/.test(file))).toEqual(
    [],
  );
});

it('lists calls and reads errors of a control plane, imported as a package', async () => {
  const sdk: typeof Sdk = await import(pathToFileURL(join(installed(), 'dist', 'index.js')).href);
  const client = new sdk.Trunkline({ apiKey: test.key, baseUrl: await test.url() });
  expect(await client.calls.list().take(10)).toEqual([]);
  const failed = await client.calls.get('none').catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(sdk.ApiError);
  expect(failed).toMatchObject({ code: 'CALL_NOT_FOUND' });
});

it('has types that a program compiles against, and that reject what the API does not have', async () => {
  const program = (field: string) => `
import { Trunkline, verifyWebhook, type Answer } from '@trunkline/client';
const client = new Trunkline({ apiKey: 'tk_x' });
export async function main(): Promise<number> {
  let minutes = 0;
  for await (const call of client.calls.list({ status: 'completed' })) minutes += call.${field};
  const session: Answer<'GET /v1/session'> = await client.request('GET /v1/session', {});
  const event = await verifyWebhook({ body: '', headers: {}, secret: session.data.role });
  if (event.type === 'port.status_changed') console.log(event.data.to_status);
  return minutes;
}
`;
  const programs = await readmePrograms();
  expect(programs).toHaveLength(5);
  for (const { name, text } of programs) await writeFile(join(project, name), text);
  const ofDocs = await docsPrograms();
  expect(ofDocs.length).toBeGreaterThan(150);
  await writeFile(
    join(project, 'docs.ts'),
    `import { Trunkline } from '@trunkline/client';\n${given.process}\nexport const all = [\n${ofDocs.join(',\n')}];\n`,
  );
  await writeFile(join(project, 'good.ts'), program('call_length'));
  await writeFile(join(project, 'bad.ts'), program('call_lenght'));
  const options = [
    '--noEmit',
    '--strict',
    '--target',
    'es2022',
    '--module',
    'nodenext',
    '--lib',
    'es2022,dom',
  ];
  const checked = await run(
    join(bin, 'tsc'),
    [...options, ...programs.map(({ name }) => name), 'docs.ts', 'good.ts', 'bad.ts'],
    { cwd: project, env },
  ).then(
    () => '',
    (error: { readonly stdout: string }) => error.stdout,
  );
  const errors = checked.split('\n').filter((line) => line.includes('error TS'));
  expect(errors).toEqual([expect.stringMatching(/^bad\.ts.*Property 'call_lenght' does not exist/)]);
});
