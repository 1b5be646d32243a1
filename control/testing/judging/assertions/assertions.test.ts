import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssertionType } from '#shared/api/agent-testing/assertions.ts';
import { assertion, chat, conversation, judgeSaying } from '../../../../test/kit/control/agent-testing.ts';
import { evaluate, verdictOf } from '../../../../test/kit/control/assertions.ts';
import { evaluateAssertions, failedNode } from './evaluate.ts';
import { patternProblem, search } from './patterns.ts';

describe('NODE_REACHED', () => {
  it('passes when the node was visited, and names it', async () => {
    const result = await evaluate('NODE_REACHED', { node_id: 'end' });
    expect(result).toMatchObject({ status: 'PASSED', passed: true, score: 1, expected: 'Goodbye (end)' });
    expect(result.target).toBe('Start (start), Goodbye (end)');
  });

  it('fails when it was not, and is undecided for a persona', async () => {
    expect(await verdictOf('NODE_REACHED', { node_id: 'x' })).toEqual(['FAILED', 0]);
    expect(await verdictOf('NODE_REACHED', { node_id: 'x' }, { nodes_visited: null })).toEqual([
      'INCONCLUSIVE',
      0,
    ]);
  });
});

describe('NODES_VISITED', () => {
  const nodes_visited = ['a', 'b', 'c', 'b'];
  it.each([
    ['all', { node_ids: ['c', 'a'] }, ['PASSED', 1]],
    ['the visited share', { node_ids: ['a', 'x', 'b', 'y'] }, ['FAILED', 0.5]],
    ['any', { node_ids: ['x', 'c'], mode: 'any' }, ['PASSED', 1]],
    ['none of any', { node_ids: ['x'], mode: 'any' }, ['FAILED', 0]],
    ['a subsequence in order', { node_ids: ['a', 'c', 'b'], ordered: true }, ['PASSED', 1]],
    [
      'the part in order before the first gap',
      { node_ids: ['a', 'c', 'a'], ordered: true },
      ['FAILED', 2 / 3],
    ],
  ])('scores %s', async (_what, config, expected) => {
    expect(await verdictOf('NODES_VISITED', config, { nodes_visited })).toEqual(expected);
  });

  it('is undecided for a persona', async () => {
    expect((await evaluate('NODES_VISITED', { node_ids: ['a'] }, { nodes_visited: null })).status).toBe(
      'INCONCLUSIVE',
    );
  });
});

describe('TRAVERSAL_MATCH', () => {
  const nodes_visited = ['a', 'b', 'c', 'd'];
  it.each([
    ['the same path', { reference_path: ['a', 'b', 'c', 'd'], mode: 'exact' }, ['PASSED', 1]],
    ['a longer path', { reference_path: ['a', 'b', 'c'], mode: 'exact' }, ['FAILED', 0]],
    ['a subsequence', { reference_path: ['a', 'c'] }, ['PASSED', 1]],
    ['the common part of a path', { reference_path: ['a', 'c', 'b', 'x'] }, ['FAILED', 0.5]],
    [
      'a similar path',
      { reference_path: ['a', 'b', 'd'], mode: 'similarity', threshold: 0.75 },
      ['PASSED', 0.75],
    ],
    [
      'a path that is too different',
      { reference_path: ['a', 'x', 'd'], mode: 'similarity' },
      ['FAILED', 0.5],
    ],
  ])('scores %s', async (_what, config, expected) => {
    expect(await verdictOf('TRAVERSAL_MATCH', config, { nodes_visited })).toEqual(expected);
  });

  it('says where the path left the reference', async () => {
    const result = await evaluate('TRAVERSAL_MATCH', { reference_path: ['start', 'x'], mode: 'exact' });
    expect(result.reasoning).toBe('Step 2: expected x, came to Goodbye (end).');
  });
});

