/** A real control plane, killed while calls wait for an edge. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CallView } from '#shared/api/calls.ts';
import { callRecord, EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { ControlProgram } from '../../test/kit/programs/control-program.ts';

const trunk = {
  phone_number: '+14155550100',
  directions: [{ type: 'outbound', sip_endpoint: 'trunk.example.com' }],
};
const order = { phone_number: '+14155550123', task: 'Say hello.', webhook: 'https://hooks.example.com/' };

describe('a control plane killed while an edge places a call', () => {
  let control: ControlProgram;
  beforeEach(() => {
    control = new ControlProgram({ SIP_ENTITLEMENT_DEFAULT: 'true' });
  });
  afterEach(() => control.remove());

  const link = async () => {
    const edge = await EdgeClient.connect(
      `${control.url.replace('http', 'ws')}/v1/edge/link`,
      control.keys.edge_token,
    );
    await edge.next('config');
    return edge;
  };
  const call = (id: string) =>
    control.api.read(CallView, 'GET', `/v1/calls/${id}`).then(({ status, error_message }) => ({
      status,
      error_message,
    }));

  it('closes the call that its edge does not report, and leaves the one that it does', async () => {
    // Waits for the edge's answer until the program is killed.
    await control.start(
      {},
      { limits: { calls: { queuedMs: 120_000 }, edgeLink: { commandTimeoutMs: 60_000 } } },
    );
    let edge = await link();
    await control.api.ok('POST', '/v1/sip/attach', trunk);
    const ids: string[] = [];
    for (const phone_number of ['+14155550123', '+14155550124']) {
      // No answer comes: the program is killed first.
      control.api.ok('POST', '/v1/calls', { ...order, phone_number }).catch(() => undefined);
      const { command } = await edge.next('command');
      if (command.kind === 'call.place') ids.push(command.call_id);
    }
    const [unplaced = '', placed = ''] = ids;
    await control.end('SIGKILL');
    await edge.closed;
    await control.start(
      {},
      { limits: { calls: { queuedMs: 2_000 }, edgeLink: { commandTimeoutMs: 1_000 } } },
    );
    expect(await call(unplaced)).toMatchObject({ status: 'queued' });
    edge = await link();
    const live = {
      ended_at: null,
      status: 'ringing',
      sip_code: null,
      sip_reason: null,
      termination: null,
    } as const;
    const record = callRecord(control.keys.org_id, {
      ...live,
      id: placed,
      direction: 'outbound',
      answered_at: null,
      hangup_by: null,
    });
    edge.send(reportFrame(1, [{ type: 'call', call: record }]));
    await edge.next('ack');
    await expect
      .poll(() => call(unplaced), { timeout: 30_000 })
      .toEqual({ status: 'failed', error_message: expect.stringContaining('No edge') });
    expect(await call(placed)).toMatchObject({ status: 'ringing' });
    await edge.close();
  });
});
