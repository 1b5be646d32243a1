import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { nodeFlags } from '../scripts/supervisor/node-flags.ts';

const source = JSON.stringify(new URL('./nursery.ts', import.meta.url).href);

/** @returns the lines that a program with the flags of the edge prints */
function run(code: string): string[] {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      ...nodeFlags.edge,
      '--input-type=module',
      '--eval',
      `import { getHeapSpaceStatistics } from 'node:v8';
       import { setImmediate as nextTurn } from 'node:timers/promises';
       import { once } from 'node:events';
       import { Worker } from 'node:worker_threads';
       import { growNurseryWhenBusy, holdNurseries } from ${source};
       const both = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 2 ** 20;
       const kept = [];
       // Each object outlives some collections, which is what makes V8 let a nursery grow.
       const work = () => {
         for (let i = 0; i < 400_000; i++) kept[i % 50_000] = { text: 'x' + i };
         return Math.round(both());
       };
       ${code}`,
    ],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' }, timeout: 120_000 },
  );
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

describe('the nursery of signaling', () => {
  it('grows when the thread is busy, and that of a thread that begins later does not', () => {
    const code = `
      holdNurseries();
      work();
      console.log('both halves', work());
      const there = \`
        import { getHeapSpaceStatistics } from 'node:v8';
        import { parentPort } from 'node:worker_threads';
        const kept = [];
        parentPort.once('message', () => {
          for (let i = 0; i < 1_000_000; i++) kept[i % 50_000] = { text: 'x' + i };
          const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
          console.log('of the thread', Math.round(space_size / 2 ** 20));
          process.exit();
        });\`;
      const worker = new Worker(there, { eval: true });
      growNurseryWhenBusy({ lookEveryMs: 10, waitingShare: 0.2, busyMs: 50 });
      while (work() <= 8) await nextTurn();
      console.log('grown');
      worker.postMessage('work');
      await once(worker, 'exit');`;
    expect(run(code)).toEqual(['both halves 8', 'grown', 'of the thread 8']);
  });

  it('is no reason to keep a program alive that ends', () => {
    expect(run('growNurseryWhenBusy();')).toEqual(['']);
  });
});
