/** Signaling on the fake engine, for what only single frames can cause. What every engine must do is in engines.test.ts. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { InboundTrunk } from '#shared/edge-protocol/numbers.ts';
import { endTexts } from '#shared/engine-protocol/ends.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { config, invite, signalingScene, trunk } from '../../test/kit/edge/fake-engine-signaling.ts';
import { echoAgent } from '../../test/kit/fakes/fake-agents.ts';

const scene = signalingScene();
const { engineUp, last, answered } = scene;

describe('an inbound call', () => {
  it('has its record reported before the 200 to BYE', async () => {
    await answered();
    let reported: string | null | undefined;
    scene.server.withEcho = (sent) => {
      if (sent.headers.cseq?.endsWith('BYE')) reported = last()?.termination;
      return [];
    };
    scene.server.peer({ method: 'BYE', toTag: 't' });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(reported).toBe('caller_hangup');
    expect(scene.signaling.dialogs).toBe(0);
    expect(scene.clock.pending).toBe(0);
  });

  it('processes a BYE that arrives in one chunk with the echo of its 200 and the ACK', async () => {
    scene.server.withEcho = (sent) =>
      sent.startLine === 'SIP/2.0 200 OK' && sent.headers.cseq?.endsWith('INVITE')
        ? [
            scene.server.peerFrame({ method: 'ACK', toTag: 't' }).frame,
            scene.server.peerFrame({ method: 'BYE', toTag: 't' }).frame,
          ]
        : [];
    for (let round = 0; round < 20; round++) {
      scene.server.peer(invite);
      expect((await scene.server.next()).headers.cseq).toBe('1 INVITE');
      expect((await scene.server.next()).headers.cseq).toBe('1 BYE');
      expect(last()).toMatchObject({ termination: 'caller_hangup', status: 'completed' });
    }
    expect(scene.calls.size).toBe(0);
    expect(scene.signaling.dialogs).toBe(0);
  });

  it('is canceled before the answer, also in the chunk of its INVITE', async () => {
    scene.agents.ready = false;
    scene.server.peer(invite);
    await scene.server.idle();
    scene.server.cancel();
    await scene.server.idle();
    expect(last()).toMatchObject({ termination: 'caller_canceled', status: 'canceled', sip_code: 487 });
    expect(scene.server.sent).toEqual([]);
  });

  it('counts as canceled when the engine no longer knows the INVITE of its 200', async () => {
    scene.server.refuse = () => 'Response not sent due to unknown transaction';
    scene.server.peer(invite);
    await scene.server.next();
    await scene.server.idle();
    expect(last()).toMatchObject({ termination: 'caller_canceled', answered_at: null });
    expect(scene.calls.size).toBe(0);
  });

  it.each<[string, Record<string, string>]>([
    ['the embedded engine', { [privateHeaders.end]: 'no_ack' }],
    ['a drachtio-server', {}],
  ])('ends when %s gives up waiting for the ACK', async (_engine, cause) => {
    scene.server.peer(invite);
    await scene.server.next();
    scene.server.peer({
      method: 'BYE',
      toTag: 't',
      source: 'application',
      headers: { Reason: 'SIP;cause=200;text="ACK timeout"', ...cause },
    });
    await scene.server.idle();
    expect(last()).toMatchObject({
      termination: 'ack_timeout',
      termination_detail: 'No ACK within 32 s of the answer (SIP engine: ACK timeout).',
    });
    expect(scene.server.sent).toHaveLength(1);
  });

  it.each([
    ['no_prack', 504, 'Server Time-out', 'ack_timeout'],
    ['unanswered', 408, 'Request Timeout', 'internal_error'],
    ['connection_lost', 487, 'Request Terminated', 'connection_lost'],
  ] as const)(
    'that the engine gave up (%s, %i) is recorded with the status that the caller got',
    async (cause, status, phrase, code) => {
      scene.agents.ready = false;
      const transactionId = scene.server.peer(invite);
      await scene.server.idle();
      const headers = {
        Reason: `SIP;cause=${status};text="${endTexts[cause]}"`,
        [privateHeaders.end]: cause,
      };
      scene.server.peer({ method: 'CANCEL', transactionId, headers });
      await scene.server.idle();
      // A caller without a connection cannot receive a response.
      const sent = code === 'connection_lost' ? null : status;
      expect(last()).toMatchObject({
        termination: code,
        sip_code: sent,
        sip_reason: sent === null ? null : phrase,
        status: 'failed',
      });
    },
  );

  it.each(['drop', 'reset'] as const)(
    'ends when the engine is lost (%s), and the next call uses a new connection',
    async (how) => {
      await answered();
      const down = engineUp();
      scene.server[how]();
      expect(await down).toBe(false);
      expect(last()).toMatchObject({ termination: 'engine_lost', status: 'completed' });
      expect(scene.signaling.dialogs).toBe(0);
      const ready = engineUp();
      scene.clock.advance(200);
      expect(await ready).toBe(true);
      scene.server.peer({ ...invite, callId: 'call-2' });
      expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    },
  );
});

describe('a call from a registrar', () => {
  const registering: InboundTrunk = {
    ...trunk,
    id: 'registered',
    auth_mode: 'register',
    allowed_ips: ['198.51.100.7'],
    registration: { host: 'pbx.example', port: 5061, username: 'acme', password: 'p', expires_s: 300 },
  };
  const agent = { ...echoAgent, max_duration: 720 };
  const numbers = [
    { number: '+14155550100', org_id: 'org-1', inbound: [trunk, registering], outbound: [], agent },
  ];
  const toContact = { ...invite, uri: 'sip:acme@edge.example:5061;transport=tls' };

  beforeEach(() => scene.signaling.configure({ ...config, numbers }));

  it('to the registered Contact belongs to the record and its number', async () => {
    scene.server.peer({ ...toContact, address: '198.51.100.7' });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(last()).toMatchObject({ trunk_id: 'registered', number: '+14155550100', to: '+14155550100' });
  });

  it('may dial the number directly', async () => {
    scene.server.peer({ ...invite, address: '198.51.100.7' });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    expect(last()).toMatchObject({ trunk_id: 'registered' });
  });

  it.each(['+14155550100', '14155550100'])(
    'belongs to the number, although another organization registers as %s and lists its source',
    async (username) => {
      const registration = { host: 'thief.example', port: 5061, username, password: 'p', expires_s: 300 };
      const thief = {
        number: '+12025550100',
        org_id: 'org-2',
        inbound: [{ ...registering, id: 'thiefs', registration }],
        outbound: [],
        agent,
      };
      scene.signaling.configure({ ...config, numbers: [thief, ...numbers] });
      scene.server.peer({ ...invite, uri: `sip:${username}@edge.example`, address: '198.51.100.7' });
      expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
      expect(last()).toMatchObject({ trunk_id: 'registered', number: '+14155550100' });
    },
  );

  it('is rejected from every other source', async () => {
    scene.server.peer({ ...toContact, address: '203.0.113.5' });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 403 Forbidden');
    expect(last()).toMatchObject({
      termination: 'source_not_allowed',
      number: '+14155550100',
      trunk_id: null,
    });
  });
});

describe('other requests', () => {
  it('OPTIONS lists our capabilities, and gets 503 while draining', async () => {
    scene.server.peer({ method: 'OPTIONS' });
    const ok = await scene.server.next();
    expect(ok.startLine).toBe('SIP/2.0 200 OK');
    expect(ok.headers).toMatchObject({
      accept: 'application/sdp',
      allow: 'INVITE, ACK, BYE, CANCEL, OPTIONS, REFER, NOTIFY, PRACK, UPDATE, INFO',
      supported: 'timer, 100rel, replaces, norefersub',
    });
    void scene.calls.drain(0);
    scene.server.peer({ method: 'OPTIONS', callId: 'b' });
    const busy = await scene.server.next();
    expect([busy.startLine, busy.headers['retry-after']]).toEqual(['SIP/2.0 503 Service Unavailable', '10']);
  });

  it.each(['REGISTER', 'MESSAGE', 'SUBSCRIBE', 'PUBLISH'])('%s gets 405 with Allow', async (method) => {
    scene.server.peer({ method });
    const answer = await scene.server.next();
    expect(answer.startLine).toBe('SIP/2.0 405 Method Not Allowed');
    expect(answer.headers.allow).toContain('INVITE');
  });

  it('INFO outside a call gets 481', async () => {
    scene.server.peer({ method: 'INFO' });
    expect((await scene.server.next()).startLine).toMatch(/^SIP\/2.0 481/);
  });

  it('reach us because we subscribed to them', async () => {
    await scene.server.idle();
    expect(scene.server.routes).toEqual([
      'invite',
      'options',
      'register',
      'subscribe',
      'notify',
      'refer',
      'message',
      'info',
      'publish',
      'update',
    ]);
  });
});

describe('the headers of requests from a drachtio-server', () => {
  const onServer = signalingScene('v0.9.10');

  it('get 513 without them when they are too long to be copied into an answer', async () => {
    onServer.server.peer({ ...invite, from: `<sip:${'a'.repeat(9000)}@x>` });
    const answer = await onServer.server.next();
    expect(answer.startLine).toBe('SIP/2.0 513 Message Too Large');
    expect(answer.headers.from).toBeUndefined();
    expect(onServer.refused).toEqual(['oversized']);
  });
});
