/** Supervisors of calls over HTTP, with an edge that the test plays. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SupervisorList, SupervisorMade, SupervisorOne } from '#shared/api/supervisors.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { readPhoneUsername } from '#shared/phone-session.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../test/kit/control/harness.ts';

const sip = { host: 'edge.example.com', port: 5061, wss_port: 5062 };
const live = {
  ended_at: null,
  status: 'in-progress',
  termination: null,
  hangup_by: null,
  sip_code: null,
} as const;
const call = '00000000-0000-4000-8000-000000000001';
const leg = '00000000-0000-4000-8000-000000000002';
const url = `/v1/calls/${call}/supervisors`;

let test: TestControl;
let edge: EdgeClient;
let seq = 0;

beforeAll(async () => {
  test = await startRoutes();
});
afterAll(() => test.close());
afterEach(() => edge.kill());
beforeEach(async () => {
  const { db } = test.control.services.database;
  for (const table of ['phone_sessions', 'calls', 'audit_entries'] as const)
    await db.deleteFrom(table).execute();
  await connect();
  await report({ ...live, id: call });
});

async function connect(revision: number = edgeProtocol.revision, hello: object = { sip }): Promise<void> {
  edge = await connectEdge(test, hello);
  edge.send({
    type: 'status',
    metrics: { trunkline_edge_engine_up: 1, trunkline_edge_protocol_revision: revision },
  });
  const { edges } = test.control.services;
  await expect.poll(() => edges.all[0]?.metrics.trunkline_edge_protocol_revision).toBe(revision);
}

async function report(changes: Parameters<typeof callRecord>[1]): Promise<void> {
  edge.send(reportFrame(++seq, [{ type: 'call', call: callRecord(test.orgId, changes) }]));
  await edge.next('ack');
}

const make = async (body: object = {}) => (await test.call('POST', url, { body })).read(SupervisorMade).data;
const list = async () => (await test.call('GET', url)).read(SupervisorList).data.supervisors;
const legRecord = (id: string) => ({
  id: leg,
  parent_id: call,
  number: 'supervise',
  variables: { phone_session_id: id },
});

/** A supervisor whose browser has called. */
async function joined() {
  const { supervisor } = await make();
  await report({ ...live, ...legRecord(supervisor.id) });
  return supervisor;
}

/** Asks, and lets the edge answer its command. */
async function ask(
  method: 'PATCH' | 'DELETE' | 'POST',
  path: string,
  body?: object,
  result: object = { ok: true },
) {
  const answer = test.call(method, path, body && { body });
  const { id, command } = await edge.next('command');
  edge.send({ type: 'result', id, ...result });
  return { answer: await answer, command };
}

async function audit(): Promise<string[]> {
  const { db } = test.control.services.database;
  const rows = await db.selectFrom('audit_entries').selectAll().execute();
  return rows
    .filter(
      ({ area, subject_id, actor_kind }) =>
        area === 'supervision' && subject_id === call && actor_kind === 'api_key',
    )
    .map(({ action }) => action)
    .sort();
}

