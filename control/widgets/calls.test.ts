/** Calls of visitors: what a page gets, when it is refused, and what was said in the thread. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SessionAnswer, ThreadCallAnswer, ThreadListAnswer } from '#shared/api/widgets.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { readPhoneUsername } from '#shared/phone-session.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';
import { makePersonaWidget, makeWidget, origin } from '../../test/kit/control/widgets.ts';
import { Live } from './live.ts';
import { startSpoken } from './spoken.ts';

const sip = { host: 'edge.example.com', port: 5061, wss_port: 5062 };
const callId = '00000000-0000-4000-8000-0000000000c1';

let test: TestControl;
let edge: EdgeClient;
let frames = 0;

beforeAll(async () => {
  test = await startRoutes();
});
afterAll(() => test.close());
beforeEach(async () => {
  edge = await connectEdge(test, { sip, revision: edgeProtocol.revision });
  await edge.next('config');
  const metrics = { trunkline_edge_engine_up: 1, trunkline_edge_protocol_revision: edgeProtocol.revision };
  edge.send({ type: 'status', metrics });
  const { edges } = test.control.services;
  await expect.poll(() => edges.all[0]?.metrics.trunkline_edge_protocol_revision).toBe(edgeProtocol.revision);
});
afterEach(async () => {
  await edge.close();
  // The windows of the limits pass.
  test.clock.advance(60_000);
});

async function visitorOf(widget: string) {
  const session = await test.call('POST', `${widget}/session`, { key: null, body: {}, headers: { origin } });
  const { token, thread_id } = session.read(SessionAnswer).data;
  const key = `Bearer ${token}`;
  const thread = `${widget}/threads/${thread_id}`;
  const call = (headers: Record<string, string> = { origin }) =>
    test.call('POST', `${thread}/call`, { key, headers });
  return { call, thread, thread_id };
}

/** What the edge is told before; it takes it. */
async function agentTold() {
  const { id, command } = await edge.next('command');
  if (command.kind !== 'phone.agent') throw new Error(`unexpected ${command.kind}`);
  edge.send({ type: 'result', id, ok: true });
  return command;
}

async function callOf(widget: string) {
  const visitor = await visitorOf(widget);
  const answer = visitor.call();
  const command = await agentTold();
  return { ...visitor, command, data: (await answer).read(ThreadCallAnswer).data };
}

describe("a visitor's call", () => {
  it('gets credentials for one call to the agent of the widget, with its greeting and variables', async () => {
    const widget = await makePersonaWidget(test, { voice: true, greeting: 'Lamps and more.' });
    const { command, data, thread_id } = await callOf(widget);
    expect(command).toMatchObject({
      session_id: data.phone_session_id,
      agent: { kind: 'persona', first_sentence: 'Lamps and more.', request_data: {} },
    });
    expect(data.credentials.url).toBe('wss://edge.example.com:5062/');
    const now = test.clock.now();
    expect(readPhoneUsername(data.credentials.username)).toMatchObject({
      agent: true,
      caller: 'Visitor, Lamps',
      calls: 1,
      expires_at: now + 60_000,
    });
    const log = await test.call('GET', `/v1/org/audit?subject_id=${data.phone_session_id}`);
    expect(log.body.data?.entries).toMatchObject([{ area: 'phone_sessions', actor: { kind: 'system' } }]);
    const session = await test.call('GET', `/v1/phone-sessions/${data.phone_session_id}`);
    expect(session.body.data?.phone_session).toMatchObject({ purpose: `thread ${thread_id}` });
  });

  it('is refused while the setting is off, which it is at first, and after a hand-off', async () => {
    const widget = await makePersonaWidget(test);
    const { call, thread } = await visitorOf(widget);
    expect((await call()).codes).toEqual(['VOICE_DISABLED']);
    await test.call('PATCH', widget, { body: { config: { voice: true } } });
    await test.call('POST', `${thread}/handoff`, { body: {} });
    expect((await call()).codes).toEqual(['VOICE_DISABLED']);
    await test.call('POST', `${thread}/end`, { body: {} });
    const other = await visitorOf(widget);
    await test.call('POST', `${other.thread}/end`, { body: {} });
    expect((await other.call()).codes).toEqual(['THREAD_ENDED']);
  });

  it('is refused on other pages, for other threads, and without a token', async () => {
    const widget = await makePersonaWidget(test, { voice: true });
    const { call } = await visitorOf(widget);
    expect((await call({ origin: 'https://evil.example.com' })).codes).toEqual(['ORIGIN_NOT_ALLOWED']);
    expect((await call({})).codes).toEqual(['ORIGIN_NOT_ALLOWED']);
    const other = await visitorOf(widget);
    const mine = await test.call('POST', `${widget}/session`, { key: null, body: {}, headers: { origin } });
    const key = `Bearer ${mine.read(SessionAnswer).data.token}`;
    const answer = await test.call('POST', `${other.thread}/call`, { key, headers: { origin } });
    expect(answer.codes).toEqual(['THREAD_NOT_FOUND']);
    expect((await test.call('POST', `${other.thread}/call`, { key: null })).codes).toEqual(['AUTH_FAILURE']);
  });

  it('is refused without an edge that takes calls of browsers', async () => {
    const alone = await startRoutes();
    const widget = await makePersonaWidget(alone, { voice: true });
    const session = await alone.call('POST', `${widget}/session`, {
      key: null,
      body: {},
      headers: { origin },
    });
    const { token, thread_id } = session.read(SessionAnswer).data;
    const answer = await alone.call('POST', `${widget}/threads/${thread_id}/call`, {
      key: `Bearer ${token}`,
      headers: { origin },
    });
    expect([answer.status, answer.codes]).toEqual([503, ['SERVICE_UNAVAILABLE']]);
    await alone.close();
  });

  it('is refused after 6 of one address in a minute, and while 20 of the widget may begin', async () => {
    const widget = await makePersonaWidget(test, { voice: true });
    const visitor = await visitorOf(widget);
    const often = async () => {
      for (let i = 0; i < 6; i++) {
        const answer = visitor.call();
        await agentTold();
        expect((await answer).status).toBe(200);
      }
    };
    await often();
    const refused = await visitor.call();
    expect([refused.codes, refused.errors[0]?.details]).toEqual([
      ['RATE_LIMITED'],
      expect.objectContaining({ scope: 'voice_address', limit: 6 }),
    ]);
    const { db } = test.control.services.database;
    const thread_id = visitor.thread.split('/').at(-1) ?? '';
    const [row] = await db
      .selectFrom('widget_calls')
      .selectAll()
      .where('thread_id', '=', thread_id)
      .execute();
    if (!row) throw new Error('no call is stored');
    const rows = Array.from({ length: 14 }, (_, i) => ({ ...row, session_id: `more-${i}` }));
    await db.insertInto('widget_calls').values(rows).execute();
    // By the customer's server, which the limits of visitors are not for.
    const full = await test.call('POST', `${visitor.thread}/call`);
    expect([full.codes, full.errors[0]?.details]).toEqual([
      ['RATE_LIMITED'],
      expect.objectContaining({ scope: 'widget_calls', limit: 20 }),
    ]);
    await db.deleteFrom('widget_calls').execute();
  });
});

