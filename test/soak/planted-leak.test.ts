/** The verdict about resident memory of real processes, with and without a leak of what a standing call takes. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { residentMiB } from '../kit/programs/processes.ts';
import type { Point } from './regression.ts';
import { judge } from './verdict.ts';

const mib = 1024 * 1024;
const call = 0.15 * mib;
const samples = 120;
const callsPerSample = 15;

let program: ChildProcess | null = null;
afterEach(() => {
  program?.kill('SIGKILL');
  program = null;
});

/** @param leak octets for each call that are never released */
async function resident(leak: number): Promise<Point[]> {
  const child = fork(join(import.meta.dirname, 'leaking-program.mjs'), [String(leak), String(call)]);
  program = child;
  const points: Point[] = [];
  for (let sample = 1; sample <= samples; sample++) {
    child.send(callsPerSample);
    await once(child, 'message');
    const value = residentMiB(child.pid ?? 0) * mib;
    points.push({ calls: sample * callsPerSample, value, segment: 0 });
  }
  return points;
}

test('a program that keeps what each call took leaks', async () => {
  const { verdict, slope } = judge(await resident(call), 'memory');
  expect(verdict).toBe('leaking');
  expect(slope?.per1000).toBeGreaterThan(100 * mib);
});

test('a program that releases it does not, whenever its collector runs', async () => {
  expect(judge(await resident(0), 'memory').verdict).toBe('flat');
});
