import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isInstalled, keepOwnPlatform } from '../scripts/setup/packages.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platforms-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('set-up removes the libraries of other systems, and does nothing without any', () => {
  const other = process.platform === 'darwin' ? 'linux' : 'darwin';
  for (const path of [
    join(other, process.arch),
    join(process.platform, 'other'),
    join(process.platform, process.arch),
  ])
    mkdirSync(join(folder, path), { recursive: true });
  for (let time = 0; time < 2; time++) {
    keepOwnPlatform(folder);
    expect(existsSync(join(folder, other))).toBe(false);
    expect(existsSync(join(folder, process.platform, 'other'))).toBe(false);
    expect(existsSync(join(folder, process.platform, process.arch))).toBe(true);
  }
  keepOwnPlatform(join(folder, 'missing'));
});

test('set-up installs when a package has another version, also an optional one, which may be missing', () => {
  const wanted = {
    packages: { '': {}, a: { version: '1.0.0' }, native: { version: '2.0.0', optional: true } },
  };
  const installed = (packages: object) => {
    writeFileSync(join(folder, '.package-lock.json'), JSON.stringify({ packages }));
    return isInstalled(folder, wanted);
  };
  expect(isInstalled(folder, wanted)).toBe(false);
  expect(installed({})).toBe(false);
  expect(installed({ a: { version: '1.0.1' } })).toBe(false);
  expect(installed({ a: { version: '1.0.0' } })).toBe(true);
  expect(installed({ a: { version: '1.0.0' }, native: { version: '2.0.0' } })).toBe(true);
  expect(installed({ a: { version: '1.0.0' }, native: { version: '1.9.0' } })).toBe(false);
});

test('no install script of a package runs: Node 24 is pinned by its hash, as all that npm installs', () => {
  const root = join(import.meta.dirname, '..');
  const text = (file: string) => readFileSync(join(root, file), 'utf8');
  expect(text('.npmrc').split('\n')).toContain('ignore-scripts=true');
  expect(text('scripts/setup/packages.mjs')).not.toContain('ignore-scripts=false');
  const { allowScripts } = JSON.parse(text('package.json')) as { allowScripts: Record<string, boolean> };
  expect(Object.values(allowScripts)).not.toContain(true);
  const { packages } = JSON.parse(text('package-lock.json')) as {
    packages: Record<string, { version?: string; integrity?: string; link?: boolean }>;
  };
  const unpinned = Object.entries(packages).filter(
    ([path, { integrity, link }]) => path.startsWith('node_modules/') && !link && !integrity,
  );
  expect(unpinned).toEqual([]);
  for (const arch of ['x64', 'arm64'])
    expect(packages[`node_modules/node-linux-${arch}`]?.version).toBe(process.versions.node);
});
