import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { pathExists } from '#shared/path-exists.ts';

const root = dirname(import.meta.dirname);

test('a path exists or not, also below a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'path-exists-'));
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect([folder, file, `${file}.other`, join(file, 'below')].map(pathExists)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  rmSync(folder, { recursive: true });
});

test('a path that another user protects is an error that names it, not reported as missing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'path-exists-'));
  const file = join(folder, 'control.db');
  writeFileSync(file, '');
  chmodSync(folder, 0);
  // Root can see everything, so the program becomes nobody once it is loaded.
  const script = `import { pathExists } from ${JSON.stringify(join(import.meta.dirname, 'path-exists.ts'))};
    if (process.getuid() === 0) process.seteuid(65534);
    try { console.log(pathExists(${JSON.stringify(file)})); } catch ({ code, path }) { console.log(code, path); }`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  chmodSync(folder, 0o700);
  rmSync(folder, { recursive: true });
  expect(stdout).toBe(`EACCES ${file}\n`);
});

test('no program uses existsSync, which reports inaccessible paths as missing', () => {
  const asking = ['control', 'edge', 'shared', 'clients', 'scripts/doctor'].flatMap((area) =>
    readdirSync(join(root, area), { recursive: true, encoding: 'utf8' })
      .map((name) => `${area}/${name}`)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .filter((name) => readFileSync(join(root, name), 'utf8').includes('existsSync(')),
  );
  expect(asking).toEqual([]);
});
