import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ForeignAgentAnswer, type ForeignAgentWrite } from '#shared/api/agent-testing/foreign-agents.ts';
import { LoadAnswer, LoadStarted } from '#shared/api/agent-testing/loads.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { callRecord, connectEdge, type EdgeClient } from '../../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { EdgeEnd } from '../../../test/kit/control/over-call.ts';
import { TestingClient } from '../../../test/kit/control/test-runs.ts';
import { onSqlite } from '../../../test/kit/db/test-database.ts';
import { ownershipLimits } from './ownership.ts';
import { settingsOf, storedSettings } from './rules.ts';
import { findForeignAgent } from './store.ts';

/** What was heard of an agent that says nothing. */
const silent = {
  response_latency_ms: null,
  speech_ms: 0,
  silence_ms: 0,
  barge_in: false,
  silent_after_ms: null,
  overlap_ms: 0,
  words: null,
};
const number = '+14155550120';
const called: ForeignAgentWrite = { name: 'Desk', format: 'call', from: number, to: '+14155550121' };

let test: TestControl;
let client: TestingClient;

beforeAll(async () => {
  test = await startControl();
  client = new TestingClient(test);
});
afterAll(() => test.close());

const create = async (body: object) => (await client.call('POST', '/agents', body)).read(ForeignAgentAnswer);

