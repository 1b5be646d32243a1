/** Commands that an edge does not answer in time: what clients were answered stays true. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  anotherEdge,
  callRecord,
  connectEdge,
  type EdgeClient,
  reportFrame,
} from '../../test/kit/control/edge-client.ts';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import type { Answer } from '../../test/kit/http/answer.ts';

const number = '+14155550100';
const order = { phone_number: '+14155550123', task: 'Confirm the appointment.' };
/** As in the product. */
const timeoutMs = 5000;

const test = emptiedForEach(startRoutes);
let edge: EdgeClient;
beforeEach(async () => {
  await test.call('POST', '/v1/sip/attach', {
    body: {
      phone_number: number,
      directions: [
        {
          type: 'outbound',
          sip_endpoint: 'trunk.example.com',
          options: {},
        },
      ],
    },
  });
  edge = await connect();
});
afterEach(() => edge.kill());

async function connect(): Promise<EdgeClient> {
  // Its clock is an hour ahead of control's.
  const one = await connectEdge(test, { at: later(3_600_000) });
  await one.next('config');
  return one;
}

const later = (ms: number) => new Date(test.clock.now() + ms).toISOString();
const only = async () => {
  const { body } = await test.call('GET', '/v1/sip/calls');
  const calls: unknown = body.data?.calls;
  return Array.isArray(calls) ? (calls as { id: string }[])[0] : undefined;
};

/** Places a call whose command the edge receives and does not answer. */
async function silentPlace(): Promise<{ callId: string; answer: Promise<Answer> }> {
  const answer = test.call('POST', '/v1/calls', { body: order });
  const { command } = await edge.next('command');
  if (command.kind !== 'call.place') throw new Error(`unexpected ${command.kind}`);
  return { callId: command.call_id, answer };
}

const live = {
  direction: 'outbound',
  ended_at: null,
  status: 'in-progress',
  sip_code: null,
  termination: null,
  hangup_by: null,
} as const;

describe('an edge that has left a command unanswered', () => {
  it('is not the first choice of an order until it is heard of again', async () => {
    const other = await connectEdge(test, anotherEdge());
    await other.next('config');
    other.send({ type: 'status', metrics: { trunkline_edge_calls: 5 } });
    const { edges } = test.control.services;
    await expect.poll(() => edges.all.map(({ metrics }) => metrics.trunkline_edge_calls)).toContain(5);
    const first = edges.leastLoaded();
    const { answer } = await silentPlace();
    test.clock.advance(timeoutMs);
    await answer;
    expect(edges.leastLoaded()).not.toBe(first);
    edge.send({ type: 'status', metrics: {} });
    await expect.poll(() => edges.leastLoaded()).toBe(first);
    await other.kill();
  });
});

describe('a command', () => {
  it("carries an expiry time by the edge's clock", async () => {
    const answer = test.call('POST', '/v1/calls', { body: order });
    const frame = await edge.next('command');
    expect(frame.expires_at).toBe(later(3_600_000 + 0.75 * timeoutMs));
    edge.send({ type: 'result', id: frame.id, ok: true });
    expect((await answer).status).toBe(200);
  });

  it.each([
    ['POST', '/v1/sip/test-call', { phone_number: number }, 'test_call.run'],
    ['POST', '/v1/sip/discover', { host: 'pbx.example.com' }, 'discovery.run'],
  ] as const)('%s %s sends one that expires', async (method, url, body, kind) => {
    const answer = test.call(method, url, { body });
    const frame = await edge.next('command');
    expect(frame).toMatchObject({ command: { kind }, expires_at: expect.any(String) });
    edge.send({ type: 'result', id: frame.id, ok: false, error: 'the command expired' });
    expect((await answer).status).toBe(503);
  });

  it('expires for a transfer, not for a stop', async () => {
    const call = callRecord(test.orgId, { id: '00000000-0000-4000-8000-000000000001', ...live });
    edge.send(reportFrame(1, [{ type: 'call', call }]));
    await edge.next('ack');
    const transfer = test.call('POST', '/v1/calls/active/transfer', {
      body: { call_id: call.id, transfer_number: '+14155550199' },
    });
    const begin = await edge.next('command');
    expect(begin).toMatchObject({ command: { kind: 'call.transfer' }, expires_at: expect.any(String) });
    edge.send({ type: 'result', id: begin.id, ok: true });
    expect((await transfer).status).toBe(200);
    const stop = test.call('POST', `/v1/calls/${call.id}/stop`);
    const end = await edge.next('command');
    expect(end).toEqual({
      type: 'command',
      id: end.id,
      command: { kind: 'call.stop', call_id: call.id },
    });
    edge.send({ type: 'result', id: end.id, ok: true });
    expect((await stop).status).toBe(200);
  });
});

describe('a call that the edge did not confirm in time', () => {
  it('fails for the client and is stopped on the edge', async () => {
    const { callId, answer } = await silentPlace();
    test.clock.advance(timeoutMs);
    expect((await answer).codes).toEqual(['SERVICE_UNAVAILABLE']);
    expect((await edge.next('command')).command).toEqual({ kind: 'call.stop', call_id: callId });
    expect(await only()).toMatchObject({ outcome: 'failed', termination: 'edge_unavailable' });
  });

  it('stays failed when the edge has started it, and makes the edge end it', async () => {
    const { callId, answer } = await silentPlace();
    await edge.kill();
    expect((await answer).status).toBe(503);
    edge = await connect();
    const call = callRecord(test.orgId, { id: callId, ...live });
    edge.send(reportFrame(1, [{ type: 'call', call }]));
    expect((await edge.next('command')).command).toEqual({ kind: 'call.stop', call_id: callId });
    await edge.next('ack');
    expect(await only()).toMatchObject({ outcome: 'failed', termination: 'edge_unavailable' });
    const ended = {
      ended_at: later(0),
      status: 'canceled',
      termination: 'api_stop',
      answered_at: null,
    } as const;
    edge.send(reportFrame(2, [{ type: 'call', call: { ...call, ...ended, hangup_by: 'api' } }]));
    await edge.next('ack');
    expect(await only()).toMatchObject({ outcome: 'canceled', termination: 'api_stop' });
    expect(edge.untaken.filter(({ type }) => type === 'command')).toEqual([]);
  });

  it('is stopped on the edge by a later POST', async () => {
    const { callId, answer } = await silentPlace();
    test.clock.advance(timeoutMs);
    await answer;
    await edge.next('command');
    const stop = test.call('POST', `/v1/calls/${callId}/stop`);
    const { id, command } = await edge.next('command');
    expect(command).toEqual({ kind: 'call.stop', call_id: callId });
    edge.send({ type: 'result', id, ok: true });
    expect((await stop).status).toBe(200);
  });
});

describe('a test call that the edge did not confirm in time', () => {
  it('is stopped on the edge', async () => {
    const answer = test.call('POST', '/v1/sip/test-call', { body: { phone_number: number } });
    const { command } = await edge.next('command');
    test.clock.advance(timeoutMs);
    expect((await answer).status).toBe(503);
    const call_id = command.kind === 'test_call.run' ? command.test_call_id : '';
    expect((await edge.next('command')).command).toEqual({ kind: 'call.stop', call_id });
  });
});