describe('a supervisor', () => {
  it('gets credentials for this call alone, at its edge', async () => {
    const { supervisor, credentials } = await make({ caller: 'Ada' });
    expect(supervisor).toMatchObject({
      call_id: call,
      caller: 'Ada',
      mode: 'listen',
      state: 'waiting',
      leg_call_id: null,
      joined_at: null,
    });
    expect(readPhoneUsername(credentials.username)).toMatchObject({
      id: supervisor.id,
      edge_id: 'edge-1',
      number: 'supervise',
      supervise: call,
      tone: true,
      calls: 1,
    });
    expect(credentials.uri).toBe('sip:supervise@edge.example.com');
    expect(await list()).toEqual([supervisor]);
    const phones = await test.call('GET', '/v1/phone-sessions');
    expect(phones.body).toMatchObject({ data: { phone_sessions: [], total_count: 0 } });
    expect((await test.call('DELETE', `/v1/phone-sessions/${supervisor.id}`)).codes).toEqual([
      'PHONE_SESSION_NOT_FOUND',
    ]);
  });

  it('comes without a tone when the organization says so', async () => {
    await test.call('PATCH', '/v1/org/settings', { body: { supervision_tone: false } });
    const { credentials } = await make();
    expect(readPhoneUsername(credentials.username)).not.toHaveProperty('tone');
    await test.call('PATCH', '/v1/org/settings', { body: { supervision_tone: true } });
  });

  it('joins, whispers, takes over, gives back and leaves: each is in the log of changes', async () => {
    const { id } = await joined();
    expect(await list()).toMatchObject([{ id, state: 'joined', leg_call_id: leg }]);
    const one = `${url}/${id}`;
    const whisper = await ask('PATCH', one, { mode: 'whisper' });
    expect(whisper.command).toEqual({
      kind: 'supervise.mode',
      call_id: call,
      session_id: id,
      mode: 'whisper',
      note: null,
    });
    expect(whisper.answer.read(SupervisorOne).data.supervisor.mode).toBe('whisper');
    await ask('PATCH', one, { mode: 'take_over' });
    const back = await ask('PATCH', one, { mode: 'listen', note: 'They get a refund.' });
    expect(back.command).toMatchObject({ mode: 'listen', note: 'They get a refund.' });
    const told = await ask('POST', `/v1/calls/${call}/whisper`, { text: 'Be brief.' });
    expect(told.command).toEqual({ kind: 'supervise.whisper', call_id: call, text: 'Be brief.' });
    expect(told.answer.body).toEqual({ status: 'success', message: 'The agent was told' });
    const left = await ask('DELETE', one);
    expect(left.command).toMatchObject({ kind: 'call.stop', call_id: leg });
    await report(legRecord(id));
    // The same again tells nothing new.
    await report(legRecord(id));
    expect(await list()).toMatchObject([{ id, state: 'left' }]);
    expect(await audit()).toEqual([
      'change_mode',
      'give_back',
      'join',
      'leave',
      'remove',
      'take_over',
      'whisper',
    ]);
    expect((await test.call('DELETE', one)).codes).toEqual(['SUPERVISOR_NOT_THERE']);
  });

  it('passes on what its edge refuses', async () => {
    const { id } = await joined();
    const error = { code: 'CALL_TAKEN_OVER', error: 'Bob has taken the call over.' };
    const { answer } = await ask('PATCH', `${url}/${id}`, { mode: 'take_over' }, { ok: false, ...error });
    expect([answer.codes, await audit()]).toEqual([['CALL_TAKEN_OVER'], ['join']]);
  });

  it.each<[string, object, string]>([
    ['another mode', { mode: 'shout' }, 'INVALID_PARAMETER'],
    ['a note without anything to give back', { mode: 'whisper', note: 'x' }, 'INVALID_PARAMETER'],
  ])('is refused %s', async (_, body, code) => {
    const { id } = await joined();
    expect((await test.call('PATCH', `${url}/${id}`, { body })).codes).toEqual([code]);
  });

  it('is one of three at most', async () => {
    await joined();
    await make();
    await make();
    expect((await test.call('POST', url, { body: {} })).codes).toEqual(['QUOTA_EXCEEDED']);
  });

  it('cannot supervise a supervisor, a call that is over, or one of another organization', async () => {
    await joined();
    const of = (id: string) => `/v1/calls/${id}/supervisors`;
    expect((await test.call('POST', of(leg), { body: {} })).codes).toEqual(['CALL_NOT_ACTIVE']);
    const others = { body: {}, key: test.foreignKey };
    expect((await test.call('POST', url, others)).codes).toEqual(['CALL_NOT_FOUND']);
    expect((await test.call('GET', url, { key: test.foreignKey })).codes).toEqual(['CALL_NOT_FOUND']);
    const whisper = { body: { text: 'x' }, key: test.foreignKey };
    expect((await test.call('POST', `/v1/calls/${call}/whisper`, whisper)).codes).toEqual(['CALL_NOT_FOUND']);
    await report({ id: call });
    expect((await test.call('POST', url, { body: {} })).codes).toEqual(['CALL_NOT_ACTIVE']);
  });

  it.each<[string, number, object, string]>([
    [
      'is of an earlier version',
      edgeProtocol.supervises - 1,
      { sip },
      'The edge that carries the call is of an earlier version, which knows no supervisors: upgrade it.',
    ],
    [
      'takes no browsers',
      edgeProtocol.revision,
      {},
      'The edge that carries the call takes no browsers: set SIP_WSS_PORT on it.',
    ],
  ])('is refused while the edge %s', async (_, revision, hello, why) => {
    await edge.kill();
    await connect(revision, hello);
    const answer = await test.call('POST', url, { body: {} });
    expect([answer.codes, answer.errors[0]?.message]).toEqual([['SERVICE_UNAVAILABLE'], why]);
  });
});
