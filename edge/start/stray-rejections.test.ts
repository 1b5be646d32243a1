import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** A thread with two calls: the promise of one fails, and the other goes on. */
const thread = `
  const { outliveRejections } = await import(process.env.MODULE);
  outliveRejections(process, { error: ({ err }, text) => console.log(text, err.message) });
  Promise.reject(new Error('of one call'));
  setTimeout(() => console.log('the other call goes on'));
`;
const program = `
  import { Worker } from 'node:worker_threads';
  const worker = new Worker(new URL('data:text/javascript,' + encodeURIComponent(process.env.THREAD)));
  worker.on('error', (error) => console.log('the thread ended', error.message));
`;

test('a promise that nobody waits for is logged, and the thread goes on', () => {
  const MODULE = new URL('./stray-rejections.ts', import.meta.url).href;
  const env = { ...process.env, NODE_NO_WARNINGS: '1', MODULE, THREAD: thread };
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env,
    encoding: 'utf8',
  });
  expect(stdout.trim().split('\n')).toEqual([
    'unexpected fault in a call: a promise failed that nobody waits for of one call',
    'the other call goes on',
  ]);
});