describe('VARIABLE_EXTRACTED', () => {
  const iban = '090071992547409930';
  const variables = { name: ' Ada ', count: 42, text: '42.0', empty: ' ', list: [], no: false, iban };
  it.each([
    [{ variable_name: 'name' }, 'PASSED'],
    [{ variable_name: 'no' }, 'PASSED'],
    [{ variable_name: 'empty' }, 'FAILED'],
    [{ variable_name: 'list' }, 'FAILED'],
    [{ variable_name: 'missing' }, 'FAILED'],
    [{ variable_name: 'toString' }, 'FAILED'],
    [{ variable_name: 'name', expected_value: 'Ada' }, 'PASSED'],
    [{ variable_name: 'name', expected_value: 'ada' }, 'FAILED'],
    [{ variable_name: 'count', expected_value: '42' }, 'PASSED'],
    [{ variable_name: 'text', expected_value: 42 }, 'PASSED'],
    [{ variable_name: 'count', expected_value: '0x2A' }, 'FAILED'],
    [{ variable_name: 'iban', expected_value: '90071992547409930' }, 'PASSED'],
    [{ variable_name: 'iban', expected_value: '90071992547409931' }, 'FAILED'],
    [{ variable_name: 'no', expected_value: false }, 'PASSED'],
    [{ variable_name: 'name', expected_value: 'd', match: 'contains' }, 'PASSED'],
    [{ variable_name: 'name', expected_value: '^A.a$', match: 'regex' }, 'PASSED'],
    [{ variable_name: 'name', expected_value: '^a', match: 'regex' }, 'FAILED'],
  ])('with %j is %s', async (config, status) => {
    expect((await evaluate('VARIABLE_EXTRACTED', config, { variables })).status).toBe(status);
  });
});

describe('WEBHOOK_TRIGGERED', () => {
  const call = (url: string, body: string | null) => ({
    node_id: 'hook',
    url,
    method: 'POST',
    status_code: 200,
    at: '2030-01-01T00:00:00.000Z',
    body,
    mocked: true,
  });
  const webhook_calls = [
    call('https://x.example/book', '{"who":{"name":"Ada","tags":["a"]},"a.b":1}'),
    call('https://x.example/book', 'no json'),
  ];
  it.each([
    [{}, ['PASSED', 1]],
    [{ min_calls: 4 }, ['FAILED', 0.5]],
    [{ node_id: 'other' }, ['FAILED', 0]],
    [{ url: 'https://x.example/book' }, ['PASSED', 1]],
    [{ url: 'https://x.example/b' }, ['FAILED', 0]],
    [{ url: 'https://x.example/*', min_calls: 2 }, ['PASSED', 1]],
    [{ body_match: { 'who.name': 'Ada', 'who.tags.0': 'a', 'a.b': 1 } }, ['PASSED', 1]],
    [{ body_match: { who: { tags: ['a'], name: 'Ada' } } }, ['PASSED', 1]],
    [{ body_match: { 'who.name': 'Bob' } }, ['FAILED', 0]],
    [{ body_match: { 'who.none.deeper': 1 } }, ['FAILED', 0]],
  ])('with %j has the result %j', async (config, expected) => {
    expect(await verdictOf('WEBHOOK_TRIGGERED', config, { webhook_calls })).toEqual(expected);
  });
});

const chat_history = chat(
  'assistant: Hello.',
  'user: I am ANGRY',
  'assistant: I am sorry. Bye.',
  'user: Bye',
);

