import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  anotherEdge,
  callRecord,
  connectEdge,
  type EdgeClient,
  reportFrame,
} from '../../test/kit/control/edge-client.ts';
import type { CallOptions } from '../../test/kit/control/harness.ts';
import { numbersOfEachTest, routesOfFile } from '../../test/kit/control/routes-of-file.ts';

const test = routesOfFile();
numbersOfEachTest(test);
let edge: EdgeClient;
beforeEach(async () => {
  await attach(number);
  edge = await connectEdge(test, anotherEdge());
  await edge.next('config');
});
afterEach(async () => {
  await edge.kill();
  await expect.poll(() => test.control.services.edges.count).toBe(0);
});

const number = '+14155550100';
const to = '+14155550123';
const task = 'Confirm the appointment.';
const attach = (phone_number: string, key = test.key) =>
  test.call('POST', '/v1/sip/attach', {
    body: { phone_number, directions: [{ type: 'outbound', sip_endpoint: 'trunk.example.com' }] },
    key,
  });
const place = (body: object, options: CallOptions = {}) =>
  test.call('POST', '/v1/calls', { body: { phone_number: to, ...body }, ...options });
const read = async (callId: unknown) => (await test.call('GET', `/v1/calls/${String(callId)}`)).body;

/** Places a call that the edge accepts. */
async function taken(body: object, options: CallOptions = {}) {
  const answer = place(body, options);
  const { id, command } = await edge.next('command');
  if (command.kind !== 'call.place') throw new Error(`unexpected ${command.kind}`);
  edge.send({ type: 'result', id, ok: true });
  return { command, answer: await answer };
}

async function versionOf(pathwayId: unknown): Promise<number> {
  const { body } = await test.call('POST', `/v1/pathway/${String(pathwayId)}/version`, {
    body: {
      name: 'One',
      nodes: [{ id: 'a', type: 'Default', data: { isStart: true, text: 'Hi' } }],
      edges: [],
    },
  });
  return Number(
    body.version_number ?? (body.data as { version_number?: number } | undefined)?.version_number,
  );
}

describe('a call with a persona', () => {
  const call_config = { voice: 'kal', language: 'de-DE', max_duration: 5, wait_for_greeting: true };

  it("uses its production version, overridden by the order's own settings", async () => {
    const persona = await test.call('POST', '/v1/personas', {
      body: { name: 'Ann', personality_prompt: 'Calm.', call_config },
    });
    const persona_id = String(persona.body.data?.id);
    const { command, answer } = await taken({ persona_id, language: 'fr-FR' });
    expect(command.agent).toMatchObject({
      kind: 'persona',
      persona_id,
      persona_version: 1,
      personality_prompt: 'Calm.',
      voice: 'kal',
      language: 'fr-FR',
      max_duration: 5,
      wait_for_greeting: true,
      block_interruptions: false,
    });
    expect(await read(answer.body.call_id)).toMatchObject({ persona_id, pathway_id: null });
    edge.send(
      reportFrame(1, [
        {
          type: 'call',
          call: callRecord(test.orgId, { id: command.call_id, persona_id, direction: 'outbound' }),
        },
      ]),
    );
    await edge.next('ack');
    expect(await read(answer.body.call_id)).toMatchObject({ persona_id, status: 'completed' });
  });

  it('uses its tools, as does a task', async () => {
    const made = await test.call('POST', '/v2/tools', {
      body: {
        name: 'clock',
        description: 'Says the time',
        integration: 'rest_api',
        action: 'request',
        body: { url: 'https://a.example.com/', method: 'GET' },
      },
    });
    const tools = [String(made.body.data?.id)];
    const told = [{ tool_id: tools[0], name: 'clock', description: 'Says the time' }];
    expect((await taken({ task, tools })).command.agent).toMatchObject({ kind: 'task', tools: told });
    const persona = await test.call('POST', '/v1/personas', { body: { name: 'Ann', default_tools: tools } });
    test.clock.advance(10_000);
    const { command } = await taken({ persona_id: persona.body.data?.id });
    expect(command.agent).toMatchObject({ kind: 'persona', tools: told });
  });

  it('is rejected for a persona that the organization does not have', async () => {
    const foreign = await test.call('POST', '/v1/personas', { body: { name: 'x' }, key: test.foreignKey });
    for (const persona_id of [foreign.body.data?.id, '00000000-0000-4000-8000-000000000000']) {
      const answer = await place({ persona_id });
      expect([answer.status, answer.codes]).toEqual([404, ['PERSONA_NOT_FOUND']]);
    }
  });
});

