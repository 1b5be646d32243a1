import { expect, it } from 'vitest';
import type { Action } from '#shared/agent/conversation.ts';
import { Conversation } from '#shared/agent/interpreter.ts';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import { taskGraph } from './task-graph.ts';

function talk(transfers: Record<string, string>) {
  return new Conversation({
    pathway: { pathwayId: '', graph: taskGraph('Say "How can I help you?"', transfers) },
    understanding: ruleEngine,
    variables: {},
    builtIns: () => ({}),
    now: () => 0,
    startNodeId: null,
    firstSentence: null,
    otherPathway: () => undefined,
  });
}

const transferred = (actions: readonly Action[]) =>
  actions.flatMap((action) => (action.type === 'transfer' ? [action.target] : []));
const types = (actions: readonly Action[]) => actions.map(({ type }) => type);

it('transfers to whom the caller asks for, and goes on where it was when that fails', async () => {
  const conversation = talk({ default: '+14155550111', sales: '1001', 'a/b': '1002' });
  expect(types(await conversation.step({ type: 'start' }))).toEqual(['say', 'listen']);
  expect(transferred(await conversation.step({ type: 'heard', text: 'I want the sales team' }))).toEqual([
    '1001',
  ]);
  const failed = await conversation.step({ type: 'transfer', ok: false, reason: 'busy' });
  expect(types(failed)).toEqual(['say', 'listen']);
  const text = 'let me speak to a human please';
  expect(transferred(await conversation.step({ type: 'heard', text }))).toEqual(['+14155550111']);
  expect(types(await conversation.step({ type: 'transfer', ok: true, reason: '' }))).toEqual(['end']);
});

it('transfers to nobody when there are no targets', async () => {
  const conversation = talk({});
  await conversation.step({ type: 'start' });
  const heard = await conversation.step({ type: 'heard', text: 'transfer me to a human' });
  expect(transferred(heard)).toEqual([]);
});