describe('an agent of others with a telephone', () => {
  let edge: EdgeClient;

  beforeAll(async () => {
    const directions = [{ type: 'outbound', sip_endpoint: 'trunk.example.com' }];
    await test.call('POST', '/v1/sip/attach', { body: { phone_number: number, directions } });
  });
  async function edgeConnects(): Promise<void> {
    edge = await connectEdge(test);
    const metrics = { trunkline_edge_protocol_revision: edgeProtocol.testsOthers };
    edge.send({ type: 'status', metrics });
    const { edges } = test.control.services;
    await expect
      .poll(() => edges.all[0]?.metrics.trunkline_edge_protocol_revision)
      .toBe(edgeProtocol.testsOthers);
  }
  beforeEach(edgeConnects);
  afterEach(() => edge.close());

  const ownership = (id: string, path = '', body: object = {}, at = client) =>
    at.call('POST', `/agents/${id}/ownership${path}`, body);
  const confirm = (id: string, code: string) => ownership(id, '/confirm', { code });

  /** Has it called, and plays the edge until the code is keyed. @returns the code */
  async function codeSaid(id: string): Promise<string> {
    expect((await ownership(id)).status).toBe(200);
    const { id: order_id, command } = await edge.next('command');
    if (command.kind !== 'agent_test.call') throw new Error(`not a call: ${command.kind}`);
    expect(command).toMatchObject({ number, to: called.to, org_id: test.orgId });
    const socket = await EdgeEnd.open((await test.url()).replace('http', 'ws'), command.key, command.run_id);
    edge.send({ type: 'result', id: order_id, ok: true });
    socket.send(
      { type: 'answered', call_id: null, hears: true },
      { type: 'turn', last: false, heard: silent },
    );
    const order = await socket.order();
    socket.lose();
    if (order.type !== 'keys') throw new Error(`no keys: ${order.type}`);
    return order.keys;
  }

  /** Plays the edge, and an agent that hangs up. */
  async function answerCall(to: string): Promise<void> {
    const { id, command } = await edge.next('command');
    if (command.kind !== 'agent_test.call') throw new Error(`not a call: ${command.kind}`);
    expect(command).toMatchObject({ number, to, needs_words: true });
    const socket = await EdgeEnd.open((await test.url()).replace('http', 'ws'), command.key, command.run_id);
    edge.send({ type: 'result', id, ok: true });
    const caller = callRecord(test.orgId, { direction: 'outbound', termination: 'callee_hangup' });
    socket.send(
      { type: 'answered', call_id: null, hears: true },
      {
        type: 'turn',
        last: true,
        heard: { ...silent, response_latency_ms: 300, speech_ms: 900, words: 'Goodbye.' },
      },
      {
        type: 'ended',
        caller,
        agent: null,
        transferred_to: null,
        visits: null,
        variables: {},
        log: [],
        keys_sent: [],
      },
    );
    await socket.closed;
  }

  it('may be called once its code was sent back, until it has another telephone', async () => {
    const { id, proven_at } = await create(called);
    expect(proven_at).toBeNull();
    const scenarioId = await client.scenario({ agent_id: id });
    const start = await client.call('POST', `/scenarios/${scenarioId}/run`, {});
    expect([start.status, start.codes]).toEqual([409, ['TEST_AGENT_NOT_PROVEN']]);
    expect((await confirm(id, '000000')).codes).toEqual(['INVALID_PARAMETER']);
    const code = await codeSaid(id);
    const proven = (await confirm(id, code)).read(ForeignAgentAnswer);
    expect(proven.proven_at).not.toBeNull();
    const renamed = await client.call('PUT', `/agents/${id}`, { ...called, name: 'Renamed' });
    expect(renamed.read(ForeignAgentAnswer).proven_at).toBe(proven.proven_at);
    const moved = await client.call('PUT', `/agents/${id}`, { ...called, to: '+14155550122' });
    expect(moved.read(ForeignAgentAnswer).proven_at).toBeNull();
    expect((await confirm(id, code)).codes).toEqual(['INVALID_PARAMETER']);
  });

  it('is called by a load once proven, and no faster than it may be', async () => {
    const to = '+14155550123';
    const { id } = await create({ ...called, to, calls_per_minute: 1 });
    const load = async (body: object) =>
      client.call('POST', '/loads', { scenario_ids: [scenarioId], ...body });
    const scenarioId = await client.scenario({ agent_id: id });
    const two = { concurrency: 2, runs_per_level: 2 };
    expect((await load(two)).codes).toEqual(['TEST_AGENT_NOT_PROVEN']);
    await test.call('POST', `/v1/admin/test-agents/${id}/allow`, { key: test.operatorKey, body: {} });
    const [six] = (await load({ concurrency: 6 })).errors;
    expect(six).toMatchObject({
      details: { path: '/concurrency' },
      message: expect.stringContaining('must be at most 5: with 1 calls_per_minute'),
    });
    const text = await load({ ...two, transport: 'text' });
    expect(text.errors[0]?.details?.path).toBe('/transport');
    const { load_id } = (await load(two)).read(LoadStarted);
    await answerCall(to);
    // The other one waits for its turn.
    const read = async () => (await client.call('GET', `/loads/${load_id}`)).read(LoadAnswer);
    await expect.poll(async () => (await read()).levels[0]?.figures?.calls).toBe(1);
    expect(edge.untaken.filter(({ type }) => type === 'command')).toEqual([]);
    test.clock.advance(60_000);
    // The link answered no ping of that minute.
    await edge.closed;
    await edgeConnects();
    await expect
      .poll(() => {
        test.clock.advance(250);
        return edge.untaken.some(({ type }) => type === 'command');
      })
      .toBe(true);
    await answerCall(to);
    await expect.poll(async () => (await read()).status).toBe('COMPLETED');
    expect((await read()).levels[0]?.figures).toMatchObject({
      calls: 2,
      answered: 2,
      errored: 0,
      mos: { min: 4.3 },
    });
  });

  it('takes a code no more after five wrong ones, and not after a quarter of an hour', async () => {
    const { id } = await create(called);
    const code = await codeSaid(id);
    const wrong = code === '111111' ? '222222' : '111111';
    for (let tries = 0; tries < ownershipLimits.tries; tries++) await confirm(id, wrong);
    expect((await confirm(id, code)).codes).toEqual(['INVALID_PARAMETER']);
    const { db } = test.control.services.database;
    const late = await codeSaid(id);
    const proof_until = new Date(test.clock.now()).toISOString();
    await db.updateTable('test_agents').set({ proof_until }).where('id', '=', id).execute();
    expect((await confirm(id, late)).codes).toEqual(['INVALID_PARAMETER']);
    // Rung three times within the hour, by this organization or another.
    const again = await ownership(id);
    expect([again.status, again.codes]).toEqual([429, ['RATE_LIMITED']]);
  });

  // The database there has no order of a write and a transaction that begin together.
  it.runIf(onSqlite)('that gets another telephone while its code is made has none for that', async () => {
    const { database, edges } = test.control.services;
    const { db } = database;
    const made = await create({ ...called, to: '+14155550125' });
    const row = await findForeignAgent(db, test.orgId, made.id);
    if (!row) throw new Error('no row');
    const settings = storedSettings({ ...settingsOf(row), to: '+14155550126' });
    const chosen = vi.spyOn(edges, 'leastLoaded').mockImplementationOnce(() => {
      void db.updateTable('test_agents').set({ settings }).where('id', '=', made.id).execute();
      return edges.leastLoaded();
    });
    try {
      expect((await ownership(made.id)).codes).toEqual(['INVALID_PARAMETER']);
    } finally {
      chosen.mockRestore();
    }
    expect(await findForeignAgent(db, test.orgId, made.id)).toMatchObject({ settings, proof_hash: null });
  });

  it('may be called when the operator allows it, and is nobody else’s to prove', async () => {
    const { id } = await create(called);
    const foreign = new TestingClient(test, test.foreignKey);
    expect((await ownership(id, '', {}, foreign)).codes).toEqual(['TEST_AGENT_NOT_FOUND']);
    const path = `/v1/admin/test-agents/${id}/allow`;
    expect((await test.call('POST', path, { body: {} })).status).toBe(403);
    const allowed = await test.call('POST', path, { key: test.operatorKey, body: {} });
    expect(allowed.read(ForeignAgentAnswer).proven_at).not.toBeNull();
    const chat = await create({
      name: 'Chat',
      format: 'openai',
      url: 'https://chat.example.com/v1/chat/completions',
      model: 'm',
    });
    expect((await ownership(chat.id)).codes).toEqual(['INVALID_PARAMETER']);
  });
});
