/**
 * REFER in both roles, with SIPp as the PBX in the call and as the target of its transfer. Engine, signaling, call
 * logic, routes and media are real; the agent is a tone.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import type { CallRecord, EdgeConfig } from '#shared/edge-protocol.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { ToneAgent } from '../../edge/agent/tone-agent.ts';
import { createMedia, type RunningMedia } from '../../edge/media/media.ts';
import { TestEdge } from '../../edge/signaling/testing.ts';
import { NodeDns } from '../../edge/trunks/dns.ts';
import { Trunks } from '../../edge/trunks/trunks.ts';
import { echoAgent, FakeAgents } from '../fakes/fake-agents.ts';
import { acceptTestWorker, testWorkerBin } from '../fakes/media-worker.ts';
import { eventually } from '../system/eventually.ts';
import { freeTcpPort, freeUdpRange } from '../system/ports.ts';
import { runScenario, type SippResult } from './run.ts';
import { type SippServer, serveScenario } from './serve.ts';

const number = '+14155550100';
let media: RunningMedia;
let edge: TestEdge;
let trunks: Trunks;
/** Where the trunk takes calls: the target of a transfer. */
let targetPort: number;

class ToneAgents extends FakeAgents {
  override create() {
    return new ToneAgent(400);
  }
}

beforeAll(async () => {
  const portMin = await freeUdpRange(100);
  media = await createMedia({
    listenIp: '127.0.0.1',
    publicIp: null,
    portMin,
    portMax: portMin + 99,
    workers: 1,
    workerBin: testWorkerBin(),
    acceptUnmarkedWorker: acceptTestWorker(),
  });
  const allowed = parseNetworks(['127.0.0.0/8']);
  trunks = new Trunks({
    clock: systemClock,
    random: () => 0.5,
    storePath: ':memory:',
    dns: new NodeDns({ servers: [], timeoutMs: 1_000, tries: 1 }),
    allowed: () => allowed,
    ca: [],
    // A SIPp scenario would take a probe for its call.
    prober: { probe: () => new Promise(() => {}) },
    report: () => {},
    moved: () => {},
  });
  edge = await TestEdge.start({
    media,
    agents: new ToneAgents(),
    outbound: { routes: trunks, ringTimeoutMs: 20_000 },
  });
});

afterAll(async () => {
  await edge?.stop();
  trunks?.close();
  await media?.close();
});

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
            headers: [],
            codecs: ['PCMU'],
          },
        ],
        outbound: [
          {
            id: 'trunk',
            priority: 1,
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
  edge.signaling.configure(config);
  trunks.configure(config.numbers);
});

/** The PBX calls and does what `name` says. */
function pbx(name: string, keys: Record<string, string> = {}): Promise<SippResult> {
  return runScenario(name, { port: edge.port, ca: edge.authority.cert, number, keys });
}

const serve = (name: string, keys: Record<string, string> = {}): Promise<SippServer> =>
  serveScenario(name, targetPort, edge.certificate, keys);

/** The call's last record, as soon as `is` holds of it. */
function record(what: string, is: (call: CallRecord) => boolean): Promise<CallRecord> {
  return eventually(what, () => {
    const lasts = [...edge.records.values()].flatMap((records) => records.slice(-1));
    return lasts.findLast(is) ?? null;
  });
}

async function nothingLeft(): Promise<void> {
  await eventually('the end of all dialogs', () => edge.signaling.dialogs === 0 || null);
  await eventually('the end of all calls', () => edge.calls.size === 0 || null);
  expect(media.stats().legs).toBe(0);
}

test('a REFER that is followed: the PBX hears of the answer and leaves, the target stays', async () => {
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
    edge.calls.stop(leg.id);
    const end = await target.ended();
    expect(end.passed, end.report).toBe(true);
    await nothingLeft();
  } finally {
    await target.close();
  }
});

test('a REFER to somebody who is busy: the PBX hears of it, and the call goes on', async () => {
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

test('a REFER that leads out of the configuration is refused, and the call goes on', async () => {
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
])('a REFER of ours, %s: the call ends with %s', async (name, termination) => {
  const call = pbx(name);
  const { id } = await record(
    'the answered call',
    (last) => last.direction === 'inbound' && last.status === 'in-progress',
  );
  edge.calls.transfer(id, { target: '+14155550177', method: 'refer', consult: null });
  const { passed, report, callId } = await call;
  expect(passed, report).toBe(true);
  const ended = await record('the end of the call', (last) => last.sip_call_id === callId);
  expect(ended).toMatchObject({ status: 'completed', termination });
  await nothingLeft();
});
