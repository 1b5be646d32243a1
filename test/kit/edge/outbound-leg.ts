/** An outbound leg, dialled over the fake engine. */
import { afterEach, beforeEach, expect } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { Calls } from '../../../edge/call/calls.ts';
import type { DialEvents, OutboundInvite, OutboundLeg } from '../../../edge/call/ports/dialing.ts';
import { CallRefused } from '../../../edge/call/refused.ts';
import { Signaling } from '../../../edge/signaling/signaling.ts';
import { DrachtioServer, type Sent } from '../fakes/drachtio-server.ts';
import { FakeAgents } from '../fakes/fake-agents.ts';
import { FakeMedia, fakeAnswer } from '../fakes/fake-media.ts';
import { QuietLog } from '../fakes/quiet-log.ts';
import { releaseAll } from '../fakes/release.ts';

export const target = {
  host: 'trunk.example',
  address: '192.0.2.1',
  port: 5061,
  serverName: 'trunk.example',
};
export const invitation: OutboundInvite = {
  sipCallId: 'call-1@edge',
  from: '+14155550100',
  to: '+14155550123',
  offer: fakeAnswer,
  headers: [],
  variables: {},
  credentials: null,
};

/** Starts signaling for each test. */
export function outboundLegScene() {
  let server: DrachtioServer;
  let clock: FakeClock;
  let signaling: Signaling;
  let heard: string[];
  let leg: OutboundLeg;
  /** Records the leg's events. */
  const events: DialEvents = {
    progress: (status, sdp) => heard.push(`${status}${sdp === null ? '' : ' with SDP'}`),
    answered: (sdp) => heard.push(sdp === null ? 'answered' : 'answered with SDP'),
    refused: ({ status, warning, retryAfterS }) => heard.push(`refused ${status} ${warning} ${retryAfterS}`),
    unreachable: ({ fault, text }) => heard.push(`unreachable (${fault}): ${text}`),
    timeout: () => heard.push('timeout'),
    bye: (variables) => {
      heard.push(['bye', ...Object.entries(variables ?? {})].join(' '));
      return undefined;
    },
    pressed: ({ digit }) => heard.push(`key ${digit}`),
    lost: (code) => heard.push(`lost: ${code}`),
    reanswer: async (offer) => {
      if (!offer.includes('a=crypto')) throw new CallRefused(488, 'no SRTP');
      return fakeAnswer;
    },
    reoffer: async () => fakeAnswer,
    reaccept: async (answer) =>
      void heard.push(answer === fakeAnswer ? 'new answer' : `new answer ${answer}`),
    referred: () => {},
    replacedBy: () => {},
  };

  beforeEach(async () => {
    server = await DrachtioServer.listen();
    clock = new FakeClock();
    heard = [];
    const log = new QuietLog();
    const up = Promise.withResolvers<void>();
    signaling = new Signaling({
      clock,
      log,
      calls: new Calls({
        clock,
        log,
        media: new FakeMedia(),
        agents: new FakeAgents(),
        newId: () => 'id',
        maxCalls: 1,
        settings: { ringAfterMs: 0, prepareTimeoutMs: 0, mediaTimeoutMs: 0 },
        reporter: { report: () => {} },
      }),
      publicAddress: 'edge.example:5061',
      software: 'Trunkline/test',
      session: { expiresS: 1800, minS: 90 },
      strangers: { tries: 3, windowS: 60, blockS: 600, maxSources: 100 },
      refused: () => {},
      random: () => 0,
      engineUp: () => up.resolve(),
    });
    signaling.connect({ host: '127.0.0.1', port: server.port, secret: 'cymru' });
    await up.promise;
  });

  afterEach(() =>
    releaseAll(
      () => signaling.close(),
      () => server.close(),
    ),
  );

  /** Resolves when the leg has handled everything that the server has written so far. */
  const idle = () => server.idle();
  async function dial(changes: Partial<OutboundInvite> = {}): Promise<Sent> {
    leg = signaling.dial(target, { ...invitation, ...changes }, events);
    return server.next();
  }

  async function up(headers: Record<string, string> = {}): Promise<Sent> {
    const invite = await dial();
    server.answer(invite, 200, 'OK', {
      headers: { Contact: '<sip:them@192.0.2.1>', 'Content-Type': 'application/sdp', ...headers },
      body: fakeAnswer,
    });
    expect((await server.next()).startLine).toMatch(/^ACK /);
    expect(heard).toEqual(['answered with SDP']);
    return invite;
  }

  /** A request from the peer in the dialog of `invite`. */
  function peer(invite: Sent, method: string, body = '', headers: Record<string, string> = {}): void {
    const { dialogId } = invite;
    server.peer({ method, callId: invitation.sipCallId, toTag: 'x', dialogId, body, headers });
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
    get leg() {
      return leg;
    },
    set leg(value) {
      leg = value;
    },
    events,
    idle,
    dial,
    up,
    peer,
  };
}
