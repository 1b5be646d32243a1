import { describe, expect, it } from 'vitest';
import { type EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { id, TestEdgeLink } from '../../test/kit/control/edge-link.ts';

const link = TestEdgeLink.ofFile();
const { test } = link;

describe('POST /v1/calls/{id}/stop', () => {
  const stop = (callId = id(1), key: string | null = test.key) =>
    test.call('POST', `/v1/calls/${callId}/stop`, { key });
  const inProgress = {
    ended_at: null,
    status: 'in-progress',
    sip_code: null,
    termination: null,
    hangup_by: null,
  };

  async function live(): Promise<EdgeClient> {
    const edge = await link.connect();
    edge.send(reportFrame(1, [link.ended(id(1), inProgress)]));
    await edge.next('ack');
    return edge;
  }

  it('sends the edge a command and answers when the edge has answered', async () => {
    const edge = await live();
    const answer = stop();
    const { id: commandId, command } = await edge.next('command');
    expect(command).toEqual({ kind: 'call.stop', call_id: id(1) });
    edge.send({ type: 'result', id: commandId, ok: true });
    expect((await answer).body).toEqual({ status: 'success', message: 'Call stopped' });
  });

  it('passes cause and headers of the BYE to the edge, and refuses headers that cannot be sent', async () => {
    const edge = await live();
    const url = `/v1/calls/${id(1)}/stop`;
    const body = { cause: 16, headers: { 'X-Disposition': 'sold' } };
    const answer = test.call('POST', url, { body });
    const { id: commandId, command } = await edge.next('command');
    expect(command).toEqual({ kind: 'call.stop', call_id: id(1), ...body });
    edge.send({ type: 'result', id: commandId, ok: true });
    expect((await answer).status).toBe(200);
    const refused = await test.call('POST', url, { body: { headers: { Via: 'x' } } });
    expect(refused).toMatchObject({ status: 400, codes: ['INVALID_PARAMETER'] });
    expect(JSON.stringify(refused.body)).toContain('/headers/Via');
    expect((await test.call('POST', url, { body: { cause: 128 } })).status).toBe(400);
  });

  it('answers the same for an ended call, without asking an edge', async () => {
    const edge = await live();
    edge.send(reportFrame(2, [link.ended(id(1))]));
    await edge.next('ack');
    expect((await stop()).body).toEqual({ status: 'success', message: 'Call stopped' });
    expect(edge.untaken.filter((frame) => frame.type === 'command')).toEqual([]);
  });

  it('is 503 when the edge refuses, does not answer, or is gone', async () => {
    const edge = await live();
    const refused = stop();
    edge.send({ type: 'result', id: (await edge.next('command')).id, ok: false, error: 'no such call' });
    expect(await refused).toMatchObject({ status: 503, codes: ['SERVICE_UNAVAILABLE'] });
    const silent = stop();
    await edge.next('command');
    test.clock.advance(5000);
    expect((await silent).headers['retry-after']).toBe('5');
    const cut = stop();
    await edge.next('command');
    await edge.kill();
    expect((await cut).status).toBe(503);
    expect((await stop()).status).toBe(503);
  });

  it("is 404 for unknown calls and other organizations' calls, and requires a key", async () => {
    await live();
    expect((await stop(id(2))).codes).toEqual(['CALL_NOT_FOUND']);
    expect((await stop(id(1), test.foreignKey)).codes).toEqual(['CALL_NOT_FOUND']);
    expect((await stop(id(1), null)).status).toBe(401);
    expect((await test.call('POST', `/v1/calls/${id(1)}/stop`, { body: { a: 1 } })).codes).toEqual([
      'UNKNOWN_PROPERTY',
    ]);
  });
});