describe('POST /v1/calls', () => {
  it('has the edge place the call, and shows it as queued at once', async () => {
    const { command, answer } = await taken({
      task,
      first_sentence: 'Hello',
      wait_for_greeting: 'true',
      max_duration: 5,
      request_data: { name: 'Ann' },
      metadata: { external_id: 'x1' },
      precall_dtmf_sequence: '1w2',
      voicemail: { action: 'leave_message', message: 'Call us back.' },
      model: 'turbo',
      temperature: 0.2,
      transfer_phone_number: '1 415 555 0111',
      transfer_list: { desk: '1001' },
    });
    expect(answer.body).toEqual({
      status: 'success',
      message: 'Call queued',
      call_id: command.call_id,
      batch_id: null,
    });
    expect(command).toMatchObject({
      org_id: test.orgId,
      number,
      to,
      agent: {
        kind: 'task',
        task,
        first_sentence: 'Hello',
        wait_for_greeting: true,
        block_interruptions: false,
        language: 'en-US',
        max_duration: 5,
        request_data: { name: 'Ann' },
        model: 'turbo',
        temperature: 0.2,
        transfer_list: { default: '+14155550111', desk: '1001' },
      },
      variables: {},
      precall_dtmf: '1w2',
      voicemail: { action: 'leave_message', message: 'Call us back.' },
    });
    expect(await read(command.call_id)).toMatchObject({
      status: 'queued',
      direction: 'outbound',
      inbound: false,
      completed: false,
      from: number,
      to,
      sip_call_id: null,
      max_duration: 5,
      request_data: { name: 'Ann' },
      metadata: { external_id: 'x1' },
    });
  });

  it('shows what the edge reports, with failed attempts', async () => {
    const { command } = await taken({ task, metadata: { a: 1 } });
    const attempt = {
      host: 'trunk.example.com',
      port: 5061,
      priority: 0,
      started_at: '2030-01-01T00:00:00.000Z',
      sip_code: null,
      error: 'timeout',
      duration_ms: 6000,
    };
    const call = callRecord(test.orgId, {
      id: command.call_id,
      direction: 'outbound',
      from: number,
      to,
      failover_attempts: [attempt],
      termination: 'callee_hangup',
    });
    edge.send(reportFrame(1, [{ type: 'call', call }]));
    await edge.next('ack');
    expect(await read(command.call_id)).toMatchObject({ status: 'completed', metadata: { a: 1 } });
    const { body } = await test.call('GET', `/v1/sip/calls/${command.call_id}`);
    expect(body.data?.call).toMatchObject({ outcome: 'completed', failover_attempts: [attempt] });
  });

  it('calls extensions and SIP URIs, with a given caller number', async () => {
    await attach('+14155550101');
    const extension = await taken({ task, phone_number: '1001', from: '1 415 555 0101' });
    expect(extension.command).toMatchObject({ to: '1001', number: '+14155550101' });
    const uri = await taken({ task, phone_number: 'sip:bob@pbx.example.com' });
    expect(uri.command).toMatchObject({ to: 'sip:bob@pbx.example.com', number });
  });

  it('sends the edge a pathway version that no number uses before the call', async () => {
    const { body } = await test.call('POST', '/v1/pathway/create', { body: { name: 'Menu' } });
    const version = await versionOf(body.pathway_id);
    expect(version).toBe(1);
    const { command } = await taken({ pathway_id: body.pathway_id, pathway_version: version });
    expect(command.agent).toMatchObject({ kind: 'pathway', pathway_id: body.pathway_id, pathway_version: 1 });
    const sent: number[] = [];
    for (const frame of edge.untaken)
      if (frame.type === 'change') sent.push(...frame.change.pathways.map((pathway) => pathway.version));
    expect(sent).toContain(1);
  });

  it('builds the graphs of a pathway for the edges only when they lack the version', async () => {
    const { body } = await test.call('POST', '/v1/pathway/create', { body: { name: 'Menu' } });
    const { pathway_id } = body;
    const pathway_version = await versionOf(pathway_id);
    const built: string[][] = [];
    test.control.services.catalogue.follow(async (_db, altered) => {
      built.push([...altered.pathways]);
    });
    await taken({ pathway_id, pathway_version });
    await taken({ pathway_id, pathway_version, phone_number: '+14155550124' });
    expect(built).toEqual([[pathway_id], []]);
  });

  const missing = '00000000-0000-4000-8000-000000000001';
  const rejected: readonly (readonly [object, string])[] = [
    [{}, 'AGENT_SOURCE_CONFLICT'],
    [{ task, stream_url: 'wss://stream.example.com' }, 'AGENT_SOURCE_CONFLICT'],
    [{ task, realtime: { connection: 'main', instructions: 'x' } }, 'AGENT_SOURCE_CONFLICT'],
    [{ realtime: { connection: 'main', instructions: 'x' } }, 'INVALID_PARAMETER'],
    [{ task, phone_number: 'no number!' }, 'INVALID_PARAMETER'],
    [{ task, phone_number: 'sip:bob@pbx.example.com;transport=udp' }, 'INVALID_PARAMETER'],
    [{ task, phone_number: 'sip:bob@10.0.0.1' }, 'TARGET_NOT_ALLOWED'],
    [{ task, from: 'abc' }, 'INVALID_PARAMETER'],
    [{ task, from: '+14155550199' }, 'NUMBER_NOT_FOUND'],
    [{ task, from: '+14155550102' }, 'NO_OUTBOUND_ROUTE'],
    [{ task, start_node_id: 'a' }, 'INVALID_PARAMETER'],
    [{ task, voicemail: { action: 'leave_message' } }, 'INVALID_PARAMETER'],
    [{ task, timezone: 'Mars/Base' }, 'INVALID_PARAMETER'],
    [{ task, precall_dtmf_sequence: 'A' }, 'INVALID_PARAMETER'],
    [{ task, webhook: 'http://hooks.example.com' }, 'INVALID_PARAMETER'],
    [{ task, webhook: 'https://192.168.0.1/' }, 'TARGET_NOT_ALLOWED'],
    [{ task, transfer_list: { default: 'sip:a@127.0.0.1' } }, 'TARGET_NOT_ALLOWED'],
    [{ task, tools: [missing] }, 'TOOL_NOT_FOUND'],
    [{ task, surprise: 1 }, 'UNKNOWN_PROPERTY'],
    [{ stream_url: 'ws://stream.example.com' }, 'INVALID_PARAMETER'],
    [{ stream_url: 'wss://localhost/' }, 'TARGET_NOT_ALLOWED'],
    [{ pathway_id: missing }, 'PATHWAY_NOT_FOUND'],
    [{ persona_id: missing }, 'PERSONA_NOT_FOUND'],
  ];
  it('rejects what it cannot place, and says why', async () => {
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_number: '+14155550102', directions: ['inbound'] },
    });
    const answers: (readonly [object, string])[] = [];
    for (const [body] of rejected) answers.push([body, (await place(body)).codes.join()]);
    expect(answers).toEqual(rejected);
    const message = '+14155550102 has no outbound configuration: attach one, or name another number in from.';
    const { body } = await place({ task, from: '+14155550102' });
    expect(body.errors).toMatchObject([{ message, details: { path: '/from' } }]);
  });

  it('rejects versions and start nodes that a pathway does not have', async () => {
    const { body } = await test.call('POST', '/v1/pathway/create', { body: { name: 'Menu' } });
    const { pathway_id } = body;
    expect((await place({ pathway_id, pathway_version: 9 })).codes).toEqual(['VERSION_NOT_FOUND']);
    expect((await place({ pathway_id, start_node_id: 'none' })).body.errors).toMatchObject([
      { code: 'INVALID_PARAMETER', details: { path: '/start_node_id' } },
    ]);
  });

  it('limits calls to one per destination in 10 seconds', async () => {
    await taken({ task });
    const refused = await place({ task });
    expect(refused).toMatchObject({ status: 429, codes: ['RATE_LIMITED'] });
    expect(refused.headers).toMatchObject({
      'retry-after': '10',
      'ratelimit-limit': '1',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '10',
    });
    expect(refused.body.errors).toMatchObject([
      { details: { limit: 1, window_seconds: 10, scope: 'destination' } },
    ]);
    test.clock.advance(10_000);
    expect((await taken({ task })).answer.status).toBe(200);
  });

  it("limits calls to 60 per organization in a minute; one refused by a limit does not count toward the others, including the key's", async () => {
    const left = async () => Number((await test.call('GET', '/v1/pathway')).headers['ratelimit-remaining']);
    const refuse = async (body: object, scope: string) => {
      const before = await left();
      for (let sent = 0; sent < 3; sent++) {
        expect((await place(body)).body.errors).toMatchObject([{ details: { scope } }]);
      }
      // Only the request for the count itself counts.
      expect(await left()).toBe(before - 1);
    };
    await taken({ task });
    await refuse({ task }, 'destination');
    // Rejected requests do not count.
    expect((await place({})).codes).toEqual(['AGENT_SOURCE_CONFLICT']);
    const other = (index: number) => ({ task, phone_number: `+1415555${2000 + index}` });
    for (let made = 1; made < 60; made++) expect((await taken(other(made))).answer.status).toBe(200);
    await refuse(other(60), 'organization_calls');
    const before = await left();
    expect((await place({ task, surprise: 1 })).status).toBe(429);
    expect((await test.call('GET', '/v1/pathway/none')).status).toBe(404);
    expect(await left()).toBe(before - 2);
  });

  it('places one call for repeated requests with one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'k1' };
    const { answer } = await taken({ task }, { headers });
    const again = await place({ task }, { headers });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toEqual(answer.body);
  });

  it('is 503 without an edge, and stores no call', async () => {
    await edge.kill();
    await expect.poll(() => test.control.services.edges.count).toBe(0);
    expect(await place({ task })).toMatchObject({ status: 503, codes: ['SERVICE_UNAVAILABLE'] });
    expect((await test.call('GET', '/v1/sip/calls')).body.data?.calls).toEqual([]);
  });

  it('is 503 when the edge refuses, and the call is failed', async () => {
    const answer = place({ task });
    const { id } = await edge.next('command');
    edge.send({ type: 'result', id, ok: false, error: 'no trunk' });
    expect((await answer).status).toBe(503);
    const { body } = await test.call('GET', '/v1/sip/calls');
    expect(body.data?.calls).toMatchObject([{ call_id: null, outcome: 'failed', direction: 'outbound' }]);
  });

  it('does not count toward the destination limit when the edge refuses it', async () => {
    const refused = place({ task });
    const { id } = await edge.next('command');
    edge.send({ type: 'result', id, ok: false, error: 'draining' });
    expect((await refused).status).toBe(503);
    expect((await taken({ task })).answer.status).toBe(200);
    expect((await place({ task })).body.errors).toMatchObject([{ details: { scope: 'destination' } }]);
  });

  it('does not count toward the destination limit when it could not be stored', async () => {
    const { catalogue } = test.control.services;
    const fails = vi.spyOn(catalogue, 'change').mockRejectedValueOnce(new Error('the database is closed'));
    expect((await place({ task })).status).toBe(500);
    fails.mockRestore();
    expect((await taken({ task })).answer.status).toBe(200);
  });

  it('counts toward the destination limit when the edge did not answer: the phone may have rung', async () => {
    const silent = place({ task });
    await edge.next('command');
    test.clock.advance(5_000);
    expect((await silent).status).toBe(503);
    expect((await edge.next('command')).command.kind).toBe('call.stop');
    expect((await place({ task })).body.errors).toMatchObject([{ details: { scope: 'destination' } }]);
    test.clock.advance(5_000);
    expect((await taken({ task })).answer.status).toBe(200);
  });

  it('requires a key, and uses no number of another organization', async () => {
    expect((await place({ task }, { key: null })).status).toBe(401);
    expect((await place({ task }, { key: test.foreignKey })).codes).toEqual(['NO_OUTBOUND_ROUTE']);
    expect((await place({ pathway_id: missing }, { key: test.foreignKey })).codes).toEqual([
      'PATHWAY_NOT_FOUND',
    ]);
    expect((await place({ task, from: number }, { key: test.foreignKey })).codes).toEqual([
      'NUMBER_NOT_FOUND',
    ]);
  });

  it('can be stopped before the edge has reported it, only by its own organization', async () => {
    const { command } = await taken({ task });
    const url = `/v1/calls/${command.call_id}/stop`;
    expect((await test.call('POST', url, { key: test.foreignKey })).codes).toEqual(['CALL_NOT_FOUND']);
    const stopped = test.call('POST', url);
    const stop = await edge.next('command');
    expect(stop.command).toEqual({ kind: 'call.stop', call_id: command.call_id });
    edge.send({ type: 'result', id: stop.id, ok: true });
    expect((await stopped).status).toBe(200);
  });
});