describe('STRING_CHECK', () => {
  const variables = { plan: 'Gold', deep: { a: 1 } };
  it.each([
    [{ value: 'angry' }, 'PASSED'],
    [{ value: 'angry', case_sensitive: true }, 'FAILED'],
    [{ value: 'angry', target: 'agent' }, 'FAILED'],
    [{ value: 'angry', target: 'user' }, 'PASSED'],
    [{ value: 'angry', target: 'agent', negate: true }, 'PASSED'],
    [{ value: 'assistant: hello.', operator: 'starts_with' }, 'PASSED'],
    [{ value: 'i am sorry', operator: 'starts_with', target: 'agent' }, 'PASSED'],
    [{ value: 'sorry', operator: 'starts_with', target: 'agent' }, 'FAILED'],
    [{ value: 'bye.', operator: 'ends_with', target: 'agent' }, 'PASSED'],
    [{ value: 'bye', operator: 'equals', target: 'user' }, 'PASSED'],
    [{ value: 'bye', operator: 'equals' }, 'FAILED'],
    [{ value: 'gold', operator: 'equals', target: 'variables.plan' }, 'PASSED'],
    [{ value: '"a":1', target: 'variables.deep' }, 'PASSED'],
    [{ value: 'x', target: 'variables.none' }, 'INCONCLUSIVE'],
    [{ value: 'x', target: 'variables.none', negate: true }, 'INCONCLUSIVE'],
  ])('with %j is %s', async (config, status) => {
    expect((await evaluate('STRING_CHECK', config, { chat_history, variables })).status).toBe(status);
  });

  it('quotes the spoken words verbatim', async () => {
    const { evidence, reasoning } = await evaluate('STRING_CHECK', { value: 'angry' }, { chat_history });
    expect(evidence).toEqual([{ turn: 1, quote: 'ANGRY' }]);
    expect(reasoning).toBe('transcript contains "angry".');
  });
});

describe('REGEX_MATCH', () => {
  it('quotes the turn that matched, not an earlier one with the same words', async () => {
    const chat_history = [
      { turn: 0, role: 'assistant' as const, content: 'Shall I say yes for you?', node_id: null },
      { turn: 1, role: 'user' as const, content: 'yes', node_id: null },
    ];
    const result = await evaluate('REGEX_MATCH', { pattern: '^user: yes$', flags: 'm' }, { chat_history });
    expect(result).toMatchObject({ status: 'PASSED', evidence: [{ turn: 1, quote: 'yes' }] });
  });

  it.each([
    [{ pattern: 'angry' }, 'FAILED'],
    [{ pattern: 'angry', flags: 'i' }, 'PASSED'],
    [{ pattern: '^user: ', flags: 'm' }, 'PASSED'],
    [{ pattern: '^user: ' }, 'FAILED'],
    [{ pattern: 'Hello.*Bye', flags: 's' }, 'PASSED'],
    [{ pattern: '\\bANGRY$', target: 'user', flags: 'm' }, 'PASSED'],
    [{ pattern: 'ANGRY', target: 'agent', negate: true }, 'PASSED'],
    [{ pattern: 'ANGRY', negate: true }, 'FAILED'],
    [{ pattern: '.', target: 'variables.none', negate: true }, 'INCONCLUSIVE'],
  ])('with %j is %s', async (config, status) => {
    expect((await evaluate('REGEX_MATCH', config, { chat_history })).status).toBe(status);
  });

  it('quotes the match in its line', async () => {
    const config = { pattern: 'i am \\w+', flags: 'i', target: 'agent' };
    expect((await evaluate('REGEX_MATCH', config, { chat_history })).evidence).toEqual([
      { turn: 2, quote: 'I am sorry' },
    ]);
  });

  it('matches a pattern that stalls backtracking engines', () => {
    expect(search('(a+)+$', '', `${'a'.repeat(50_000)}b`)).toEqual({ kind: 'none' });
    expect(patternProblem('(a+)+$')).toBeNull();
    expect(patternProblem('(?=a)b')).toMatch(/./);
  });

  it("is undecided when a pattern's repetitions make it too large for the text", async () => {
    const long = { chat_history: chat(`assistant: ${'ab'.repeat(50_000)}`) };
    const result = await evaluate('REGEX_MATCH', { pattern: '(a|ab|b|ba){1,450}$' }, long);
    expect(result).toMatchObject({ status: 'INCONCLUSIVE', passed: false, target: 'transcript' });
    expect(result.reasoning).toBe(
      'The pattern comes to 5402 instructions, too many for a text of 100011 characters.',
    );
    expect(await verdictOf('REGEX_MATCH', { pattern: '(ab)+$' }, long)).toEqual(['PASSED', 1]);
    const variables = { id: 'ab'.repeat(50_000) };
    const config = { variable_name: 'id', expected_value: '(a|ab|b|ba){1,450}$', match: 'regex' };
    expect(await verdictOf('VARIABLE_EXTRACTED', config, { variables })).toEqual(['INCONCLUSIVE', 0]);
  });

  it('never throws on an accepted pattern', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), fc.string(), (pattern, text) => {
        if (patternProblem(pattern, 'ims') === null) search(pattern, 'ims', text);
      }),
    );
  });
});

