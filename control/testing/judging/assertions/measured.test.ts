import { describe, expect, it } from 'vitest';
import type { Voice } from '#shared/api/agent-testing/runs.ts';
import { judgeSaying } from '../../../../test/kit/control/agent-testing.ts';
import { evaluate, verdictOf } from '../../../../test/kit/control/assertions.ts';
import { holdsValue, spokenTokens, valuesIn } from '../spoken-values.ts';
import { configProblems } from './evaluate.ts';

const call = (name: string, input: unknown, ok = true) => ({
  name,
  node_id: null,
  input,
  ok,
  result: {},
  at: '2030-01-01T00:00:00.000Z',
  mocked: true,
});
const tool_calls = [
  call('book', { day: 'Monday', who: { name: 'Ada' } }),
  call('book', { day: 'Friday' }, false),
];

describe('TOOL_CALLED', () => {
  it.each([
    [{ name: 'book' }, 'PASSED', 1],
    [{ name: 'cancel' }, 'FAILED', 0],
    [{ name: 'book', input_match: { day: 'Monday', 'who.name': 'Ada' } }, 'PASSED', 1],
    [{ name: 'book', input_match: { day: 'Sunday' } }, 'FAILED', 0],
    [{ name: 'book', input_match: {} }, 'PASSED', 1],
    [{ name: 'book', min_calls: 3 }, 'FAILED', 2 / 3],
    [{ name: 'book', max_calls: 1 }, 'FAILED', 0],
    [{ name: 'book', ok: false }, 'PASSED', 1],
    [{ name: 'book', ok: true, max_calls: 1 }, 'PASSED', 1],
    [{ name: 'cancel', max_calls: 0 }, 'PASSED', 1],
    [{ name: 'cancel', not: true }, 'PASSED', 1],
    [{ name: 'book', not: true }, 'FAILED', 0],
  ])('%j is %s', async (config, status, score) => {
    expect(await verdictOf('TOOL_CALLED', config, { tool_calls })).toEqual([status, score]);
  });
});

const turn = (more: Partial<Voice['turns'][number]> = {}): Voice['turns'][number] => ({
  turn: 1,
  response_latency_ms: 500,
  speech_ms: 1000,
  silence_ms: 0,
  barge_in: false,
  silent_after_ms: null,
  overlap_ms: 0,
  transcript_source: 'agent_log',
  ...more,
});
const voiceWith = (...turns: Voice['turns']): Voice => ({
  call_id: null,
  caller_call_id: null,
  sip_call_id: null,
  codec: null,
  turns,
  latency_ms: { p50: 400, p95: 900, max: 900 },
  first_audio_ms: 300,
  longest_silence_ms: 900,
  overlap_ms: 250,
  media: null,
  caller_media: null,
  dtmf_sent: [],
});

describe('MEASUREMENT', () => {
  const quiet = voiceWith(turn({ turn: 0 }), turn());
  const interrupted = voiceWith(turn(), turn({ barge_in: true, silent_after_ms: 350 }));
  const deaf = voiceWith(turn(), turn({ barge_in: true, silent_after_ms: null, response_latency_ms: null }));
  it.each([
    ['latency_p50_ms', { max: 400 }, quiet, 'PASSED'],
    ['latency_p95_ms', { max: 899 }, quiet, 'FAILED'],
    ['latency_max_ms', { max: 900 }, quiet, 'PASSED'],
    ['latency_max_ms', { max: 900 }, deaf, 'FAILED'],
    ['first_audio_ms', { max: 299 }, quiet, 'FAILED'],
    ['longest_silence_ms', { max: 1000 }, quiet, 'PASSED'],
    ['talk_over_ms', { max: 200 }, quiet, 'FAILED'],
    ['talk_over_ms', { min: 200, max: 300 }, quiet, 'PASSED'],
    ['barge_ins', { min: 1 }, quiet, 'FAILED'],
    ['barge_ins', { min: 1 }, interrupted, 'PASSED'],
    ['barge_in_stop_ms', { max: 400 }, interrupted, 'PASSED'],
    ['barge_in_stop_ms', { max: 400 }, deaf, 'FAILED'],
    ['barge_in_stop_ms', { max: 400 }, quiet, 'INCONCLUSIVE'],
    ['barge_in_stop_ms', { max: 400, not: true }, quiet, 'INCONCLUSIVE'],
    ['talk_over_ms', { max: 200, not: true }, quiet, 'PASSED'],
    ['turns', { max: 1 }, undefined, 'PASSED'],
    ['latency_p50_ms', { max: 400 }, undefined, 'INCONCLUSIVE'],
  ] as const)('%s with %j', async (measure, bounds, voice, status) => {
    const record = voice ? { voice } : {};
    expect((await evaluate('MEASUREMENT', { measure, ...bounds }, record)).status).toBe(status);
  });

  it('needs a bound that can be met', () => {
    const problems = (config: { min?: number; max?: number }) =>
      configProblems({ type: 'MEASUREMENT', config: { measure: 'turns', ...config } }).length;
    expect([problems({}), problems({ min: 2, max: 1 }), problems({ max: 1 })]).toEqual([1, 1, 0]);
  });
});

