import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { type AudioPriority, raisePriority } from './audio-priority.ts';

/** What a system permits, and what a thread has then. */
it.each<{ realTime: boolean; nice: boolean; result: AudioPriority }>([
  { realTime: true, nice: true, result: 'real time' },
  { realTime: true, nice: false, result: 'real time' },
  { realTime: false, nice: true, result: 'raised' },
  { realTime: false, nice: false, result: 'normal' },
])('takes what is permitted: real time $realTime, nice $nice', ({ realTime, nice, result }) => {
  const scheduler = {
    setPolicy: () => realTime,
    setNice: () => {
      if (!nice) throw new Error('EACCES: permission denied');
    },
  };
  expect(raisePriority(scheduler)).toBe(result);
});

it('raises the thread and what it starts, not the process; a thread of audio can leave real time', async () => {
  const source = `
    const { execFileSync } = require('node:child_process');
    const { readFileSync } = require('node:fs');
    const { parentPort, workerData } = require('node:worker_threads');
    const statOf = (stat) => stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const own = () => of(readFileSync('/proc/thread-self/stat', 'utf8'));
    const of = (stat) => ({ nice: Number(statOf(stat)[16]), policy: Number(statOf(stat)[38]) });
    void import(workerData).then(({ raisePriority, leaveRealTime }) => {
      const priority = raisePriority();
      const raised = own();
      const started = of(execFileSync('cat', ['/proc/self/stat'], { encoding: 'utf8' }));
      leaveRealTime();
      parentPort.postMessage({ priority, raised, started, left: own() });
    });`;
  const before = getPriority(process.pid);
  const thread = new Worker(source, {
    eval: true,
    workerData: new URL('./audio-priority.ts', import.meta.url).href,
  });
  const said = await new Promise((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
  });
  await thread.terminate();
  /** By what this machine permits. */
  const saw = (priority: AudioPriority, nice: number, policy: number) => ({
    priority,
    raised: { nice, policy },
    started: { nice, policy },
    left: { nice, policy: 0 },
  });
  expect([
    saw('real time', -5, 2),
    saw('real time', before, 2),
    saw('raised', -5, 0),
    saw('normal', before, 0),
  ]).toContainEqual(said);
  expect(policyOf(process.pid)).toBe(0);
  expect(getPriority(process.pid)).toBe(before);
});

function policyOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[38]);
}
