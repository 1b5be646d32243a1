/** GET /v1/events: what a reader gets, and when. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SessionList } from '#shared/api/keys.ts';
import type { TranscriptFact } from '#shared/edge-protocol/transcript-facts.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { FollowedEvents } from '../../test/kit/control/events.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { keyOfRole, signIn } from '../../test/kit/control/sessions.ts';
import { EventReader } from '../../test/kit/control/widgets.ts';
import { onSqlite } from '../../test/kit/db/test-database.ts';
import { isLong } from '../../test/kit/is-long.ts';
import { eventually } from '../../test/kit/programs/eventually.ts';
import { type EventLimits, eventLimits } from './limits.ts';

let test: TestControl;
let edge: EdgeClient;
let seq = 1;
const open: FollowedEvents[] = [];

const start = (events: Partial<EventLimits> = {}) =>
  startControl({ EXPECT_EDGE: 'true' }, {}, {}, { limits: { events } });
const shared = emptiedForEach(start);
/** Of one test, which has other limits or ends it. */
let own: TestControl | null = null;
beforeEach(async () => {
  test = shared;
  edge = await connectEdge(test);
  seq = 1;
});
async function startOwn(events: Partial<EventLimits> = {}): Promise<void> {
  await edge.kill();
  own = await start(events);
  test = own;
  edge = await connectEdge(test);
}
afterEach(async () => {
  for (const one of open.splice(0)) one.leave();
  await edge.kill();
  await own?.close();
  own = null;
});

async function follow(more: Parameters<typeof FollowedEvents.open>[1] = {}): Promise<FollowedEvents> {
  const followed = await FollowedEvents.open(test, more);
  open.push(followed);
  return followed;
}

/** What the database has no part in, for thousands of statements: once, in `npm test`. */
const apart = it.runIf(onSqlite || isLong);

type Bodies = Parameters<typeof reportFrame>[1];
/** Reports, and waits until they are stored. */
async function report(...bodies: Bodies): Promise<void> {
  edge.send(reportFrame(seq, bodies));
  seq += bodies.length;
  while ((await edge.next('ack')).seq < seq - 1);
}

const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
const call = (last: number, changes = {}, orgId = test.orgId): Bodies[number] => ({
  type: 'call',
  call: callRecord(orgId, { id: id(last), ...changes }),
});
const running = { ended_at: null, termination: null, hangup_by: null, media: null, sip_code: null };
const ringing = (last: number, changes = {}) =>
  call(last, { ...running, answered_at: null, status: 'ringing', ...changes });
const answered = (last: number, changes = {}) =>
  call(last, { ...running, status: 'in-progress', ...changes });
const line = (last: number, text: string, fact: TranscriptFact | null = null): Bodies[number] => ({
  type: 'transcript',
  call_id: id(last),
  entries: [
    {
      id: `line-${text.slice(0, 20)}`,
      at: '2030-01-01T00:00:03.000Z',
      user: 'assistant',
      text,
      node_id: 'a',
      node_name: 'A',
      fact,
    },
  ],
});
const stored = () => test.control.services.database.db.selectFrom('events').selectAll().execute();
const metric = async (name: string) => {
  const { text } = await test.call('GET', '/metrics', { key: test.operatorKey });
  return text
    .split('\n')
    .find((one) => one.startsWith(name))
    ?.slice(name.length + 1);
};

