/** The life of a worker process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { acceptTestWorker, testWorkerBin } from '../../test/kit/fakes/media-worker.ts';
import { QuietLog } from '../../test/kit/fakes/quiet-log.ts';
import { eventually } from '../../test/kit/programs/eventually.ts';
import { workerLimits as limits } from './worker-limits.ts';
import { MediaWorker, WorkerPool } from './worker-pool.ts';

const workerBin = testWorkerBin();

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
      const worker = await MediaWorker.start({ workerBin, limits, clock: new FakeClock() });
      onTestFinished(() => worker.close());
      const objects = await worker.objects();
      process.kill(worker.pid, signal);
      expect(await worker.objects()).toBe(objects);
      expect(worker.closed).toBe(false);
    },
  );

  test('ends when it is closed', async () => {
    const worker = await MediaWorker.start({ workerBin, limits, clock: new FakeClock() });
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

describe('a worker that hangs', () => {
  test('is killed when it has not answered for 10 s; its legs learn why, and another one takes its place', async () => {
    const clock = new FakeClock();
    const log = new QuietLog();
    const acceptUnmarked = acceptTestWorker();
    const pool = await WorkerPool.start({
      ...{ workerBin, acceptUnmarked, workers: 2, restartDelayMs: 1_000, limits, clock, log },
    });
    onTestFinished(() => pool.close());
    const [hung, healthy] = pool.workers;
    const lost: string[] = [];
    hung?.enter((error) => lost.push(error.message));
    healthy?.enter(() => lost.push('that of the healthy one'));
    process.kill(hung?.pid ?? 0, 'SIGSTOP');
    await eventually('the end of the worker', async () => {
      // What answers has answered before its time goes on.
      await healthy?.objects();
      clock.advance(1_000);
      return pool.deaths === 1 || null;
    });
    expect(lost).toEqual(['it did not answer for 10 s and was ended']);
    expect({ hangs: pool.hangs, runs: runs(hung?.pid ?? 0) }).toEqual({ hangs: 1, runs: false });
    expect(log.lines.map(({ message }) => message)).toEqual([
      'a media worker died; its calls end and it is replaced',
    ]);
    clock.advance(1_000);
    await eventually('another worker', () => pool.workers.length === 2 || null);
    expect(pool.workers).toContain(healthy);
  });

  test('at its start is killed, and its start fails', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-worker-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const silent = join(folder, 'worker');
    writeFileSync(silent, '#!/bin/sh\nexec sleep 1000\n', { mode: 0o755 });
    const clock = new FakeClock();
    const started = MediaWorker.start({ workerBin: silent, limits, clock });
    clock.advance(limits.startMs);
    await expect(started).rejects.toThrow('SIGKILL');
    expect(clock.pending).toBe(0);
  });

  test('ends when it is closed, too', async () => {
    const clock = new FakeClock();
    const worker = await MediaWorker.start({ workerBin, limits, clock });
    process.kill(worker.pid, 'SIGSTOP');
    const closed = worker.close();
    clock.advance(limits.stopMs);
    await closed;
    expect(runs(worker.pid)).toBe(false);
  });
});

/** A process that has a worker and prints its process id. */
function startParent() {
  const code = `
    import { systemClock as clock } from '#shared/clock.ts';
    import { MediaWorker } from ${JSON.stringify(new URL('worker-pool.ts', import.meta.url).href)};
    const limits = ${JSON.stringify(limits)};
    const worker = await MediaWorker.start({ workerBin: ${JSON.stringify(workerBin)}, limits, clock });
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
