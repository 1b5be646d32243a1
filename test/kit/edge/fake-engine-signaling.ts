/** Signaling and its calls on the fake engine. */
import { afterEach, beforeEach, expect } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { EdgeConfig, OrgPhones } from '#shared/edge-protocol/config.ts';
import type { InboundTrunk } from '#shared/edge-protocol/numbers.ts';
import type { RefusedInvites } from '#shared/edge-protocol/refused.ts';
import { Calls } from '../../../edge/call/calls.ts';
import type { PhoneAgent } from '../../../edge/signaling/admission/phone/phone-agents.ts';
import { Signaling } from '../../../edge/signaling/signaling.ts';
import { DrachtioServer } from '../fakes/drachtio-server.ts';
import { echoAgent, FakeAgents } from '../fakes/fake-agents.ts';
import { sdpOffer } from '../fakes/fake-leg.ts';
import { FakeMedia } from '../fakes/fake-media.ts';
import { QuietLog } from '../fakes/quiet-log.ts';
import { releaseAll } from '../fakes/release.ts';

export const trunk: InboundTrunk = {
  id: 'trunk-1',
  auth_mode: 'ip',
  allowed_ips: ['192.0.2.0/24'],
  source_host: null,
  headers: [{ type: 'custom', key: 'X-Crm', value: 'crm' }],
  codecs: ['PCMU'],
};

export const config: EdgeConfig = {
  version: 1,
  organizations: [],
  numbers: [
    {
      number: '+14155550100',
      org_id: 'org-1',
      inbound: [trunk],
      outbound: [],
      agent: { ...echoAgent, max_duration: 720 },
    },
    { number: '+14155550101', org_id: 'org-1', inbound: [trunk], outbound: [], agent: null },
  ],
  pathways: [],
  allowed_private_targets: [],
  open_inbound: false,
};

export const invite = { method: 'INVITE', body: sdpOffer };

/**
 * Starts signaling for each test; `carrier.example` is at 203.0.113.9.
 * @param version of the engine; default: the embedded one
 */
export function signalingScene(version?: string) {
  let server: DrachtioServer;
  let clock: FakeClock;
  let media: FakeMedia;
  let agents: FakeAgents;
  let log: QuietLog;
  let calls: Calls;
  let signaling: Signaling;
  let records: CallRecord[];
  /** Why reports cannot be stored. */
  let refusal: string | null;
  let refused: string[];
  /** Refused INVITEs as they are reported to control. */
  let reported: RefusedInvites[];
  /** What phone sessions of organizations are checked with; the edge is `edge-1`. */
  const phones = new Map<string, OrgPhones>();
  /** Agents of phone sessions that are for one. */
  const phoneAgents = new Map<string, PhoneAgent>();
  let up: (value: boolean) => void;
  /** Resolves when the address of `carrier.example` is known. */
  let lookedUp: Promise<void>;
  let found: () => void;
  const engineUp = () =>
    new Promise<boolean>((resolve) => {
      up = resolve;
    });

  beforeEach(async () => {
    server = await DrachtioServer.listen(0, version);
    clock = new FakeClock(Date.UTC(2030, 0, 1));
    media = new FakeMedia();
    agents = new FakeAgents();
    log = new QuietLog();
    records = [];
    phones.clear();
    phoneAgents.clear();
    refusal = null;
    refused = [];
    reported = [];
    lookedUp = new Promise((resolve) => {
      found = resolve;
    });
    let id = 0;
    calls = new Calls({
      clock,
      media,
      agents,
      log,
      newId: () => `id-${++id}`,
      maxCalls: 3,
      settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 0 },
      reporter: {
        report: (body) => void (body.type === 'call' && records.push(body.call)),
        get refusal() {
          return refusal;
        },
      },
    });
    signaling = new Signaling({
      clock,
      log,
      calls,
      publicAddress: 'edge.example:5061',
      software: 'Trunkline/test',
      session: { expiresS: 1800, minS: 90 },
      strangers: { tries: 3, windowS: 60, blockS: 600, maxSources: 100 },
      refused: (reason) => refused.push(reason),
      refusedInvites: { isReady: () => true, report: (invites) => reported.push(...invites) },
      phones: {
        edgeId: 'edge-1',
        phonesOf: (orgId) => phones.get(orgId),
        agentOf: (sessionId) => phoneAgents.get(sessionId),
      },
      random: () => 0.5,
      engineUp: (value) => up(value),
      resolve: async (host) => {
        if (host !== 'carrier.example') throw new Error('NXDOMAIN');
        setImmediate(found);
        return ['203.0.113.9'];
      },
    });
    signaling.configure(config);
    const ready = engineUp();
    signaling.connect({ host: '127.0.0.1', port: server.port, secret: 'cymru' });
    await ready;
  });

  afterEach(() =>
    releaseAll(
      () => signaling.close(),
      () => server.close(),
    ),
  );

  const last = () => records.at(-1);
  /** An answered call, with the ACK. @returns the transaction of its 200 */
  async function answered(headers: Record<string, string> = {}) {
    server.peer({ ...invite, headers });
    const ok = await server.next();
    expect(ok.startLine).toBe('SIP/2.0 200 OK');
    server.peer({ method: 'ACK', toTag: 't' });
    await server.idle();
    return ok;
  }

  return {
    get server() {
      return server;
    },
    get clock() {
      return clock;
    },
    get media() {
      return media;
    },
    get agents() {
      return agents;
    },
    get log() {
      return log;
    },
    get calls() {
      return calls;
    },
    get signaling() {
      return signaling;
    },
    get records() {
      return records;
    },
    get refusal() {
      return refusal;
    },
    set refusal(value) {
      refusal = value;
    },
    get refused() {
      return refused;
    },
    get reported() {
      return reported;
    },
    phones,
    phoneAgents,
    get lookedUp() {
      return lookedUp;
    },
    engineUp,
    last,
    answered,
  };
}
