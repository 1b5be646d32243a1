/** What the record of a production call decides, and what it cannot. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { AssertionCreate } from '#shared/api/agent-testing/assertions.ts';
import { WatchAnswer, WatchedList, WatchLineAnswer } from '#shared/api/agent-testing/watches.ts';
import type { TurnMark } from '#shared/edge-protocol/measured.ts';
import { createModels } from '#shared/models/models.ts';
import { assertion } from '../../../test/kit/control/agent-testing.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { bookingGraph, TestingClient } from '../../../test/kit/control/test-runs.ts';
import { type EndedCall, storeEndedCall } from '../../../test/kit/control/watched-calls.ts';
import { ModelServer } from '../../../test/kit/fakes/model-server.ts';
import { JudgeTokens } from './judge-tokens.ts';
import { look, type WatchMetrics } from './work.ts';

const test = emptiedForEach(() => startControl({}, {}, {}, { begin: false }));
let client: TestingClient;
let pathway_id = '';
const metrics: WatchMetrics = { judged: () => undefined };
beforeEach(async () => {
  client = new TestingClient(test);
  pathway_id = await client.pathway(bookingGraph);
});

const watching = (assertions: readonly object[], more: object = {}) =>
  client.call('POST', '/watches', { name: 'Bookings', pathway_id, assertions, ...more });

/** The verdicts of a new watch on a call that ends now. */
async function judged(
  assertions: readonly AssertionCreate[],
  said: EndedCall['said'],
  marks: readonly TurnMark[] = [],
  more: Partial<EndedCall> = {},
  services: Partial<TestControl['control']['services']> = {},
) {
  const { id } = (await watching(assertions)).read(WatchLineAnswer);
  const own = test.control.services;
  const { db } = own.database;
  test.clock.advance(1000);
  const ended_at = new Date(test.clock.now()).toISOString();
  const call = `call of ${id}`;
  await storeEndedCall(test, { id: call, pathway_id, ended_at, said, ...more });
  if (marks.length > 0) {
    const content = marks.map((mark) => `${JSON.stringify(mark)},`).join('');
    await db
      .insertInto('turn_parts')
      .values({ call_id: call, part: 0, content, received_at: ended_at })
      .execute();
    // It lasted ten seconds, and was answered after one.
    const times = [10_000, 9_000].map((ms) => new Date(test.clock.now() - ms).toISOString());
    const [started_at = '', answered_at = ''] = times;
    await db.updateTable('calls').set({ started_at, answered_at }).where('id', '=', call).execute();
  }
  test.clock.advance(61_000);
  const row = await db.selectFrom('test_watches').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  await look({ ...own, ...services }, metrics, row, new AbortController().signal);
  const { calls } = (await client.call('GET', `/watches/${id}/calls`)).read(WatchedList);
  const results =
    calls[0]?.assertion_results.map(({ reasoning, status }) => [status, reasoning] as const) ?? [];
  const { today } = (await client.call('GET', `/watches/${id}`)).read(WatchAnswer);
  return { statuses: results.map(([status]) => status), reasons: results.map(([, why]) => why), today };
}

/** No line says it as edges word it: what counts is the fact. */
const said: EndedCall['said'] = [
  ['assistant', 'Hello.', 'greet', null],
  ['user', 'An appointment, please', null, null],
  ['agent-action', 'HTTP 200', 'lookup', { kind: 'webhook_answered', status: 200 }],
  ['agent-action', 'find_slot begins', 'day', { kind: 'tool_used', name: 'find_slot' }],
  ['agent-action', 'find_slot is through', 'day', { kind: 'tool_ended', ok: true }],
  ['agent-action', 'book begins', 'day', { kind: 'tool_used', name: 'book' }],
  ['agent-action', 'book is through', 'day', { kind: 'tool_ended', ok: false }],
  ['assistant', 'There is none.', 'day', null],
];
/** As edges of earlier versions reported it. */
const formerly: EndedCall['said'] = [
  ['assistant', 'Hello.', 'greet'],
  ['user', 'An appointment, please'],
  ['agent-action', 'the webhook answered 200', 'lookup'],
  ['agent-action', 'Uses the tool find_slot', 'day'],
  ['agent-action', 'the tool succeeded', 'day'],
  ['agent-action', 'Uses the tool book', 'day'],
  ['agent-action', 'the tool "book" failed: full', 'day'],
  ['assistant', 'There is none.', 'day'],
];
const tool = (config: { name: string; ok?: boolean; max_calls?: number }): AssertionCreate => ({
  type: 'TOOL_CALLED',
  config,
});
const webhook = (node_id: string): AssertionCreate => ({ type: 'WEBHOOK_TRIGGERED', config: { node_id } });

