/** What programs and threads of a process with a copied environment get, in a process of its own. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('programs and threads get the variables of a copied environment', () => {
  const code = `
    import { execFileSync } from 'node:child_process';
    import { Worker } from 'node:worker_threads';
    import { plainEnvironment } from ${JSON.stringify(new URL('plain-environment.ts', import.meta.url).href)};
    plainEnvironment();
    const shell = () => execFileSync('/bin/sh', ['-c', 'printf %s "$GIVEN"'], { encoding: 'utf8' });
    const given = shell();
    process.env.GIVEN = 'changed';
    const read = 'import { parentPort } from "node:worker_threads"; parentPort.postMessage(process.env.GIVEN)';
    const thread = await new Promise((resolve) => new Worker(read, { eval: true }).once('message', resolve));
    console.log(JSON.stringify({ own: process.env.GIVEN, given, changed: shell(), thread }));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    env: { ...process.env, GIVEN: 'value' },
  });
  expect(stderr).toBe('');
  // A thread gets what the process was started with.
  expect(JSON.parse(stdout)).toEqual({ own: 'changed', given: 'value', changed: 'changed', thread: 'value' });
});
