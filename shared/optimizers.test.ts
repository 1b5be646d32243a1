import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { BusyWatch, busyProcess, unoptimizedFlags } from './optimizers.ts';

const source = JSON.stringify(new URL('./optimizers.ts', import.meta.url).href);

/** Runs a program with V8's natives. @returns what it prints */
function run(flags: readonly string[], code: string): string {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--allow-natives-syntax', '--input-type=module', '--eval', code],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
  );
  expect(stderr).toBe('');
  return stdout.trim();
}

/** Bits of `%GetOptimizationStatus` (V8's src/runtime/runtime.h): optimized by Maglev or TurboFan. */
const hot = `
  const add = (n) => { let sum = 0; for (let i = 0; i < n; i++) sum = (sum + i * n) | 0; return sum; };
  const isOptimized = () => (%GetOptimizationStatus(add) & (1 << 4)) !== 0;
  const heat = () => { for (let i = 0; i < 20_000; i++) add(200); };
`;

describe('the optimizing compilers', () => {
  it('compile nothing while a program loads', () => {
    const code = `import { loadUnoptimized } from ${source};
      ${hot}
      loadUnoptimized();
      heat();
      console.log(isOptimized());`;
    expect(run([], code)).toBe('false');
    expect(run([], code.replace('loadUnoptimized();', ''))).toBe('true');
  });

  it.each([
    ['of a program that turned them off', [], 'loadUnoptimized();'],
    ['of a program started without them', unoptimizedFlags, ''],
  ])('compile what is hot %s, once it is busy', (_, flags, begin) => {
    const code = `import { loadUnoptimized, optimizeWhenBusy } from ${source};
      ${hot}
      ${begin}
      heat();
      const before = isOptimized();
      optimizeWhenBusy();
      const go = () => {
        heat();
        if (isOptimized()) console.log(before, 'then', isOptimized());
        else setImmediate(go);
      };
      go();`;
    expect(run(flags, code)).toBe('false then true');
  });

  it('do not keep a program alive that ends', () => {
    expect(run([], `import { optimizeWhenBusy } from ${source}; optimizeWhenBusy();`)).toBe('');
  });
});

describe('a process', () => {
  /** @param used CPU time of each quarter of a second, ms */
  const quartersUntilBusy = (used: readonly number[]): number | null => {
    const watch = new BusyWatch(1000, busyProcess);
    let total = 1000;
    const found = used.findIndex((ms) => {
      total += ms;
      return watch.isBusy(total);
    });
    return found < 0 ? null : found + 1;
  };

  it('is busy when it has used half a second of CPU time beyond a tenth of a core', () => {
    expect(quartersUntilBusy(Array.from({ length: 1000 }, () => 25))).toBeNull();
    expect(quartersUntilBusy(Array.from({ length: 1000 }, () => 30))).toBe(100);
    expect(quartersUntilBusy([125, 125, 125, 125, 125])).toBe(5);
    expect(quartersUntilBusy([525])).toBe(1);
  });

  it('is busy with bursts of work, and not with some that are far apart', () => {
    expect(quartersUntilBusy([225, 0, 225, 0, 225, 0, 225, 0])).toBe(5);
    const apart = Array.from({ length: 1000 }, (_, i) => (i % 20 === 0 ? 500 : 0));
    expect(quartersUntilBusy(apart)).toBeNull();
  });
});
