/** What `npm run package` puts into the Debian packages; `npm run package-test` installs them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEnvironmentFile } from '../scripts/command/environment-file.ts';
import { commandTable } from '../scripts/command/table.ts';
import type { Contents } from '../scripts/package/contents.ts';
import { controlFields, newestGlibc, writeDeb } from '../scripts/package/deb.ts';
import { isNeeded, type Lock, missingFiles, packagesFor } from '../scripts/package/dependencies.ts';
import { maintainerScripts } from '../scripts/package/maintainer-scripts.ts';
import { commandPage, programPage } from '../scripts/package/man.ts';
import { importsIn, loadedFrom } from '../scripts/package/modules.ts';
import { readOptions } from '../scripts/package/options.ts';
import { type Plan, plans } from '../scripts/package/plan.ts';
import { sbom } from '../scripts/package/sbom.ts';
import { settingsFile } from '../scripts/package/settings-files.ts';
import { environmentOf, packagedUnit, startCommandOf } from '../scripts/package/units.ts';
import { nodeFlags } from '../scripts/supervisor/node-flags.ts';
import { settings } from '../shared/settings/table.ts';
import { promptedBlocks } from './kit/shown-commands.ts';
import { shownIn } from './packages/guides.ts';

const root = join(import.meta.dirname, '..');
const text = (file: string) => readFileSync(join(root, file), 'utf8');
const edition = { version: '1.2.3', epoch: 1_893_456_000 };

function planOf(program: Plan['program']): Plan {
  const plan = plans.find((one) => one.program === program);
  if (!plan) throw new Error(`there is no plan for ${program}`);
  return plan;
}

describe('the modules of a package', () => {
  const loaded = new Map(plans.map(({ program, entries }) => [program, loadedFrom(root, entries)]));
  const loadedBy = (program: Plan['program']) => loaded.get(program) ?? { files: [], packages: [] };

  test('of the edge: those of calls, and none of the control plane', () => {
    const { files, packages } = loadedBy('edge');
    expect(packages).toEqual(expect.arrayContaining(['mediasoup', 'onnxruntime-node', 'koffi', 'undici']));
    expect(packages).not.toEqual(expect.arrayContaining(['fastify']));
    expect(packages).not.toEqual(expect.arrayContaining(['pg']));
    for (const started of ['shard-thread.ts', 'silero-worker.ts', 'flite-worker.ts'])
      expect(files.some((file) => file.endsWith(`/${started}`))).toBe(true);
    expect(files.filter((file) => file.startsWith('control/') || file.includes('.test.'))).toEqual([]);
  });

  test('of control: those of the API, and none of the edge', () => {
    const { files, packages } = loadedBy('control');
    expect(packages).toEqual(expect.arrayContaining(['fastify', 'pg', 'better-sqlite3', 'pdfkit']));
    expect(
      packages.filter((name) => ['mediasoup', 'onnxruntime-node', 'drachtio-srf'].includes(name)),
    ).toEqual([]);
    expect(files.filter((file) => file.startsWith('edge/') || file.includes('.test.'))).toEqual([]);
  });

  test('no file that a program reads is forgotten: all that are not TypeScript are in a package, or only of a build', () => {
    const ofBuilds = ['patches', 'libsrtp-patches', 'standins'].map((part) => `edge/media/worker/${part}/`);
    const known = [...ofBuilds, ...plans.flatMap(({ data }) => data)];
    const others = ['shared', 'outgoing', 'edge', 'control'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)),
    );
    expect(others.length).toBeGreaterThan(10);
    expect(others.filter((file) => !known.some((folder) => file.startsWith(folder)))).toEqual([]);
  });

  test('development packages are in neither', () => {
    const { devDependencies } = JSON.parse(text('package.json')) as { devDependencies: object };
    for (const { program } of plans)
      expect(loadedBy(program).packages.filter((name) => name in devDependencies)).toEqual([]);
  });

  test.each([
    ["import a, { type B } from 'one';", ['one']],
    ["import {\n  type A,\n  type B,\n} from 'types';", []],
    ["import type { A } from 'types';\nexport type { B } from 'types';", []],
    ["export { a } from './a.ts';\nimport './b.ts';", ['./a.ts', './b.ts']],
    ["const a = await import(\n  './a.ts'\n);", ['./a.ts']],
    ["const a: typeof import('types') = createRequire(import.meta.url)('one');", ['one']],
    ["require.resolve('one/package.json')", ['one/package.json']],
    ["new Worker(new URL('./worker.ts', import.meta.url))", ['./worker.ts']],
    ["/** import('none') */\n// import('none')\nimport { readFileSync } from 'node:fs';", []],
  ])('%j loads %j', (code, names) => expect(importsIn(code)).toEqual(names));
});