describe('HEARD_WORDS', () => {
  const said = 'Your account 4711 is with Harbour Dental. Ask for Ms Adams, extension twenty two.';
  it.each([
    ['your account four seven one one is with harbour dental ask for ms adams extension 22', {}, 'PASSED', 1],
    ['your account 4712 is with harbour dental ask for miss evans extension 22', {}, 'FAILED', 0.5],
    [
      'your account 4712 is with harbour dental ask for ms adams extension 22',
      { threshold: 0.7 },
      'PASSED',
      0.75,
    ],
    ['account 47 11', { values: ['4711'] }, 'PASSED', 1],
    ['account 4711', { values: ['4711', '9999'] }, 'FAILED', 0.5],
    ['account 4712', { values: ['4711'], not: true }, 'PASSED', 1],
    [null, {}, 'INCONCLUSIVE', 0],
  ])('heard as %j with %j', async (heard, config, status, score) => {
    expect(await verdictOf('HEARD_WORDS', config, { spoken: [{ said, heard }] })).toEqual([status, score]);
  });

  it('reads numbers and names in the forms in which they are said', () => {
    expect(valuesIn(said)).toEqual(['4711', '22', 'Harbour Dental', 'Ms Adams']);
    expect(spokenTokens('double four, twenty-one, 1,200 and nine hundred')).toEqual([
      '44211200',
      'and',
      '900',
    ]);
    expect(holdsValue(spokenTokens('I am Zoë O’Neil'), 'Zoe O’Neil')).toBe(true);
    expect(holdsValue(spokenTokens('it is 47110'), '4711')).toBe(false);
  });
});

describe('the opposite of an assertion', () => {
  const judge = judgeSaying({
    verdict: async () => ({ kind: 'verdict', value: true, reasoning: 'So.', evidence: [] }),
  });
  it.each([
    ['NODE_REACHED', { node_id: 'end' }],
    ['NODES_VISITED', { node_ids: ['start', 'end'] }],
    ['TRAVERSAL_MATCH', { reference_path: ['start', 'end'] }],
    ['STRING_CHECK', { value: 'book a table' }],
    ['REGEX_MATCH', { pattern: 'table' }],
    ['VARIABLE_EXTRACTED', { variable_name: 'size' }],
    ['WEBHOOK_TRIGGERED', { node_id: 'hook' }],
    ['LLM_JUDGE', { prompt: 'Judge.' }],
    ['CUSTOM_LLM', { system_prompt: 'Judge.' }],
  ] as const)('of %s fails where it passes, and passes where it fails', async (type, config) => {
    const webhook = {
      node_id: 'hook',
      url: 'https://a.example/',
      method: 'GET',
      status_code: 200,
      at: '',
      body: null,
      mocked: true,
    };
    const record = { variables: { size: 2 }, webhook_calls: [webhook] };
    const passes = await evaluate(type, config, record, judge);
    const opposite = await evaluate(type, { ...config, not: true }, record, judge);
    expect([passes.status, opposite.status, opposite.passed, opposite.score]).toEqual([
      'PASSED',
      'FAILED',
      false,
      0,
    ]);
    expect(opposite.expected).toMatch(/^not: /);
  });

  it('of what is not decided is not decided', async () => {
    const open = await evaluate('NODE_REACHED', { node_id: 'end', not: true }, { nodes_visited: null });
    expect([open.status, open.passed]).toEqual(['INCONCLUSIVE', false]);
  });
});

describe('texts', () => {
  const lines = (content: string) => ({
    chat_history: [{ role: 'assistant' as const, content, turn: 0, node_id: null }],
  });
  it.each([
    ['I’m “sure” – really\u00a0sure', 'I\'m "sure" - really sure'],
    ['Café Zoe\u0301', 'Cafe\u0301 Zoé'],
    ['It costs 5\u202f000\u2009€', 'costs 5 000 €'],
    ['two  spaces', 'two spaces'],
    ['plain', 'plain'],
  ])('are compared as they are on a keyboard: %s', async (said, value) => {
    const found = await evaluate('STRING_CHECK', { value, case_sensitive: true }, lines(said));
    expect(found.status).toBe('PASSED');
    const variable = { variable_name: 'x', expected_value: said, match: 'contains' };
    expect(await verdictOf('VARIABLE_EXTRACTED', variable, { variables: { x: `(${said})` } })).toEqual([
      'PASSED',
      1,
    ]);
  });
});
