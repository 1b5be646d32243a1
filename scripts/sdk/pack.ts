/** Makes the tarball of the SDK: JavaScript and types by the TypeScript compiler, packed by npm. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Trouble } from '../setup/trouble.mjs';

const run = promisify(execFile);
const root = dirname(dirname(import.meta.dirname));
const source = join(root, 'clients', 'typescript');
const bin = join(root, 'node_modules', '.bin');

/** @returns the path of the tarball, in `folder`. @throws Trouble */
export async function packSdk(folder: string): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'trunkline-sdk-'));
  try {
    await compile(join(work, 'dist'));
    for (const file of ['package.json', 'README.md']) await copyFile(join(source, file), join(work, file));
    await mkdir(folder, { recursive: true });
    const packed = await tool(
      'npm',
      ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
      work,
    );
    const [{ filename }] = JSON.parse(packed) as [{ readonly filename: string }];
    return join(folder, filename);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function compile(outDir: string): Promise<void> {
  await tool(join(bin, 'tsc'), ['-p', source, '--outDir', outDir], root);
  // The compiler writes './x.js' in JavaScript, and leaves './x.ts' in declarations.
  for (const name of await readdir(outDir)) {
    if (!name.endsWith('.d.ts')) continue;
    const text = await readFile(join(outDir, name), 'utf8');
    await writeFile(
      join(outDir, name),
      text.replaceAll(/(from |import\()(['"])(\.\/[\w-]+)\.ts\2/g, '$1$2$3.js$2'),
    );
  }
}

async function tool(file: string, args: readonly string[], cwd: string): Promise<string> {
  // tsc and npm start with `#!/usr/bin/env node`.
  const env = { ...process.env, PATH: [bin, process.env.PATH ?? ''].join(delimiter) };
  try {
    return (await run(file, args, { cwd, env, maxBuffer: 4 * 1024 * 1024 })).stdout;
  } catch (error) {
    const { stderr = '', stdout = '' } = error as { readonly stderr?: string; readonly stdout?: string };
    const why = `${stdout}${stderr}`.trim() || String(error);
    throw new Trouble(`cannot build the SDK: ${file} failed`, why, 'correct what it names, and run it again');
  }
}
