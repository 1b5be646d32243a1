import { expect, test } from 'vitest';
import type { AgentLeg } from '../../call/ports/agents.ts';
import { tappedLeg } from './tapped-leg.ts';

const leg = (more: Partial<AgentLeg> = {}): AgentLeg => ({
  sampleRate: 8000,
  read: () => true,
  prepare: async () => {},
  start: () => {},
  close: () => {},
  ...more,
});

test('an agent with something before its sound has the rate that it has once it is prepared', async () => {
  let rate: 8000 | 16000 = 8000;
  const model: AgentLeg = {
    ...leg(),
    get sampleRate() {
      return rate;
    },
    prepare: async () => {
      rate = 16000;
    },
  };
  const tapped = tappedLeg(model, { read: () => false });
  await tapped.prepare();
  expect(tapped.sampleRate).toBe(16000);
  expect(tapped.read(new Int16Array(320))).toBe(false);
});

test('it hears and is instructed only where the agent itself is', () => {
  const told: string[] = [];
  expect(tappedLeg(leg(), {})).not.toHaveProperty('write');
  expect(tappedLeg(leg(), {})).not.toHaveProperty('instruct');
  tappedLeg(leg({ instruct: (text) => told.push(text) }), {}).instruct?.('Be brief.');
  expect(told).toEqual(['Be brief.']);
});
