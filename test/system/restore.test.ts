/** A restore while the edge has calls: what the backup does not know of them is not "in progress" for good. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { releaseAll } from '../kit/fakes/release.ts';
import { type Caller, callAndTalk } from '../kit/programs/caller.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'restore-'));
let system: TestSystem;
const callers: Caller[] = [];

beforeAll(async () => {
  system = await TestSystem.start();
});
afterAll(() =>
  releaseAll(
    ...callers.map((caller) => () => caller.close()),
    () => system?.stop(),
    () => rmSync(folder, { recursive: true }),
  ),
);

async function answered(): Promise<Caller> {
  const caller = await callAndTalk(system, system.tone.number);
  callers.push(caller);
  await system.api.loggedCall(caller.callId, ({ answered_at }) => answered_at !== null);
  return caller;
}

function run(name: 'backup' | 'restore', ...args: readonly string[]) {
  const program = join(import.meta.dirname, '..', '..', 'control', `${name}.ts`);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, NODE_NO_WARNINGS: '1', TRUNKLINE_DATA: system.folder };
  return promisify(execFile)(process.execPath, [program, ...args], { env });
}

test('a call whose end is not in the backup ends as lost; one that is up goes on', async () => {
  const [ended, standing] = [await answered(), await answered()];
  const backup = join(folder, 'backup');
  await run('backup', backup);
  await ended.hangup();
  expect(await system.api.endedCall(ended.callId)).toMatchObject({ hangup_by: 'peer' });
  await system.control.end('SIGTERM');
  await run('restore', backup, '--force');
  await system.startControl();
  await system.ready();
  expect(await system.api.endedCall(ended.callId)).toMatchObject({
    outcome: 'completed',
    termination: 'end_lost',
    hangup_by: 'error',
  });
  expect(await system.api.loggedCall(standing.callId, () => true)).toMatchObject({ ended_at: null });
  await standing.hangup();
  expect(await system.api.endedCall(standing.callId)).toMatchObject({
    outcome: 'completed',
    hangup_by: 'peer',
  });
});