describe('assertions', () => {
  it('are evaluated in order, and a fault of one affects only that one', async () => {
    const broken = assertion('NODE_REACHED', {}, { order: 1, name: 'broken' });
    Object.defineProperty(broken, 'config', {
      get: () => {
        throw new Error('unreadable');
      },
    });
    const results = await evaluateAssertions(
      [assertion('NODE_REACHED', { node_id: 'end' }, { order: 2, name: 'second' }), broken],
      conversation(),
      { judge: judgeSaying({}), seed: 1 },
    );
    expect(results.map(({ name, status }) => [name, status])).toEqual([
      ['broken', 'ERROR'],
      ['second', 'PASSED'],
    ]);
  });
});

describe('assertions of one run', () => {
  it('yield to other work in between', async () => {
    let done = false;
    let turns = 0;
    const count = () => {
      turns++;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    const assertions = Array.from({ length: 10 }, () => assertion('REGEX_MATCH', { pattern: 'x' }));
    await evaluateAssertions(assertions, conversation(), { judge: judgeSaying({}), seed: 1 });
    done = true;
    expect(turns).toBeGreaterThanOrEqual(10);
  });
});

describe('the node that a failure is attributed to', () => {
  const visited = ['a', 'b', 'c'];
  const nodeOf = async (
    checks: readonly (readonly [AssertionType, object, boolean?])[],
    nodes: readonly string[] | null = visited,
  ) => {
    const assertions = checks.map(([type, config, is_required = true], order) =>
      assertion(type, config, { order, is_required }),
    );
    const record = conversation({ nodes_visited: nodes });
    const results = await evaluateAssertions(assertions, record, { judge: judgeSaying({}), seed: 1 });
    return failedNode(assertions, results, nodes);
  };

  it.each([
    ['of NODE_REACHED', ['NODE_REACHED', { node_id: 'x' }], 'x'],
    ['first missing of NODES_VISITED', ['NODES_VISITED', { node_ids: ['a', 'y', 'z'] }], 'y'],
    ['first out of order', ['NODES_VISITED', { node_ids: ['c', 'a'], ordered: true }], 'a'],
    ['of WEBHOOK_TRIGGERED', ['WEBHOOK_TRIGGERED', { node_id: 'hook' }], 'hook'],
    ['last visited for WEBHOOK_TRIGGERED without a node', ['WEBHOOK_TRIGGERED', { url: 'u' }], 'c'],
    [
      'first deviation of an exact path',
      ['TRAVERSAL_MATCH', { reference_path: ['a', 'x'], mode: 'exact' }],
      'x',
    ],
    ['first after the reference', ['TRAVERSAL_MATCH', { reference_path: ['a', 'b'], mode: 'exact' }], 'c'],
    ['first missing of a subsequence', ['TRAVERSAL_MATCH', { reference_path: ['a', 'z', 'c'] }], 'z'],
    ['last visited for a type without nodes', ['STRING_CHECK', { value: 'nothing like it' }], 'c'],
  ] as const)('is the %s', async (_what, check, expected) => {
    expect(await nodeOf([check])).toBe(expected);
  });

  it('is that of the first required assertion that did not pass', async () => {
    expect(
      await nodeOf([
        ['NODE_REACHED', { node_id: 'optional' }, false],
        ['NODE_REACHED', { node_id: 'a' }],
        ['NODE_REACHED', { node_id: 'first' }],
        ['NODE_REACHED', { node_id: 'second' }],
      ]),
    ).toBe('first');
  });

  it('does not exist where there are no nodes', async () => {
    expect(await nodeOf([['STRING_CHECK', { value: 'q' }]], null)).toBeNull();
    expect(await nodeOf([['STRING_CHECK', { value: 'q' }]], [])).toBeNull();
  });
});
