/** Signaling with one call whose peer sends and gets REFERs. */
import { afterEach, beforeEach, expect } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { DialEvents } from '../../../edge/call/ports/dialing.ts';
import type { PeerRefer } from '../../../edge/call/ports/refer.ts';
import type { CallLeg, DialogLeg, LegEvents } from '../../../edge/call/ports/signaling.ts';
import { Signaling } from '../../../edge/signaling/signaling.ts';
import { DrachtioServer, type Sent } from '../fakes/drachtio-server.ts';
import { echoAgent } from '../fakes/fake-agents.ts';
import { sdpOffer } from '../fakes/fake-leg.ts';
import { fakeAnswer } from '../fakes/fake-media.ts';
import { QuietLog } from '../fakes/quiet-log.ts';
import { releaseAll } from '../fakes/release.ts';

const trunk = {
  id: 'trunk-1',
  auth_mode: 'ip',
  allowed_ips: ['192.0.2.0/24'],
  source_host: null,
  headers: [],
  codecs: [],
} as const;

const number = {
  number: '+14155550100',
  org_id: 'org-1',
  inbound: [{ ...trunk, allowed_ips: [...trunk.allowed_ips], headers: [], codecs: [] }],
  outbound: [],
  agent: { ...echoAgent, max_duration: 720 },
};

const config: EdgeConfig = {
  version: 1,
  organizations: [],
  numbers: [number],
  pathways: [],
  allowed_private_targets: [],
  open_inbound: false,
};

/** An answered call, and the headers its peer uses in it. */
export interface UpCall {
  readonly leg: DialogLeg;
  readonly dialogId: string;
  readonly callId: string;
}

/** Status line and subscription of a NOTIFY that we sent. */
export function notifyText(sent: Sent): string {
  return `${sent.startLine.split(' ')[0]} ${sent.headers['subscription-state']} ${sent.body.trim()}`;
}

export const target = { 'Refer-To': '<sip:+14155550177@pbx.example>' };

/** Starts signaling for each test, on the fake engine. */
export function referScene() {
  let server: DrachtioServer;
  let clock: FakeClock;
  let signaling: Signaling;
  /** Events from signaling, in order. */
  let heard: string[];
  /** REFERs from the peer. */
  let refers: PeerRefer[];
  let counted: string[];
  /** Legs that request to replace a call's dialog. */
  let replacing: CallLeg[];
  let admitted: CallLeg | null;
  let cseq: number;
  const legEvents: LegEvents & DialEvents = {
    answered: () => void heard.push('answered'),
    acknowledged: () => void heard.push('acknowledged'),
    canceled: () => void heard.push('canceled'),
    progress: () => {},
    refused: () => {},
    unreachable: () => {},
    timeout: () => {},
    bye: () => void heard.push('bye'),
    pressed: () => {},
    lost: (code) => void heard.push(`lost: ${code}`),
    reanswer: async () => fakeAnswer,
    reoffer: async () => fakeAnswer,
    reaccept: async () => {},
    referred: (refer) => void refers.push(refer),
    replacedBy: (leg) => {
      leg.listen(legEvents);
      replacing.push(leg);
    },
  };

  beforeEach(async () => {
    server = await DrachtioServer.listen();
    clock = new FakeClock();
    heard = [];
    refers = [];
    counted = [];
    replacing = [];
    admitted = null;
    cseq = 10;
    const up = Promise.withResolvers<void>();
    signaling = new Signaling({
      clock,
      log: new QuietLog(),
      calls: {
        admit: (leg) => {
          leg.listen(legEvents);
          admitted = leg;
        },
        refuse: (leg) => leg.reject({ status: 403 }),
        endAll: () => {},
        draining: false,
        closedFor: () => null,
        unrecordable: null,
        supervisions: { obstacle: () => null },
      },
      publicAddress: 'edge.example:5061',
      software: 'Trunkline/test',
      session: { expiresS: 1800, minS: 90 },
      strangers: { tries: 3, windowS: 60, blockS: 600, maxSources: 100 },
      refused: (reason) => counted.push(reason),
      countRefer: (from, outcome) => counted.push(`${from} ${outcome}`),
      random: () => 0,
      engineUp: () => up.resolve(),
    });
    signaling.configure(config);
    signaling.connect({ host: '127.0.0.1', port: server.port, secret: 'cymru' });
    await up.promise;
  });

  afterEach(() =>
    releaseAll(
      () => signaling.close(),
      () => server.close(),
    ),
  );

  async function inbound(headers: Record<string, string> = {}): Promise<UpCall> {
    server.peer({ method: 'INVITE', body: sdpOffer, headers });
    await server.idle();
    const leg = admitted;
    if (!leg) throw new Error('no call came');
    leg.answer(fakeAnswer);
    const ok = await server.next();
    server.peer({ method: 'ACK', toTag: 'server-tag' });
    await server.idle();
    heard = [];
    return { leg, dialogId: ok.dialogId, callId: 'call-1@peer' };
  }

  async function outbound(headers: Record<string, string> = {}): Promise<UpCall> {
    const target = { host: 'trunk.example', address: '192.0.2.1', port: 5061, serverName: 'trunk.example' };
    const sipCallId = 'call-2@edge';
    const invite = {
      sipCallId,
      from: '+14155550100',
      to: '+14155550123',
      offer: fakeAnswer,
      headers: [],
      variables: {},
      credentials: { username: 'trunk', password: 'secret', realm: null },
    };
    const leg = signaling.dial(target, invite, legEvents);
    const sent = await server.next();
    server.answer(sent, 200, 'OK', {
      headers: { Contact: '<sip:them@192.0.2.1:5061>', 'Content-Type': 'application/sdp', ...headers },
      body: fakeAnswer,
    });
    expect((await server.next()).startLine).toMatch(/^ACK /);
    heard = [];
    return { leg, dialogId: sent.dialogId, callId: sipCallId };
  }

  const idle = () => server.idle();
  /** A request from the peer in the call's dialog. */
  function peer(call: UpCall, method: string, headers: Record<string, string> = {}, body = ''): void {
    const { callId, dialogId } = call;
    server.peer({ method, callId, dialogId, toTag: 'server-tag', cseq: ++cseq, headers, body });
  }

  return {
    get server() {
      return server;
    },
    get clock() {
      return clock;
    },
    get signaling() {
      return signaling;
    },
    get heard() {
      return heard;
    },
    get refers() {
      return refers;
    },
    get counted() {
      return counted;
    },
    get replacing() {
      return replacing;
    },
    get admitted() {
      return admitted;
    },
    get cseq() {
      return cseq;
    },
    legEvents,
    inbound,
    outbound,
    idle,
    peer,
  };
}