describe('what is said in a call', () => {
  it('is in the thread: shown while it is said, kept as it was heard, masked, and not answered in writing', async () => {
    const widget = await makePersonaWidget(test, { voice: true, blockedWords: ['darn'] });
    const { data, thread_id } = await callOf(widget);
    const variables = { phone_session_id: data.phone_session_id };
    const running = { ended_at: null, termination: null, hangup_by: null, media: null, sip_code: null };
    const report = async (...bodies: Parameters<typeof reportFrame>[1]) => {
      edge.send(reportFrame(++frames, bodies));
      await edge.next('ack');
    };
    const record = (changes: object) =>
      callRecord(test.orgId, { id: callId, sip_call_id: callId, variables, ...changes });
    const at = new Date(test.clock.now()).toISOString();
    const said = (id: string, user: 'user' | 'assistant', text: string) => ({
      type: 'transcript' as const,
      call_id: callId,
      entries: [{ id, at, user, text, node_id: null, node_name: null }],
    });
    const { db } = test.control.services.database;
    const live = new Live();
    const watcher = live.watch(thread_id, 1000);
    const stored = async () =>
      (await test.call('GET', `${widget}/threads?thread_id=${thread_id}`))
        .read(ThreadListAnswer)
        .data.threads[0]?.messages.map(({ sender_type, content, call_id }) => [
          sender_type,
          content,
          call_id,
        ]);
    const stop = startSpoken({
      db,
      clock: test.clock,
      live,
      log: {
        error: (facts: object) => {
          throw facts;
        },
      },
      mostMessages: 1000,
      onLines: () => undefined,
    });
    /** Lets rounds pass until something is so. */
    const until = (is: () => Promise<boolean> | boolean) =>
      expect
        .poll(
          () => {
            test.clock.advance(1000);
            return is();
          },
          { timeout: 20_000 },
        )
        .toBe(true);

    await report({ type: 'call', call: record({ ...running, status: 'in-progress' }) });
    await report(said('l1', 'assistant', 'Which darn lamp would you like?'));
    const pieces: unknown[] = [];
    await until(() => {
      pieces.push(...watcher.take());
      return pieces.length > 0;
    });
    expect(pieces[0]).toEqual({ type: 'delta', id: 'l1', text: 'Which **** lamp would you like?' });
    await report(said('l1', 'assistant', 'Which darn lamp'));
    await report(said('l2', 'user', 'The green one.'));
    await until(async () => (await stored())?.length === 2);
    const mine = [
      ['ASSISTANT', 'Which **** lamp', callId],
      ['USER', 'The green one.', callId],
    ];
    expect(await stored()).toEqual(mine);

    // From the part that was copied last, also by another control plane.
    await report(said('l3', 'assistant', 'Green it is.'));
    await report({ type: 'call', call: record({ ended_at: at }) });
    await until(async () => (await stored())?.length === 3);
    expect((await stored())?.at(-1)).toEqual(['ASSISTANT', 'Green it is.', callId]);
    await until(
      async () => (await db.selectFrom('widget_calls').select('session_id').execute()).length === 0,
    );
    await stop();
    const session = await test.call('GET', `/v1/phone-sessions/${data.phone_session_id}`);
    expect(session.body.data?.phone_session).toMatchObject({ calls_made: 1, last_call_id: callId });
  });
});

it('a widget of an earlier version takes no calls', async () => {
  const widget = await makeWidget(test);
  const { db } = test.control.services.database;
  const id = widget.split('/').at(-1) ?? '';
  const { config } = await db
    .selectFrom('widgets')
    .select('config')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const { voice: _, ...former } = JSON.parse(config);
  await db
    .updateTable('widgets')
    .set({ config: JSON.stringify(former) as typeof config })
    .where('id', '=', id)
    .execute();
  expect((await test.call('GET', widget)).body.data?.widget).toMatchObject({ config: { voice: false } });
});
