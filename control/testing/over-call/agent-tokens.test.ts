import { expect, it } from 'vitest';
import { conversation } from '../../../test/kit/control/agent-testing.ts';
import { RunUsage } from '../judging/usage.ts';
import { countingAgent } from './agent-tokens.ts';

const requests = [
  { model: 'talker', input_tokens: 900, output_tokens: 20 },
  { model: 'talker', input_tokens: 1000, output_tokens: 30 },
];

it('counts what the edge tells', async () => {
  const usage = new RunUsage(null);
  await countingAgent(usage, true, async () => ({ record: conversation(), requests }));
  expect(usage.tokens('agent')).toBe(1950);
  expect(usage.view().models).toMatchObject([{ role: 'agent', model: 'talker', requests: 2 }]);
});

it('says why tokens are not known', async () => {
  const tokens = async (asksModel: boolean, told: Partial<Parameters<typeof of>[0]>) => {
    const usage = new RunUsage(null);
    await of({ usage, asksModel, ...told }).catch(() => undefined);
    return usage.tokens('agent');
  };
  const of = (given: {
    usage: RunUsage;
    asksModel: boolean;
    record?: object;
    requests?: typeof requests;
    fails?: boolean;
  }) =>
    countingAgent(given.usage, given.asksModel, async () => {
      if (given.fails) throw new Error('cut off');
      return { record: conversation(given.record), requests: given.requests ?? null };
    });
  expect(await tokens(true, {})).toContain('did not tell its tokens');
  expect(await tokens(true, { fails: true })).toContain('did not tell its tokens');
  const fact = { kind: 'realtime_begun' as const, connection: 'c' };
  const log = [{ at: '2030-01-01T00:00:00.000Z', node_id: 'a', message: 'takes over', fact }];
  expect(await tokens(true, { requests, record: { log } })).toContain('realtime model');
  // By rules there are none.
  expect(await tokens(false, {})).toBe(0);
});
