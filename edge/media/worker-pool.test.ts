/** The life of a worker process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { testWorkerBin } from '../../test/kit/fakes/media-worker.ts';
import { MediaWorker } from './worker-pool.ts';

/** Whether a process runs; a zombie does not. */
function runs(pid: number): boolean {
  try {
    // The state is the first letter after the name in parentheses (proc(5)).
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

describe('a worker', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'keeps running after %s, so that calls can drain',
    async (signal) => {
      const worker = await MediaWorker.start(testWorkerBin());
      onTestFinished(() => worker.close());
      const objects = await worker.objects();
      process.kill(worker.pid, signal);
      expect(await worker.objects()).toBe(objects);
      expect(worker.closed).toBe(false);
    },
  );

  test('ends when it is closed', async () => {
    const worker = await MediaWorker.start(testWorkerBin());
    const { pid } = worker;
    expect(runs(pid)).toBe(true);
    await worker.close();
    expect(runs(pid)).toBe(false);
  });

  test('ends with its parent process, even when that is killed', async () => {
    const parent = startParent();
    const [line] = await once(createInterface({ input: parent.stdout }), 'line');
    const pid = Number(line);
    expect(runs(pid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => runs(pid)).toBe(false);
  });
});

/** A process that has a worker and prints its process id. */
function startParent() {
  const code = `
    import { MediaWorker } from ${JSON.stringify(new URL('worker-pool.ts', import.meta.url).href)};
    const worker = await MediaWorker.start(${JSON.stringify(testWorkerBin())});
    console.log(worker.pid);
  `;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => end(child));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