describe('tools and webhooks', () => {
  it.each([
    ['facts beside the lines', said],
    ['lines of an edge of an earlier version', formerly],
  ])('are those of the %s', async (_, lines) => {
    const action = {
      integration: 'rest_api',
      action: 'request',
      body: { method: 'GET', url: 'https://a.example/' },
    };
    await test.call('POST', '/v2/tools', { body: { name: 'cancel', description: 'Cancels', ...action } });
    const { statuses } = await judged(
      [
        tool({ name: 'find_slot', ok: true }),
        tool({ name: 'book', ok: true }),
        tool({ name: 'book', ok: false }),
        tool({ name: 'cancel', max_calls: 0 }),
        webhook('lookup'),
        webhook('day'),
      ],
      lines,
    );
    expect(statuses).toEqual(['PASSED', 'FAILED', 'PASSED', 'PASSED', 'PASSED', 'FAILED']);
  });

  it('are not what a line says without the fact', async () => {
    const told = formerly.map(([user, text, node = null]) => [user, text, node, null] as const);
    const { statuses } = await judged([tool({ name: 'find_slot' }), webhook('lookup')], told);
    expect(statuses).toEqual(['FAILED', 'FAILED']);
  });

  it('are not decided when the record does not have them', async () => {
    const open = said.slice(0, -2);
    const asked = [tool({ name: 'book', ok: true }), tool({ name: 'book' })];
    const cut = await judged(asked, open);
    expect(cut.statuses).toEqual(['INCONCLUSIVE', 'PASSED']);
    expect(cut.reasons[0]).toBe('The record of the call does not say how a use of book ended.');
    const other = await judged([tool({ name: 'book' }), webhook('lookup')], said, [], {
      agent_kind: 'stream',
    });
    expect(other.statuses).toEqual(['INCONCLUSIVE', 'INCONCLUSIVE']);
    expect(other.reasons[0]).toContain('kind of agent');
    const short = await judged(asked, [
      ...said,
      ['agent-action', 'Lines are missing', null, { kind: 'lines_left_out' }],
    ]);
    expect(short.reasons[0]).toBe('Lines are left out of the transcript of the call.');
  });
});

describe('the words that a caller heard', () => {
  const heard = (values?: string[]): AssertionCreate => ({
    type: 'HEARD_WORDS',
    config: { ...(values && { values }) },
  });
  const arrived = { peer_hears: 'yes', peer_loss_percent: 0.2 } as const;
  const number = 'Your number is 4 7 1 1. Goodbye.';
  const cut: EndedCall['said'] = [
    ['assistant', 'Your number is 4 7', 'n', { kind: 'cut_off', said: number, heard: 'Your number is 4 7' }],
    ['user', 'Sorry?', null, null],
  ];
  const whole = ['assistant', number, 'n', null] as const;
  const of = (said: EndedCall['said'], media?: EndedCall['media']) =>
    judged([heard(), heard(['4711']), heard(['4712'])], said, [], { ...(media && { media }) });

  it('are those that were played, when reports of the other side say that they arrived', async () => {
    expect((await of([whole], arrived)).statuses).toEqual(['PASSED', 'PASSED', 'FAILED']);
    // Said again after an interruption.
    expect((await of([...cut, whole], arrived)).statuses).toEqual(['PASSED', 'PASSED', 'FAILED']);
  });

  it('are not those that were cut off, however the line stands in the transcript', async () => {
    const stopped = await of(cut, arrived);
    expect(stopped.statuses).toEqual(['FAILED', 'FAILED', 'FAILED']);
    expect(stopped.reasons[1]).toBe(
      '0 of 1 were heard. “4711” was said, and heard was: "Your number is 4 7".',
    );
    const hungUp = [['assistant', number, 'n', { kind: 'cut_off', said: number, heard: 'Your' }]] as const;
    expect((await of(hungUp, arrived)).statuses).toEqual(['FAILED', 'FAILED', 'FAILED']);
    const text = { type: 'STRING_CHECK', config: { operator: 'contains', value: '4 7 1 1' } } as const;
    expect((await judged([text], hungUp)).statuses).toEqual(['FAILED']);
  });

  it('are not known without proof that they arrived, or that they were played', async () => {
    const silent = await of([whole]);
    expect(silent.statuses).toEqual(['INCONCLUSIVE', 'INCONCLUSIVE', 'FAILED']);
    expect(silent.reasons[0]).toContain('no RTCP report');
    const lossy = await of([whole], { ...arrived, peer_loss_percent: 12 });
    expect(lossy.reasons[0]).toContain('12 % of the sound was lost');
    const former = await of([['assistant', number, 'n']], arrived);
    expect(former.reasons[2]).toContain('how far each line was played');
    const failed = await of(
      [['assistant', number, 'n', { kind: 'cut_off', said: number, heard: null }]],
      arrived,
    );
    expect(failed.reasons[2]).toContain('its speech failed or was too long');
  });
});

