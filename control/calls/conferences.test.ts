import { afterEach, beforeEach, expect, it } from 'vitest';
import { ConferenceList } from '#shared/api/conferences.ts';
import { callRecord, connectEdge, type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';

const live = {
  ended_at: null,
  status: 'in-progress',
  termination: null,
  hangup_by: null,
  sip_code: null,
} as const;
const call = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const conference = (n: number) => `01234567-89ab-7def-8123-00000000000${n}`;

const test = emptiedForEach(startRoutes);
let edge: EdgeClient;
let seq = 0;
beforeEach(async () => {
  edge = await connectEdge(test);
  await edge.next('config');
  seq = 0;
});
afterEach(() => edge.kill());

const state = (n: number, second = 0, muted = false) => ({
  id: conference(n),
  name: `room-${n}`,
  opened_at: '2030-01-01T00:00:00.000Z',
  joined_at: `2030-01-01T00:00:0${second}.000Z`,
  moderator: n === 2,
  muted,
  speaking: n === 1,
});

async function report(n: number, changes: Parameters<typeof callRecord>[1]): Promise<void> {
  const record = callRecord(test.orgId, { ...live, id: call(n), ...changes });
  edge.send(reportFrame(++seq, [{ type: 'call', call: record }]));
  await edge.next('ack');
}

const list = async (query = '') =>
  (await test.call('GET', `/v1/conferences${query}`)).read(ConferenceList).data.conferences;

it('lists open conferences, newest first, with their parties in the order in which they came', async () => {
  await report(1, { conference: state(1, 5) });
  await report(2, { conference: state(1, 2, true), from: '+14155550124' });
  await report(3, { conference: state(2) });
  await report(4, {});
  const all = await list();
  expect(all.map(({ name, parties }) => [name, parties.map(({ call_id }) => call_id)])).toEqual([
    ['room-2', [call(3)]],
    ['room-1', [call(2), call(1)]],
  ]);
  expect(all[1]).toMatchObject({ conference_id: conference(1), opened_at: '2030-01-01T00:00:00.000Z' });
  expect(all[1]?.parties[0]).toEqual({
    call_id: call(2),
    direction: 'inbound',
    from: '+14155550124',
    to: '+14155550100',
    joined_at: '2030-01-01T00:00:02.000Z',
    moderator: false,
    muted: true,
    speaking: true,
  });
  expect((await list('?limit=1')).map(({ name }) => name)).toEqual(['room-2']);
  expect((await list(`?limit=1&before=${conference(2)}`)).map(({ name }) => name)).toEqual(['room-1']);
  expect(await test.call('GET', `/v1/conferences/${conference(1)}`)).toMatchObject({
    status: 200,
    body: { data: { conference: { name: 'room-1' } } },
  });
});

it('shows no call that has left or ended, and no conference that is over', async () => {
  await report(1, { conference: state(1) });
  await report(2, { conference: state(1) });
  await report(1, {});
  expect((await list()).map(({ parties }) => parties.map(({ call_id }) => call_id))).toEqual([[call(2)]]);
  await report(2, { ...callRecord(test.orgId), id: call(2), conference: state(1) });
  expect(await list()).toEqual([]);
  expect(await test.call('GET', `/v1/conferences/${conference(1)}`)).toMatchObject({
    status: 404,
    body: { errors: [{ code: 'CONFERENCE_NOT_FOUND' }] },
  });
});

it('sends an event for each thing that a party does, to the URL of its organization', async () => {
  const event = (id: string, what: 'joined' | 'speaking' | 'left') => ({
    conference: what === 'left' ? null : state(1),
    conference_event: {
      id,
      what,
      at: '2030-01-01T00:00:01.000Z',
      conference_id: conference(1),
      name: 'room-1',
    },
  });
  const { db } = test.control.services.database;
  const deliveries = () => db.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute();
  await report(1, event('a', 'joined'));
  expect(await deliveries()).toEqual([]);
  const url = 'https://hooks.example.com/';
  await db.updateTable('organizations').set({ event_webhook_url: url }).execute();
  await report(1, event('b', 'speaking'));
  await report(1, { conference: state(1) });
  await report(1, event('c', 'left'));
  const sent = await deliveries();
  expect(sent.map(({ id, type, subject_id }) => [id, type, subject_id])).toEqual([
    ['evt_b', 'conference.speaking', call(1)],
    ['evt_c', 'conference.left', call(1)],
  ]);
  expect(JSON.parse(sent[0]?.body ?? '')).toMatchObject({
    id: 'evt_b',
    type: 'conference.speaking',
    org_id: test.orgId,
    data: {
      conference_id: conference(1),
      name: 'room-1',
      call_id: call(1),
      direction: 'inbound',
      from: '+14155550123',
      to: '+14155550100',
      at: '2030-01-01T00:00:01.000Z',
    },
  });
});

it('says that a party has left whose call its edge has no longer', async () => {
  const { db } = test.control.services.database;
  await db.updateTable('organizations').set({ event_webhook_url: 'https://hooks.example.com/' }).execute();
  await report(1, { conference: state(1) });
  await report(2, { conference: state(1) });
  await report(3, {});
  edge.send(reportFrame(++seq, [{ type: 'running', call_ids: [call(2)], lost_reports: 0 }]));
  await edge.next('ack');
  const left = await db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('type', '=', 'conference.left')
    .execute();
  expect(left.map(({ subject_id, body }) => [subject_id, JSON.parse(body ?? '').data])).toEqual([
    [
      call(1),
      {
        conference_id: conference(1),
        name: 'room-1',
        call_id: call(1),
        direction: 'inbound',
        from: '+14155550123',
        to: '+14155550100',
        // Its edge was heard last before it was answered, by this test's times.
        at: '2030-01-01T00:00:02.000Z',
      },
    ],
  ]);
});

it.each([
  ['POST', '/mute', 'mute', 'Party muted'],
  ['POST', '/unmute', 'unmute', 'Party unmuted'],
  ['DELETE', '', 'remove', 'Party removed'],
] as const)(
  '%s …/parties/{call_id}%s is carried out by the edge of the call',
  async (method, path, action, message) => {
    await report(1, { conference: state(1) });
    const answer = test.call(method, `/v1/conferences/${conference(1)}/parties/${call(1)}${path}`);
    const { id, command } = await edge.next('command');
    expect(command).toEqual({ kind: 'call.conference', call_id: call(1), action });
    edge.send({ type: 'result', id, ok: true });
    expect(await answer).toMatchObject({ status: 200, body: { data: { message } } });
  },
);

it('does not change a party of another conference, or one that has left', async () => {
  await report(1, { conference: state(1) });
  await report(2, {});
  const refused = [
    [conference(2), call(1), 409, 'CALL_NOT_IN_CONFERENCE'],
    [conference(1), call(2), 409, 'CALL_NOT_IN_CONFERENCE'],
    [conference(1), call(3), 404, 'CALL_NOT_FOUND'],
  ] as const;
  for (const [one, party, status, code] of refused)
    expect(await test.call('POST', `/v1/conferences/${one}/parties/${party}/mute`)).toMatchObject({
      status,
      body: { errors: [{ code }] },
    });
});
