/** A conversation stored between two events continues exactly like one that was not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import type { Action, ConversationEvent } from './conversation.ts';
import { type ConversationOptions, type LoadedPathway, LostPosition } from './conversation-options.ts';
import { loadGraph } from './graph.ts';
import { Conversation } from './interpreter.ts';

const types = [
  'Default',
  'Wait for Response',
  'Knowledge Base',
  'Webhook',
  'Press Button',
  'Transfer Call',
  'Transfer Pathway',
  'End Call',
] as const;
const labels = ['press 1', 'sales please', 'anything else', 'no input', 'invalid', 'failure', 'success'];

const nodes = fc
  .array(
    fc.record({
      type: fc.constantFrom(...types),
      isGlobal: fc.boolean(),
      condition: fc.constantFrom('', 'name == "ann"'),
      extractVars: fc.constantFrom([], [['amount', 'integer', 'the amount']], [['name', 'string', 'a name']]),
    }),
    { minLength: 2, maxLength: 6 },
  )
  .map((list) =>
    list.map(({ type, ...data }, index) => ({
      id: `n${index}`,
      type,
      data: {
        ...data,
        isStart: index === 0,
        globalLabel: `help ${index}`,
        text: `Node ${index}, {{input}} {{name}} {{amount}}`,
        kb: 'Sales are open at nine. Help is near.',
        url: 'https://a.example.com/{{name}}',
        digits: '1',
        transferNumber: '+14155550123',
        transferPathwayId: 'p',
        responseData: [{ name: 'name', data: '$.name', context: '' }],
      },
    })),
  );
const graph = fc
  .tuple(
    nodes,
    fc.array(fc.record({ source: fc.nat(5), target: fc.nat(5), label: fc.constantFrom(...labels) }), {
      maxLength: 12,
    }),
  )
  .map(([list, edges]) => {
    const id = (index: number) => `n${index % list.length}`;
    const joined = edges.map(({ source, target, label }) => ({
      source: id(source),
      target: id(target),
      data: { label },
    }));
    return loadGraph(list, joined);
  });
const event: fc.Arbitrary<ConversationEvent> = fc.oneof(
  fc.constantFrom('sales please', 'one', 'ann', 'it is 12', 'help 1', 'help 3', 'what').map((text) => ({
    type: 'heard' as const,
    text,
  })),
  fc.constantFrom('1', '9', '12').map((pressed) => ({ type: 'keys' as const, keys: pressed })),
  fc.constant({ type: 'silence' as const }),
  fc.constantFrom(200, 500).map((status) => ({
    type: 'webhook' as const,
    result: { status, body: { name: 'ann' }, error: null },
  })),
  fc.boolean().map((ok) => ({ type: 'transfer' as const, ok, reason: 'so' })),
);

function optionsFor(root: LoadedPathway, other: LoadedPathway): ConversationOptions {
  return {
    pathway: root,
    understanding: ruleEngine,
    variables: { plan: 'gold' },
    builtIns: () => ({ from: '+14155550101' }),
    now: () => 1000,
    startNodeId: null,
    firstSentence: 'Welcome.',
    otherPathway: (id, version) => (id === 'p' && version === 0 ? other : undefined),
  };
}

describe('a stored and restored conversation', () => {
  it('behaves the same as an uninterrupted one, after any events', async () => {
    await fc.assert(
      fc.asyncProperty(graph, graph, fc.array(event, { maxLength: 12 }), async (one, two, events) => {
        const options = optionsFor({ pathwayId: 'r', graph: one }, { pathwayId: 'p', graph: two });
        const living = new Conversation(options);
        let stored = JSON.stringify(new Conversation(options).snapshot());
        const start: ConversationEvent = { type: 'start' };
        for (const next of [start, ...events]) {
          const restored = new Conversation({ ...options, state: JSON.parse(stored) });
          const plain = (actions: readonly Action[]) => JSON.stringify(actions);
          expect(plain(await restored.step(next))).toBe(plain(await living.step(next)));
          expect(restored.history).toEqual(living.history);
          expect(restored.variables).toEqual(living.variables);
          expect(restored.ended).toBe(living.ended);
          expect(restored.currentNode.id).toBe(living.currentNode.id);
          stored = JSON.stringify(restored.snapshot());
          expect(stored).toBe(JSON.stringify(living.snapshot()));
        }
      }),
      { numRuns: 150 },
    );
  });

  it('reports what is missing when its node or pathway no longer exists', async () => {
    const node = (id: string, type: string) => ({
      id,
      type,
      data: { isStart: true, transferPathwayId: 'p' },
    });
    const root = { pathwayId: 'r', graph: loadGraph([node('a', 'Transfer Pathway')], []) };
    const other = { pathwayId: 'p', graph: loadGraph([node('b', 'Default')], []) };
    const options = optionsFor(root, other);
    const conversation = new Conversation(options);
    await conversation.step({ type: 'start' });
    const state = conversation.snapshot();
    expect(() => new Conversation({ ...options, state, otherPathway: () => undefined })).toThrow(
      LostPosition,
    );
    expect(() => new Conversation({ ...options, state: { ...state, nodeId: 'c' } })).toThrow(
      'no longer has node "c"',
    );
  });
});
