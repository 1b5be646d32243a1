import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'compile-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Whether a program with this data folder uses the cache; in a child process, because it is process-wide. */
function used(dataFolder = folder): boolean {
  const module = join(import.meta.dirname, 'compile-cache.ts');
  const code = `import { keepCompiled } from ${JSON.stringify(module)};
    const used = keepCompiled(${JSON.stringify(dataFolder)});
    await import(${JSON.stringify(join(import.meta.dirname, 'clock.ts'))});
    console.log(used);`;
  // The programs of a test run share one cache.
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const text = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', env });
  return JSON.parse(text);
}
const started = () => writeFileSync(join(folder, 'control.lock'), '');
const cached = () => readdirSync(join(folder, 'compile-cache'), { recursive: true });

describe('the compile cache', () => {
  it('is in the data folder, readable by the owner only, from the second start on', () => {
    expect(used()).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
    started();
    expect(used()).toBe(true);
    const kept = cached().length;
    expect(kept).toBeGreaterThan(1);
    expect(used()).toBe(true);
    expect(cached()).toHaveLength(kept);
  });

  it('is not used where anyone else can write', () => {
    started();
    chmodSync(folder, 0o777);
    expect(used()).toBe(false);
    chmodSync(folder, 0o700);
    mkdirSync(join(folder, 'compile-cache'));
    chmodSync(join(folder, 'compile-cache'), 0o770);
    expect(used()).toBe(false);
  });

  it('is not used through a link', () => {
    started();
    mkdirSync(join(folder, 'other'), { mode: 0o700 });
    symlinkSync(join(folder, 'other'), join(folder, 'compile-cache'));
    expect(used()).toBe(false);
    expect(readdirSync(join(folder, 'other'))).toEqual([]);
  });

  it('is skipped where it cannot be created', () => {
    started();
    writeFileSync(join(folder, 'compile-cache'), 'a file');
    expect(used()).toBe(false);
    expect(used(join(folder, 'nowhere'))).toBe(false);
  });
});