describe('the npm packages of a package', () => {
  const lock: Lock = {
    packages: {
      '': { version: '1' },
      'node_modules/a': {
        version: '1',
        dependencies: { b: '1', '@types/b': '1' },
        optionalDependencies: { native: '1', elsewhere: '1' },
        peerDependencies: { peer: '1', maybe: '1' },
        peerDependenciesMeta: { maybe: { optional: true } },
      },
      'node_modules/a/node_modules/b': { version: '2', dependencies: { c: '1' } },
      'node_modules/b': { version: '1' },
      'node_modules/c': { version: '1', dependencies: { a: '1' } },
      'node_modules/native': { version: '1', optional: true },
      'node_modules/elsewhere': { version: '1', optional: true },
      'node_modules/peer': { version: '1' },
      'node_modules/@types/b': { version: '1' },
    },
  };
  const isInstalled = (path: string) => path !== 'node_modules/elsewhere';

  test('are those that it needs, the nearest of each name, without types and without what is for other systems', () => {
    expect([...packagesFor(lock, ['a'], isInstalled)]).toEqual([
      ['node_modules/a', ['node_modules/a/node_modules/b', 'node_modules/native', 'node_modules/peer']],
      ['node_modules/a/node_modules/b', ['node_modules/c']],
      ['node_modules/c', ['node_modules/a']],
      ['node_modules/native', []],
      ['node_modules/peer', []],
    ]);
  });

  test('must be in the lock file', () => {
    expect(() => packagesFor(lock, ['missing'], isInstalled)).toThrow('package-lock.json has no missing');
  });

  test.each([
    ['koffi/index.js', true],
    ['koffi/src/koffi/index.cjs', true],
    ['koffi/src/koffi/src/call.cc', false],
    ['koffi/doc/index.js', false],
    ['koffi/LICENSE.txt', true],
    ['mediasoup/node/lib/index.js', true],
    ['mediasoup/worker/src/main.cpp', false],
    ['mediasoup/node/lib/index.d.ts', false],
    ['better-sqlite3/prebuilds/linux-x64.node', true],
    ['better-sqlite3/prebuilds/linux-arm64.node', false],
    ['better-sqlite3/prebuilds/linuxmusl-x64.node', false],
    ['@koromix/koffi-linux-x64/linux_x64/koffi.node', true],
    ['@koromix/koffi-linux-x64/musl_x64/koffi.node', false],
    ['onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1', true],
    ['pino/README.md', false],
    ['node/bin/node', false],
  ])('of %s: %s', (file, needed) => expect(isNeeded(file, 'x64')).toBe(needed));

  test('have every file that another one loads, unless the package itself lacks it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-package-'));
    mkdirSync(join(folder, 'a', 'lib'), { recursive: true });
    const main = "require('./lib/b'); require(\"./lib\"); import('./c.mjs'); export * from './none.js';";
    for (const [name, content] of [
      ['index.js', main],
      ['lib/b.js', ''],
      ['lib/index.js', ''],
      ['c.mjs', "import'./d.json'"],
      ['d.json', '{}'],
    ] as const)
      writeFileSync(join(folder, 'a', name), content);
    const all = ['a/index.js', 'a/lib/b.js', 'a/lib/index.js', 'a/c.mjs', 'a/d.json'];
    expect(missingFiles(folder, all)).toEqual([]);
    expect(missingFiles(folder, ['a/index.js', 'a/c.mjs'])).toEqual([
      'a/index.js loads ./lib/b',
      'a/index.js loads ./lib',
      'a/c.mjs loads ./d.json',
    ]);
    rmSync(folder, { recursive: true });
  });
});