describe('a stream of events', () => {
  it('has each stage of a call and each line, once and in order', async () => {
    const reader = await follow();
    expect(Object.fromEntries(reader.reader.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    await report(ringing(1));
    await report(answered(1));
    await report(line(1, 'Hello'));
    // Who hung up did not hear it to its end: the line is the same.
    await report(line(1, 'Hello', { kind: 'cut_off', said: 'Hello', heard: '' }));
    await report(answered(1, { codec: 'Opus' }), call(1));
    const events = await reader.take(6);
    expect(events.map(({ event }) => event)).toEqual([
      'call.begun',
      'call.ringing',
      'call.answered',
      'transcript.line',
      'call.updated',
      'call.ended',
    ]);
    expect(reader.received[0]).toMatchObject({
      event: 'open',
      id: expect.stringMatching(/^\d+-0$/),
      data: { resumed: false, window_seconds: 3600 },
    });
    expect(events.map(({ id: one }) => one?.split('-')[1])).toEqual(['1', '2', '3', '4', '5', '6']);
    const listed = (await test.call('GET', '/v1/sip/calls')).body.data?.calls?.[0];
    expect(events[5]?.data).toEqual({
      id: events[5]?.id,
      type: 'call.ended',
      at: expect.stringMatching(/Z$/),
      subject: { call_id: id(1), number: expect.stringMatching(/^\+/) },
      data: { call: listed },
    });
    expect(events[3]?.data).toMatchObject({
      subject: { call_id: id(1) },
      data: { line: { text: 'Hello', user: 'assistant', node_id: 'a' } },
    });
  });

  it('goes on after the last event that its reader has', async () => {
    const first = await follow();
    await report(ringing(1), answered(1), call(1));
    const events = await first.take(4);
    first.leave();
    await report(ringing(2));
    const after = events[1]?.id ?? '';
    const second = await follow({ after });
    expect(second.received[0]).toMatchObject({ event: 'open', data: { resumed: true } });
    const rest = await second.take(4);
    expect(rest.slice(0, 2)).toEqual(events.slice(2));
    expect(rest.map(({ event }) => event)).toEqual([
      'call.answered',
      'call.ended',
      'call.begun',
      'call.ringing',
    ]);
  });

  it('has nothing of another organization', async () => {
    const own = await follow();
    const foreign = await follow({ key: test.foreignKey });
    // The second claims a call that the first has.
    await report(call(1), call(1, {}, test.foreignOrgId), line(1, 'Secret'));
    await report(call(2, {}, test.foreignOrgId));
    await own.until('the line', () => own.types.includes('transcript.line') || null);
    const events = await foreign.take(3);
    const about = (one: FollowedEvents) => new Set(one.received.map(({ data }) => data.subject?.call_id));
    expect(events.map(({ event }) => event)).toEqual(['call.begun', 'call.answered', 'call.ended']);
    expect(about(foreign)).toEqual(new Set([undefined, id(2)]));
    expect(about(own)).toEqual(new Set([undefined, id(1)]));
    // Nor does its place in one organization say anything in another.
    const elsewhere = await follow({ key: test.foreignKey, after: own.received.at(-1)?.id ?? '' });
    await elsewhere.until('what is missed', () => elsewhere.types.includes('missed') || null);
    expect(about(elsewhere)).toEqual(new Set([undefined]));
  });

  it('has only the types and subjects that its reader wants', async () => {
    const number = '+14155550177';
    const readers = {
      types: await follow({ query: '?types=call.ended,transcript' }),
      call: await follow({ query: `?call_id=${id(2)}` }),
      number: await follow({ query: `?number=${encodeURIComponent(number)}&types=call.begun` }),
      trunk: await follow({ query: '?trunk_id=trunk-3' }),
      subject: await follow({ query: `?subject_id=${id(1)}&types=call.begun` }),
    };
    await report(call(1, { number }), call(2), line(2, 'Hi'), call(3, { trunk_id: 'trunk-3' }));
    const about = async (reader: FollowedEvents, count: number) =>
      (await reader.take(count)).map(({ data, event }) => `${event} ${data.subject?.call_id?.at(-1)}`);
    expect(await about(readers.types, 4)).toEqual([
      'call.ended 1',
      'call.ended 2',
      'call.ended 3',
      'transcript.line 2',
    ]);
    expect(await about(readers.call, 4)).toEqual([
      'call.begun 2',
      'call.answered 2',
      'call.ended 2',
      'transcript.line 2',
    ]);
    expect(await about(readers.number, 1)).toEqual(['call.begun 1']);
    expect(await about(readers.trunk, 3)).toEqual(['call.begun 3', 'call.answered 3', 'call.ended 3']);
    expect(await about(readers.subject, 1)).toEqual(['call.begun 1']);
    for (const query of ['?types=call.gone', '?number=12', '?types=']) {
      const { body, status } = await test.call('GET', `/v1/events${query}`);
      expect({ status, code: body.errors?.[0]?.error }).toEqual({
        status: 400,
        code: 'INVALID_PARAMETER',
      });
    }
  });

  it('moves the place of its reader on while none of its events come', async () => {
    const headers = { authorization: test.key };
    const reader = await EventReader.open(`${await test.url()}/v1/events?types=port`, headers);
    await reader.next();
    await report(call(1));
    const blocks: (string | null)[] = [];
    void reader.block().then((one) => blocks.push(one));
    const block = await eventually('a heartbeat', () => {
      test.clock.advance(1_000);
      return blocks[0];
    });
    expect(block).toMatch(/^id: \d+-3$/);
    reader.leave();
  });

  apart('stays open while others’ events come all the time, and none of its own', async () => {
    const reader = await follow({ query: `?call_id=${id(1_000)}&types=call.begun` });
    // Four times as long as a stream may be without being read.
    for (let step = 1; step <= 180; step++) {
      await report(call(step));
      test.clock.advance(1_000);
    }
    await report(call(1_000));
    expect((await reader.take(1))[0]?.event).toBe('call.begun');
  });
});

describe('the window of events', () => {
  it('has nothing of an organization that nobody follows, and ends an hour after its last reader', async () => {
    await report(call(1), line(1, 'Hello'));
    expect(await stored()).toEqual([]);
    const reader = await follow();
    await report(call(2));
    const last = (await reader.take(3)).at(-1)?.id ?? '';
    reader.leave();
    await reader.until('the reader to be gone', async () =>
      (await metric('trunkline_control_event_streams')) === '0' ? true : null,
    );
    await report(call(3));
    expect(await stored()).toHaveLength(2);
    test.clock.advance(2 * 60 * 60 * 1000);
    await reader.until('the window to end', async () => ((await stored()).length === 0 ? true : null));
    await reader.until('the window to go', async () =>
      (await metric('trunkline_control_event_windows')) === '0' ? true : null,
    );
    // Its heartbeats were missing all the time.
    await edge.kill();
    edge = await connectEdge(test);
    await report(call(4));
    expect(await stored()).toEqual([]);
    const late = await follow({ after: last });
    const [missed] = await late.take(1);
    expect(missed).toMatchObject({ event: 'missed', data: { after: last, message: expect.any(String) } });
    // From there it goes on.
    await report(call(5));
    expect((await late.take(2)).at(-1)).toMatchObject({
      event: 'call.begun',
      data: { subject: { call_id: id(5) } },
    });
  });

  it.each(['nonsense', '1-1', '9999999999999-5'])('says that %s is no event of it', async (after) => {
    const reader = await follow({ after });
    expect((await reader.take(1))[0]?.event).toBe('missed');
    expect(await metric('trunkline_control_event_streams_missed_total')).toBe('1');
  });

  it('keeps as many events as it may, and says what is missed', async () => {
    await startOwn({ mostEvents: 64 });
    const reader = await follow();
    for (let step = 1; step <= 60; step++) {
      await report(call(step));
      await reader.take(3 * step);
    }
    const all = await reader.take(180);
    const rows = await stored();
    const events = rows.reduce((sum, row) => sum + row.seq - row.first_seq + 1, 0);
    expect(events).toBeLessThanOrEqual(64 + 3);
    expect(events).toBeGreaterThanOrEqual(61);
    expect(new Set(all.map((one) => one.id)).size).toBe(180);
    const late = await follow({ after: all[9]?.id ?? '' });
    expect((await late.take(1))[0]).toMatchObject({ event: 'missed', id: all[179]?.id });
    const early = await follow({ after: all[150]?.id ?? '' });
    expect(await early.take(29)).toEqual(all.slice(151));
  });

  it('has an event without its data when that is too large', async () => {
    const reader = await follow({ query: '?types=transcript' });
    await report(call(1), line(1, 'x'.repeat(eventLimits.mostEventOctets)));
    expect((await reader.take(1))[0]?.data).toMatchObject({
      type: 'transcript.line',
      subject: { call_id: id(1) },
      data: null,
    });
  });
});

describe('an open stream', () => {
  it.each(['key', 'session'])('ends when the %s of its reader is revoked', async (kind) => {
    const key = await keyOfRole(test, 'read');
    const { cookie } = await signIn(test, key);
    const { id: own = '' } =
      (await test.call('GET', '/v1/sessions')).read(SessionList).data.sessions[0]?.key ?? {};
    const reader = await follow({ headers: kind === 'key' ? { authorization: key } : { cookie } });
    expect((await test.call('DELETE', `/v1/org/keys/${own}`)).status).toBe(200);
    await reader.until('the stream to end', () => {
      test.clock.advance(1_000);
      return reader.ended;
    });
    expect(reader.ended).toBe('in order');
    expect(await metric('trunkline_control_event_streams_ended_total{end="revoked"}')).toBe('1');
  });

  it('ends in order with a hint when to come back when control stops', async () => {
    await startOwn();
    const url = await test.url();
    const reader = await EventReader.open(`${url}/v1/events`, { authorization: test.key });
    await reader.next();
    const closed = test.control.close();
    const blocks: string[] = [];
    for (let block = await reader.block(); block !== null; block = await reader.block()) blocks.push(block);
    expect(blocks.at(-1)).toMatch(/^retry: \d{4}\n: the control plane is shutting down$/);
    await closed;
  });

  it('is one of a limited number for each key and each organization', async () => {
    await startOwn({ perKey: 2, perOrganization: 3 });
    const other = await keyOfRole(test, 'read');
    const refused = async (key: string) => {
      const { body, status } = await test.call('GET', '/v1/events', { key });
      return { status, scope: body.errors?.[0]?.details?.scope };
    };
    const first = await follow();
    await follow();
    expect(await refused(test.key)).toEqual({ status: 429, scope: 'key_event_streams' });
    await follow({ key: other });
    expect(await refused(other)).toEqual({ status: 429, scope: 'organization_event_streams' });
    await follow({ key: test.foreignKey });
    first.leave();
    await first.until('a place', async () =>
      (await metric('trunkline_control_event_streams')) === '3' ? true : null,
    );
    await follow({ key: other });
    expect(await metric('trunkline_control_event_streams_refused_total{scope="key_event_streams"}')).toBe(
      '1',
    );
  });

  apart('that nobody reads holds up nobody, and is closed', async () => {
    const { hostname, port } = new URL(await test.url());
    const socket = connect({ host: hostname, port: Number(port) });
    await once(socket, 'connect');
    socket.write(`GET /v1/events HTTP/1.1\r\nhost: test\r\nauthorization: ${test.key}\r\n\r\n`);
    // Its first octets have come, so it is open; nothing more is read of it.
    await once(socket, 'readable');
    socket.pause();
    const reader = await follow({ query: '?types=call.ended' });
    const text = 'x'.repeat(15_000);
    let calls = 0;
    // Until the buffers of its connection are full, which are of any size.
    await reader.until('the stalled stream to end', async () => {
      calls++;
      const lines = Array.from({ length: 20 }, (_, index) => line(calls, `${index} ${text}`));
      await report(call(calls), ...lines);
      test.clock.advance(5_000);
      return (await metric('trunkline_control_event_streams_ended_total{end="stalled"}')) === '1' || null;
    });
    const ended = await reader.take(calls);
    expect(ended.map(({ data }) => data.subject?.call_id)).toEqual(
      Array.from({ length: calls }, (_, index) => id(index + 1)),
    );
    expect(reader.ended).toBe(null);
    socket.destroy();
  });
});
