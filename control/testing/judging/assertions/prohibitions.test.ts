import { describe, expect, it } from 'vitest';
import type { AssertionType } from '#shared/api/agent-testing/assertions.ts';
import { assertion, conversation, judgeSaying } from '../../../../test/kit/control/agent-testing.ts';
import { evaluateAssertions } from './evaluate.ts';

const has: Readonly<Record<string, readonly string[]>> = {
  node: ['start', 'end', 'refund'],
  tool: ['close_account'],
  variable: ['card'],
};

async function judged(type: AssertionType, config: object, couldHave?: object) {
  const [result] = await evaluateAssertions([assertion(type, config)], conversation(), {
    judge: judgeSaying({}),
    seed: 1,
    couldHave: async (part, name) => has[part]?.includes(name) ?? false,
    ...couldHave,
  });
  return result;
}

describe('what must not happen', () => {
  it.each([
    ['NODE_REACHED', { node_id: 'refund', not: true }, { node_id: 'refnd', not: true }],
    ['NODES_VISITED', { node_ids: ['refund'], not: true }, { node_ids: ['refund', 'refnd'], not: true }],
    [
      'NODES_VISITED',
      { node_ids: ['refund'], mode: 'any', not: true },
      { node_ids: ['refund', 'refnd'], mode: 'any', not: true },
    ],
    [
      'TRAVERSAL_MATCH',
      { reference_path: ['start', 'refund'], mode: 'exact', not: true },
      { reference_path: ['start', 'refnd'], mode: 'exact', not: true },
    ],
    ['WEBHOOK_TRIGGERED', { node_id: 'refund', not: true }, { node_id: 'refnd', not: true }],
    ['TOOL_CALLED', { name: 'close_account', not: true }, { name: 'close_acount', not: true }],
    ['TOOL_CALLED', { name: 'close_account', max_calls: 0 }, { name: 'close_acount', max_calls: 0 }],
    ['VARIABLE_EXTRACTED', { variable_name: 'card', not: true }, { variable_name: 'crad', not: true }],
  ] as const)('%s is decided by names that the agent has: %j', async (type, known, misspelt) => {
    expect((await judged(type, known))?.status).toBe('PASSED');
    const open = await judged(type, misspelt);
    expect(open).toMatchObject({ status: 'INCONCLUSIVE', passed: false, score: 0 });
    expect(open?.reasoning).toMatch(/^The agent has no (node|tool|variable) "(refnd|close_acount|crad)"/);
    // Nobody knows what the agent has: the record alone decides.
    expect((await judged(type, misspelt, { couldHave: undefined }))?.status).toBe('PASSED');
  });

  it('of what must happen, a name that the agent has not is a failure', async () => {
    for (const [type, config] of [
      ['NODE_REACHED', { node_id: 'refnd' }],
      ['TOOL_CALLED', { name: 'close_acount' }],
      ['VARIABLE_EXTRACTED', { variable_name: 'crad' }],
    ] as const)
      expect((await judged(type, config))?.status).toBe('FAILED');
  });

  it('counts further names', async () => {
    const config = { node_ids: ['a', 'b', 'c', 'a'], not: true };
    expect((await judged('NODES_VISITED', config))?.reasoning).toBe(
      'The agent has no node "a" and 2 others, so this could not happen. Correct the name, or remove the assertion.',
    );
  });
});