describe.each(plans)('$name', (plan) => {
  const unit = packagedUnit(text(`deploy/${plan.name}.service`), plan);

  test('has the unit of deploy/, with its own paths and the flags of Node', () => {
    expect(startCommandOf(unit)).toEqual([
      `/usr/lib/${plan.name}/bin/node`,
      ...nodeFlags[plan.program],
      `${plan.program}/main.ts`,
    ]);
    expect(unit).not.toMatch(/\/opt\/|node_modules|TRUNKLINE_CACHE/);
    const known = [...settings.map(({ name }) => name), 'NODE_COMPILE_CACHE'];
    expect(Object.keys(environmentOf(unit)).filter((name) => !known.some((one) => one === name))).toEqual([]);
  });

  test('a unit that has changed is not packaged unseen', () => {
    expect(() => packagedUnit(unit.replace('User=trunkline', 'User=root'), plan)).toThrow('User=trunkline');
  });

  test('has all settings of its program in its file, commented out, and each can be set by removing the mark', () => {
    const file = settingsFile(plan.program);
    expect(readEnvironmentFile(file)).toEqual({});
    const set = readEnvironmentFile(file.replaceAll(/^#(?=[A-Z])/gm, ''));
    const own = settings.filter(
      ({ program, name }) => [plan.program, 'both'].includes(program) && name !== 'TRUNKLINE_DATA',
    );
    expect(set).toEqual(Object.fromEntries(own.map(({ name, default: value }) => [name, value])));
    expect(file.split('\n').filter((line) => line.length > 120 && !line.includes('http'))).toEqual([]);
  });

  test('has manual pages with every command and every setting of its program', async () => {
    const page = programPage(plan, edition);
    for (const { name, program } of settings.filter(({ name }) => name !== 'TRUNKLINE_DATA'))
      expect(page.includes(`.B ${name}\n`)).toBe([plan.program, 'both'].includes(program));
    const rows = plan.commands.map((row) => ({ ...row, ...(row.phrases && { phrases: async () => [] }) }));
    const commands = await commandPage(rows, edition);
    for (const { name, packages } of commandTable)
      expect(commands.includes(`\n.BR ${name.replaceAll('-', '\\-')}`)).toBe(packages.includes(plan.program));
  });

  test('has maintainer scripts that the shell of dpkg can read', () => {
    for (const script of Object.values(maintainerScripts(plan)))
      expect(spawnSync('sh', ['-n'], { input: script, encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      });
  });

  test('has fields as dpkg wants them', () => {
    const fields = controlFields(plan, '1.2.3', 'amd64', 1000, '2.36');
    expect(fields).toMatchObject({ Package: plan.name, Version: '1.2.3', 'Installed-Size': '1000' });
    expect(fields.Depends).toContain('libc6 (>= 2.36)');
    expect(
      fields.Description?.split('\n')
        .slice(1)
        .every((line) => /^ \S/.test(line)),
    ).toBe(true);
  });
});

describe('the archive', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-package-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const contents: Contents = {
    entries: [
      { path: '/etc/trunkline/edge.env', content: '#A=\n', mode: 0o640 },
      { path: '/usr/lib/trunkline-edge/bin/trunkline', content: '#!/bin/sh\n', mode: 0o755 },
      {
        path: '/usr/lib/trunkline-edge/edge/main.ts',
        content: { file: join(root, 'edge', 'main.ts') },
        mode: 0o644,
      },
    ],
    dependencies: new Map(),
    direct: [],
  };

  async function build(name: string): Promise<string> {
    const out = join(folder, name);
    mkdirSync(out);
    return writeDeb({ plan: planOf('edge'), edition, contents, architecture: 'amd64', out });
  }

  test('of the same contents is the same, byte by byte, and holds them with their modes and owners', async () => {
    const [one, other] = [await build('one'), await build('another-folder')];
    expect(readFileSync(one).equals(readFileSync(other))).toBe(true);
    const listed = spawnSync('dpkg-deb', ['--contents', one], {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'UTC' },
    });
    expect(listed.stdout.split('\n').filter((line) => line.startsWith('-'))).toEqual([
      expect.stringMatching(/^-rw-r----- root\/root +4 2030-01-01 00:00 \.\/etc\/trunkline\/edge\.env$/),
      expect.stringMatching(/^-rwxr-xr-x root\/root .*\/bin\/trunkline$/),
      expect.stringMatching(/^-rw-r--r-- root\/root .*\/edge\/main\.ts$/),
    ]);
    const conffiles = spawnSync('dpkg-deb', ['--info', one, 'conffiles'], { encoding: 'utf8' });
    expect(conffiles.stdout).toBe('/etc/trunkline/edge.env\n');
  });

  test('names the newest C library that its programs need', () => {
    const binary = Buffer.from('\0GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.17\0');
    expect(newestGlibc([binary, Buffer.from('GLIBC_2.9')])).toBe('2.34');
  });
});

describe('the SBOM', () => {
  const lock: Lock = {
    packages: {
      'node_modules/@a/b': { version: '1.0.0', integrity: 'sha512-AAEC', license: 'MIT' },
      'node_modules/alias': { name: 'real', version: '2.0.0' },
    },
  };
  const made = () =>
    sbom({
      plan: planOf('edge'),
      edition,
      architecture: 'amd64',
      lock,
      dependencies: new Map([
        ['node_modules/@a/b', ['node_modules/alias']],
        ['node_modules/alias', []],
      ]),
      direct: ['node_modules/@a/b'],
      binaries: [{ name: 'node', version: '24.0.0', licence: 'MIT', sha256: 'ab' }],
    });

  test('is CycloneDX: components with their hashes and licences, and which needs which', () => {
    const document = JSON.parse(made());
    expect(document).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 });
    expect(document.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(document.components).toMatchObject([
      { name: 'node', hashes: [{ alg: 'SHA-256', content: 'ab' }] },
      {
        name: '@a/b',
        purl: 'pkg:npm/%40a/b@1.0.0',
        hashes: [{ alg: 'SHA-512', content: '000102' }],
        licenses: [{ expression: 'MIT' }],
      },
      { name: 'real', purl: 'pkg:npm/real@2.0.0' },
    ]);
    const refs = document.components.map((one: { 'bom-ref': string }) => one['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    const [self, ...others] = document.dependencies;
    expect(self.dependsOn).toEqual(['pkg:generic/node@24.0.0', 'pkg:npm/%40a/b@1.0.0#node_modules/@a/b']);
    expect(others[0].dependsOn).toEqual(['pkg:npm/real@2.0.0#node_modules/alias']);
  });

  test('is the same for the same packages', () => expect(made()).toBe(made()));
});

test.each([
  [['--version', 'latest'], '--version takes a version'],
  [['--nonsense'], '--nonsense'],
])('npm run package %j says what is wrong', (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});

describe('what package-test types', () => {
  const programsOf = (page: string, section: string) =>
    promptedBlocks(page, section).map((lines) =>
      lines.map(({ line }) => line.replace(/^[A-Z_]+='[^']*' /, '')),
    );
  const beginning = (page: string, section: string, words: number) =>
    programsOf(page, section).map((lines) => lines.map((line) => line.split(' ').slice(0, words).join(' ')));

  test('stands on the pages, block by block', () => {
    expect(beginning('packages.md', 'Install', 2)).toEqual([
      ['apt-get install', 'systemctl is-active', 'trunkline call'],
    ]);
    expect(beginning('packages.md', 'Upgrade', 2)).toEqual([
      ['install -d', 'trunkline backup', 'apt-get install'],
      ['trunkline drain', 'apt-get install', 'trunkline drain'],
      ['apt-get install', 'systemctl stop', 'trunkline restore', 'systemctl start'],
    ]);
    expect(beginning('packages.md', 'Another machine', 2)).toEqual([
      ['systemctl stop', 'trunkline restore', 'systemctl start'],
    ]);
    expect(beginning('operations.md', 'Backup', 3)).toEqual([['npm run backup'], ['npm run backup']]);
    expect(beginning('operations.md', 'Restore', 3)).toEqual([['npm run restore']]);
  });

  test('has the output that is below it, and none of the text after it', () => {
    const [, drained = []] = promptedBlocks('packages.md', 'Upgrade');
    expect(drained.map(({ output }) => output)).toEqual([
      ['edge 4f0e… is drained'],
      [],
      ['edge 4f0e… is in service'],
    ]);
    const [sealed = []] = promptedBlocks('operations.md', 'Backup');
    expect(sealed[0]?.output[0]).toMatch(/^\/srv\/backup\/monday: \d files/);
    expect(() => promptedBlocks('packages.md', 'Nothing')).toThrow('docs/packages.md has no section Nothing');
  });

  test('after an upgrade of both packages waits for what a drained edge does not keep from answering', () => {
    const wait = shownIn('packages.md', /wait until `(curl -sf [^`]+)` answers before `drain --undo`/);
    expect(wait).toMatch(/\/health\/ready$/);
  });
});
