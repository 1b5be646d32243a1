import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { raisePriority } from './audio-priority.ts';

test('without permission a thread goes on with the priority that it has', () => {
  const denied = () => {
    throw new Error('EACCES: permission denied');
  };
  expect(raisePriority(denied)).toBe(false);
});

test('a thread raises its own priority and that of what it starts, not that of the process', async () => {
  const source = `
    const { execFileSync } = require('node:child_process');
    const { getPriority } = require('node:os');
    const { parentPort, workerData } = require('node:worker_threads');
    void import(workerData).then(({ raisePriority }) => {
      const permitted = raisePriority();
      const started = Number(execFileSync(process.execPath, ['-p', 'os.getPriority()'], { encoding: 'utf8' }));
      parentPort.postMessage({ permitted, own: getPriority(0), started });
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
  const raised = { permitted: true, own: -5, started: -5 };
  expect([raised, { permitted: false, own: before, started: before }]).toContainEqual(said);
  expect(getPriority(process.pid)).toBe(before);
});
