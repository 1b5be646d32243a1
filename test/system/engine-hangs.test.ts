/** An engine that hangs: it keeps its connections open and answers nothing. Its calls end, and it is used again later. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callAndTalk } from '../kit/programs/caller.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { TestSystem } from '../kit/programs/harness.ts';

let system: TestSystem;

beforeAll(async () => {
  system = await TestSystem.start();
});

afterAll(() => system?.stop());

test('is noticed: its calls end, /health is 503, and both recover when it goes on', async () => {
  const caller = await callAndTalk(system, system.tone.number);
  const engine = system.enginePid;
  process.kill(engine, 'SIGSTOP');
  try {
    expect(await system.api.endedCall(caller.callId)).toMatchObject({ termination: 'engine_lost' });
    await eventually('/health to be 503', async () => (await system.health()) === 503 || null);
  } finally {
    process.kill(engine, 'SIGCONT');
    await caller.close();
  }
  await system.ready();
  const next = await callAndTalk(system, system.tone.number);
  await next.media.heard(25);
  await next.hangup();
  expect(await system.api.endedCall(next.callId)).toMatchObject({ outcome: 'completed' });
  await next.close();
});