describe('measurements', () => {
  const measured = (measure: string, max: number): AssertionCreate =>
    ({ type: 'MEASUREMENT', config: { measure, max } }) as AssertionCreate;
  const marks: TurnMark[] = [
    [0, 'sound', 1200],
    [0, 'held', 1800],
    [0, 'cut', 1900],
    [1, 'voice', 2000],
    [1, 'pause', 2500],
    [1, 'sound', 3300],
    [2, 'keys', 5000],
    [2, 'sound', 5400],
  ];

  it('are those of the timeline', async () => {
    const { reasons, statuses } = await judged(
      [
        measured('latency_p50_ms', 400),
        measured('latency_max_ms', 799),
        measured('first_audio_ms', 200),
        measured('barge_ins', 0),
        measured('turns', 1),
      ],
      said,
      marks,
    );
    expect(reasons).toEqual([
      'latency_p50_ms is 400, wanted at most 400.',
      'latency_max_ms is 800, wanted at most 799.',
      'first_audio_ms is 200, wanted at most 200.',
      'barge_ins is 1, wanted at most 0.',
      'turns is 1, wanted at most 1.',
    ]);
    expect(statuses).toEqual(['PASSED', 'FAILED', 'PASSED', 'FAILED', 'PASSED']);
  });

  it('count the time that a caller waited for an answer that never came', async () => {
    const waited: TurnMark[] = [...marks, [3, 'voice', 6000], [3, 'pause', 7000]];
    const { reasons } = await judged([measured('latency_max_ms', 2999)], said, waited);
    expect(reasons).toEqual(['latency_max_ms is 3000, wanted at most 2999.']);
  });

  it('are not decided without a timeline', async () => {
    const { reasons, statuses } = await judged([measured('latency_p95_ms', 1)], said);
    expect(statuses).toEqual(['INCONCLUSIVE']);
    expect(reasons[0]).toContain('no timeline');
  });
});

it('refuses what no production call can decide, and says why', async () => {
  const refused = async (type: string, config: object) => {
    const [error] = (await watching([{ type, config }])).errors;
    return error?.details?.path;
  };
  expect(await refused('TOOL_CALLED', { name: 'a', input_match: { day: 'Monday' } })).toBe(
    '/assertions/0/config/input_match',
  );
  expect(await refused('WEBHOOK_TRIGGERED', { url: 'https://a.example' })).toBe('/assertions/0/config/url');
  expect(await refused('WEBHOOK_TRIGGERED', { body_match: { a: 1 } })).toBe(
    '/assertions/0/config/body_match',
  );
  for (const measure of ['talk_over_ms', 'longest_silence_ms', 'barge_in_stop_ms', 'agent_tokens'])
    expect(await refused('MEASUREMENT', { measure, max: 1 })).toBe('/assertions/0/config/measure');
});

it('counts the tokens that the server of its judge tells, and estimates those that it does not', async () => {
  const server = await ModelServer.start();
  const judge = { baseUrl: server.url, apiKey: null, model: 'judge-1' };
  const models = createModels(
    { agent: null, turbo: null, caller: null, judge, concurrency: 4 },
    { clock: test.clock, random: () => 0.5 },
  );
  const text = [JSON.stringify({ reasoning: 'It is.', evidence: [], verdict: true })];
  const polite: AssertionCreate = { type: 'LLM_JUDGE', config: { prompt: 'Is the agent polite?' } };
  server.record({ text, usage: { input: 1000, output: 100 } });
  const told = await judged([polite], said, [], {}, { models });
  expect([told.statuses, told.today.model_tokens]).toEqual([['PASSED'], 1100]);
  // One of two answers without a count takes its half.
  const used = new JudgeTokens();
  const both = [polite, polite].map(({ config }) => assertion('LLM_JUDGE', config));
  used.count({ input_tokens: 10, output_tokens: 5 });
  used.count({ input_tokens: null, output_tokens: null });
  expect(used.spent(4001, both)).toBe(15 + 2001);
  await server.close();
});
