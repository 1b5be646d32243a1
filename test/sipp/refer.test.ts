/**
 * REFER in both roles, with SIPp as the PBX in the call and as the target of its transfer. Engine, signaling, call
 * logic, routes and media are real; the agent is a tone.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import { echoAgent } from '../kit/fakes/fake-agents.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { runScenario, type SippResult } from './run.ts';
import { type SippServer, serveScenario } from './serve.ts';
import { startTrunkEdge, type TrunkEdge } from './trunk-edge.ts';

const number = '+14155550100';
let bed: TrunkEdge;
/** Port of the trunk: the target of a transfer. */
let targetPort: number;

beforeAll(async () => {
  bed = await startTrunkEdge();
});

afterAll(() => bed?.stop());

beforeEach(async () => {
  targetPort = await freeTcpPort();
  const config: EdgeConfig = {
    version: 1,
    organizations: [],
    numbers: [
      {
        number,
        org_id: 'org',
        agent: echoAgent,
        inbound: [
          {
            id: 'trunk',
            auth_mode: 'ip',
            allowed_ips: ['127.0.0.1'],
            source_host: null,
            transfer_mode: 'enable_all',
            headers: [],
            codecs: ['PCMU'],
          },
        ],
        outbound: [
          {
            id: 'trunk',
            priority: 1,
            transfer_mode: 'enable_all',
            endpoints: [{ host: '127.0.0.1', port: targetPort, priority: 0 }],
            triggers: ['unreachable', 'auth_failure', 'timeout'],
            failback: 'auto',
            codecs: ['PCMU'],
            transcode: false,
            credentials: null,
            headers: [],
          },
        ],
      },
    ],
    pathways: [],
    allowed_private_targets: [],
    open_inbound: false,
  };
  bed.edge.signaling.configure(config);
  bed.trunks.configure(config.numbers);
});

/** The PBX calls with the scenario `name`. */
function pbx(name: string, keys: Record<string, string> = {}): Promise<SippResult> {
  return runScenario(name, { port: bed.edge.port, ca: bed.edge.authority.cert, number, keys });
}

const serve = (name: string, keys: Record<string, string> = {}): Promise<SippServer> =>
  serveScenario(name, targetPort, bed.edge.certificate, keys);

/** The call's last record, as soon as `is` is true for it. */
function record(what: string, is: (call: CallRecord) => boolean): Promise<CallRecord> {
  return eventually(what, () => {
    const lasts = [...bed.edge.records.values()].flatMap((records) => records.slice(-1));
    return lasts.findLast(is) ?? null;
  });
}

async function nothingLeft(): Promise<void> {
  await eventually('the end of all dialogs', () => bed.edge.signaling.dialogs === 0 || null);
  await eventually('the end of all calls', () => bed.edge.calls.size === 0 || null);
  expect(bed.media.stats().legs).toBe(0);
}

test('a followed REFER: the PBX is notified of the answer and leaves, the target stays', async () => {
  const target = await serve('uas-trunk-answer-expect-bye');
  try {
    const call = pbx('uac-pbx-refer-expect-notify-200', {
      target: `sip:+14155550177@127.0.0.1:${targetPort}`,
    });
    const { passed, report, callId } = await call;
    expect(passed, report).toBe(true);
    const transferred = await record('the end of the first call', (last) => last.sip_call_id === callId);
    expect(transferred).toMatchObject({ status: 'completed', termination: 'transferred' });
    const leg = await record('the leg to the target', (last) => last.direction === 'outbound');
    expect(leg).toMatchObject({ to: expect.stringContaining('+14155550177'), status: 'in-progress' });
    bed.edge.calls.stop(leg.id);
    const end = await target.ended();
    expect(end.passed, end.report).toBe(true);
    await nothingLeft();
  } finally {
    await target.close();
  }
});

test('a REFER to a busy target: the PBX is notified, and the call continues', async () => {
  const target = await serve('uas-trunk-refusal-expect-ack', { status: '486 Busy Here' });
  try {
    const { passed, report, callId } = await pbx('uac-pbx-refer-expect-notify-486', {
      target: `sip:+14155550177@127.0.0.1:${targetPort}`,
    });
    expect(passed, report).toBe(true);
    const call = await record('the end of the call', (last) => last.sip_call_id === callId);
    expect(call).toMatchObject({ status: 'completed', termination: 'caller_hangup' });
    await nothingLeft();
  } finally {
    await target.close();
  }
});

test('a REFER to a target outside the configuration is rejected, and the call continues', async () => {
  const { passed, report, callId } = await pbx('uac-pbx-refer-elsewhere-expect-403', {
    target: 'sip:+14155550177@elsewhere.example',
  });
  expect(passed, report).toBe(true);
  const call = await record('the end of the call', (last) => last.sip_call_id === callId);
  expect(call).toMatchObject({ status: 'completed', termination: 'caller_hangup' });
  await nothingLeft();
});

test.each([
  ['uac-pbx-referred-expect-bye', 'transferred'],
  ['uac-pbx-referred-expect-call-after-603', 'caller_hangup'],
  ['uac-pbx-referred-expect-call-after-486', 'caller_hangup'],
])('a REFER from the edge, %s: the call ends with %s', async (name, termination) => {
  const call = pbx(name);
  const { id } = await record(
    'the answered call',
    (last) => last.direction === 'inbound' && last.status === 'in-progress',
  );
  bed.edge.calls.transfer(id, { target: '+14155550177', method: 'refer', consult: null });
  const { passed, report, callId } = await call;
  expect(passed, report).toBe(true);
  const ended = await record('the end of the call', (last) => last.sip_call_id === callId);
  expect(ended).toMatchObject({ status: 'completed', termination });
  await nothingLeft();
});
