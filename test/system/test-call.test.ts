/** Test calls through the API, to working and failing far ends: the diagnosis of each. */

import type { Static } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestCallStarted, TestCallView } from '#shared/api/trunk-checks.ts';
import { share, tone } from '../kit/fakes/audio.ts';
import { createSelfSigned, issue, type TestKeyPair } from '../kit/fakes/certificates.ts';
import { SipCallee } from '../kit/fakes/sip-callee.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { eventually } from '../kit/programs/eventually.ts';
import type { TestSystem } from '../kit/programs/harness.ts';
import { freeTcpPort } from '../kit/programs/ports.ts';
import { TestTrunk, type TrunkCall } from '../kit/programs/trunk.ts';
import {
  attachTrunk,
  health,
  setFailover,
  startTrunkSystem,
  trunkAuthority,
  trunkPair,
} from '../kit/programs/trunk-system.ts';
import { Baresip } from '../peers/baresip.ts';

const to = '+14155550190';
const silence = Buffer.alloc(160, 0xff);

type TestCall = Static<typeof TestCallView>['data'];

let system: TestSystem;
let pair: TestKeyPair;
let numbers = 0;

const nextNumber = () => `+1415555${String(2000 + numbers++)}`;

async function start(number: string, order: Record<string, unknown> = {}): Promise<string> {
  const body = { phone_number: number, to, max_seconds: 5, ...order };
  const { data } = await system.api.read(TestCallStarted, 'POST', '/v1/sip/test-call', body);
  return data.call_id;
}

async function state(id: string): Promise<TestCall> {
  const path = `/v1/sip/test-call/status?call_id=${id}`;
  return (await system.api.read(TestCallView, 'GET', path)).data;
}

function ended(id: string): Promise<TestCall> {
  return eventually(`the end of test call ${id}`, async () => {
    const now = await state(id);
    return now.result === 'pending' ? null : now;
  });
}

const events = ({ timeline }: TestCall) => timeline.map(({ event }) => event);
const lastDetail = ({ timeline }: TestCall) => timeline.at(-1)?.detail;

/** A trunk with its own number. */
async function withTrunk(
  run: (trunk: TestTrunk, number: string) => Promise<void>,
  certificate: TestKeyPair = pair,
): Promise<void> {
  const trunk = await TestTrunk.listen(certificate);
  try {
    const number = nextNumber();
    await attachTrunk(system, number, trunk.port);
    await run(trunk, number);
  } finally {
    await trunk.close();
  }
}

async function pickUp(call: TrunkCall, media: SrtpPeer, sdp = media.sdp()): Promise<void> {
  media.connect(call.invite.body);
  call.answer('200 OK', sdp);
  await call.expect('ACK');
}

describe.concurrent('audio and keys of a test call', () => {
  beforeAll(async () => {
    system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' });
    pair = await trunkPair(system);
  });
  afterAll(() => system?.stop());

  test('are proven by a far end that echoes tone and keys', async () => {
    await withTrunk(async (trunk, number) => {
      const media: SrtpPeer = await SrtpPeer.open({
        onPacket: ({ payloadType, marker, timestamp, payload }) => {
          media.timestamp = timestamp;
          media.send(payload, { payloadType, marker, samples: 0 });
        },
      });
      try {
        const id = await start(number, { dtmf: '1w2', max_seconds: 20 });
        const call = await trunk.call();
        call.answer('100 Trying');
        call.answer('180 Ringing');
        await pickUp(call, media);
        const done = await ended(id);
        expect(done).toMatchObject({
          call_id: id,
          status: 'completed',
          result: 'connected',
          sip_code: 200,
          sip_call_id: call.invite.header('call-id'),
          codec: 'PCMU',
          error: null,
          diagnosis: null,
          media: { verdict: 'two_way' },
        });
        expect(events(done)).toEqual([
          'initiated',
          'trying',
          'ringing',
          'answered',
          'media_confirmed',
          'dtmf_sent',
          'completed',
        ]);
        expect(done.timeline[0]?.detail).toBe(`INVITE to 127.0.0.1:${trunk.port}`);
        expect(lastDetail(done)).toMatch(/PCMU, our tone came back, the keys 12 came in\.$/);
        expect(media.events.map(({ digit }) => digit)).toEqual(['1', '2']);
        expect(done.duration_seconds).toBeGreaterThanOrEqual(2);
        expect(await system.api.endedCall(id)).toMatchObject({
          id,
          direction: 'outbound',
          outcome: 'completed',
          hangup_by: 'agent',
          media: { verdict: 'two_way' },
        });
      } finally {
        media.close();
      }
    });
  });

  test('are proven by a real phone that speaks', async () => {
    const phone = await Baresip.start({
      certificate: pair,
      answers: true,
      speech: tone(400, 20 * 8000),
    });
    try {
      const number = nextNumber();
      await attachTrunk(system, number, phone.tlsPort);
      const id = await start(number, { to: '+14155550199', dtmf: '5', max_seconds: 6 });
      const done = await ended(id);
      expect(done).toMatchObject({
        result: 'connected',
        diagnosis: null,
        codec: 'PCMU',
        media: { verdict: 'two_way' },
      });
      expect(events(done)).toContain('dtmf_sent');
      await phone.event('CALL_CLOSED');
      expect(phone.events).toContainEqual(expect.objectContaining({ type: 'CALL_DTMF_START', param: '5' }));
      const { samples, sampleRate } = await phone.heard();
      const middle = samples.subarray(samples.length / 2, samples.length / 2 + sampleRate / 2);
      expect(share(middle, 1137, sampleRate)).toBeGreaterThan(0.9);
    } finally {
      await phone.close();
    }
  });

  /** A far end that answers with `sdp` and then does `act`; returns how the test call ended. */
  async function talk(
    act: (media: SrtpPeer) => Promise<void>,
    { sdp, order = {}, ring = async () => {} }: TalkOptions = {},
  ): Promise<TestCall> {
    const media = await SrtpPeer.open();
    let done: TestCall | null = null;
    try {
      await withTrunk(async (trunk, number) => {
        const id = await start(number, order);
        const call = await trunk.call();
        await ring(call, media);
        await pickUp(call, media, sdp?.(media));
        await act(media);
        done = await ended(id);
        await call.expect('BYE');
      });
    } finally {
      media.close();
    }
    if (!done) throw new Error('the test call did not end');
    return done;
  }

  interface TalkOptions {
    readonly sdp?: (media: SrtpPeer) => string;
    readonly order?: Record<string, unknown>;
    /** Before the answer. */
    readonly ring?: (call: TrunkCall, media: SrtpPeer) => Promise<void>;
  }

  const frames = (payload: Buffer, seconds: number) => Array<Buffer>(seconds * 50).fill(payload);

  test('are missing from a far end that sends only before its answer', async () => {
    const sdp = (media: SrtpPeer) => early || media.sdp();
    let early = '';
    const done = await talk(async () => {}, {
      sdp,
      ring: async (call, media) => {
        early = media.sdp();
        media.connect(call.invite.body);
        call.answer('183 Session Progress', early);
        await media.play(media.toneFrames(400, 50));
      },
    });
    expect(events(done)).toEqual(['initiated', 'early_media', 'answered', 'failed']);
    // The last packets may overtake the answer, which uses a different connection.
    expect(done).toMatchObject({
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: expect.stringMatching(
        /^We receive no audio from you: (?:\d+ packets came before the answer, and none after it|only \d packets? arrived after the answer)\.$/,
      ),
      media: { verdict: 'send_only' },
    });
  });

  test('are missing from a far end that sends nothing', async () => {
    const done = await talk(async () => {});
    expect(done).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'NO_MEDIA',
      sip_code: 200,
      duration_seconds: 5,
      diagnosis: expect.stringMatching(/^We receive no audio from you: no packet arrived/),
      media: { packets_received: 0, verdict: 'send_only' },
    });
    expect(done.media?.packets_sent).toBeGreaterThan(0);
    expect(events(done).at(-1)).toBe('failed');
    expect(lastDetail(done)).toBe(done.diagnosis);
  });

  test('cannot be decrypted when the far end uses other keys than its SDP says', async () => {
    const done = await talk(async (media) => {
      media.rekey();
      await media.play(frames(silence, 2));
    });
    expect(done).toMatchObject({ result: 'failed', error: 'NO_MEDIA', media: { packets_received: 0 } });
    expect(done.diagnosis).toMatch(
      /^We receive no audio from you: \d+ packets arrived but failed SRTP authentication/,
    );
  });

  test('are reported as silence when the far end sends only silence', async () => {
    const done = await talk((media) => media.play(frames(silence, 5)));
    expect(done).toMatchObject({ result: 'connected', error: null, media: { verdict: 'two_way' } });
    expect(done.diagnosis).toMatch(/^We receive only silence from you: \d+ packets arrived/);
  });

  test('do not reach a far end that only sends', async () => {
    const done = await talk((media) => media.play(media.toneFrames(400, 250)), {
      sdp: (media) => media.sdp({ direction: 'sendonly' }),
    });
    expect(done).toMatchObject({
      result: 'failed',
      error: 'NO_MEDIA',
      media: { packets_sent: 0, verdict: 'receive_only' },
      diagnosis: expect.stringMatching(/^You receive no audio: /),
    });
  });

  test('do not reach a far end whose RTCP reports show total loss', async () => {
    const done = await talk(
      async (media) => {
        const speech = media.play(media.toneFrames(400, 350));
        await media.when(() => media.senderReported);
        media.report(1);
        await speech;
      },
      { order: { max_seconds: 10 } },
    );
    expect(done).toMatchObject({
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: expect.stringMatching(
        /^You receive no audio: the peer reports by RTCP that it loses 100 % of our packets/,
      ),
      media: { verdict: 'receive_only' },
      duration_seconds: 10,
    });
  });

  test('do not reach a far end whose sender reports have no block about them', async () => {
    const done = await talk(
      async (media) => {
        // Until the end of the call: the edge counts 5 s in which it sent without a break, wherever they begin.
        for (let seconds = 0; seconds < 15; seconds++) {
          await media.play(media.toneFrames(400, 50));
          media.reportSending();
        }
      },
      { order: { max_seconds: 15 } },
    );
    expect(done).toMatchObject({
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: expect.stringMatching(
        /^You receive no audio: the peer.s RTCP reports do not mention our packets/,
      ),
      media: { verdict: 'receive_only' },
    });
  });

  test('have no common codec with a far end that answers with another one', async () => {
    await withTrunk(async (trunk, number) => {
      const media = await SrtpPeer.open();
      try {
        const id = await start(number);
        const call = await trunk.call();
        await pickUp(call, media, media.sdp({ formats: '97', rtpmaps: ['97 iLBC/8000'] }));
        expect(await ended(id)).toMatchObject({
          result: 'failed',
          error: 'BAD_ANSWER',
          diagnosis: expect.stringMatching(
            /^No common codec: 127\.0\.0\.1:\d+ answered with none of the offered codecs: PCMU, /,
          ),
        });
        await call.expect('BYE');
      } finally {
        media.close();
      }
    });
  });
});

describe('a test call', () => {
  const aroundFailover = ['initiated', 'failover', 'initiated', 'busy'];
  const addEndpoint = (number: string, port: number) =>
    setFailover(system, number, { enabled: true, endpoints: [{ host: '127.0.0.1', port, priority: 1 }] });

  beforeAll(async () => {
    system = await startTrunkSystem({ TRUNK_PROBE_INTERVAL_S: '3600' });
    pair = await trunkPair(system);
  });
  afterAll(() => system?.stop());

  test('ends at a busy phone', async () => {
    await withTrunk(async (trunk, number) => {
      const id = await start(number);
      const call = await trunk.call();
      call.answer('486 Busy Here');
      expect(await ended(id)).toMatchObject({
        status: 'busy',
        result: 'busy',
        duration_seconds: 0,
        sip_code: 486,
        media: null,
        diagnosis: `${to} is busy (486 Busy Here).`,
      });
    });
  });

  test('ends at an unanswered phone', async () => {
    await withTrunk(async (trunk, number) => {
      const id = await start(number);
      const call = await trunk.call();
      call.answer('180 Ringing');
      const done = await ended(id);
      expect(done).toMatchObject({
        status: 'no-answer',
        result: 'no_answer',
        diagnosis: `No answer from ${to} at 127.0.0.1:${trunk.port}: nobody answered within 5 s.`,
      });
      expect(events(done).at(-1)).toBe('no_answer');
      await call.expect('CANCEL');
    });
  });

  test('ends at a trunk that accepts none of our codecs', async () => {
    await withTrunk(async (trunk, number) => {
      const id = await start(number, { to: '1001' });
      const call = await trunk.call();
      expect(call.invite.startLine).toMatch(/^INVITE sips?:1001@/);
      call.answer('488 Not Acceptable Here');
      expect(await ended(id)).toMatchObject({
        result: 'failed',
        sip_code: 488,
        diagnosis: expect.stringMatching(/accepts none of the offered media \(SRTP with PCMU, /),
      });
    });
  });

  test.each([
    [
      'expired',
      () => trunkAuthority(system).then((authority) => issue(authority, { expired: true })),
      /^The certificate of 127\.0\.0\.1:\d+ has expired; renew it\.$/,
    ],
    [
      'for another host',
      () => trunkAuthority(system).then((authority) => issue(authority, { names: ['DNS:pbx.example.com'] })),
      /^The certificate of 127\.0\.0\.1:\d+ is for another host \(.*127\.0\.0\.1.*\);/,
    ],
    [
      'from nobody we know',
      async () => createSelfSigned(['IP:127.0.0.1']),
      /^The certificate of 127\.0\.0\.1:\d+ is not from a trusted authority \(self-signed certificate\);/,
    ],
  ])('ends at a certificate that is %s', async (_name, certificate, sentence) => {
    await withTrunk(
      async (_trunk, number) => {
        const done = await ended(await start(number));
        expect(done).toMatchObject({
          status: 'failed',
          result: 'failed',
          error: 'ROUTE_UNREACHABLE',
          sip_code: null,
          media: null,
        });
        expect(done.diagnosis).toMatch(sentence);
        expect(lastDetail(done)).toBe(done.diagnosis);
      },
      await certificate(),
    );
  });

  test('ends at a trunk that rejects the password', async () => {
    const callee = await SipCallee.listen(pair);
    const challenge = 'WWW-Authenticate: Digest realm="pbx", nonce="n1", algorithm=SHA-256, qop="auth"';
    const serving = (async () => {
      for (;;) {
        const heard = await callee.next();
        if (heard.startLine.startsWith('OPTIONS ')) callee.answer(heard, '200 OK');
        if (heard.startLine.startsWith('INVITE '))
          callee.answer(heard, '401 Unauthorized', { headers: [challenge] });
      }
    })();
    const served = expect(serving).rejects.toThrow('the connection was closed');
    try {
      const number = nextNumber();
      const options = { sip_username: 'acme', sip_password: 'wrong' };
      const outbound = { type: 'outbound', sip_endpoint: `127.0.0.1:${callee.port}`, options };
      await system.api.ok('POST', '/v1/sip/attach', { phone_number: number, directions: [outbound] });
      await system.api.applied(number);
      expect(await ended(await start(number))).toMatchObject({
        result: 'failed',
        error: 'ROUTE_AUTH_FAILED',
        sip_code: 401,
        diagnosis: `127.0.0.1:${callee.port} rejected our user name and password; check both (401 Unauthorized).`,
      });
    } finally {
      await callee.close();
    }
    await served;
  });

  test('tries a dead endpoint first, although it is known to be dead, then the next', async () => {
    const dead = await freeTcpPort();
    const second = await TestTrunk.listen(pair);
    try {
      const number = nextNumber();
      await attachTrunk(system, number, dead);
      await addEndpoint(number, second.port);
      await health(system, number, ({ endpoints }) => endpoints[0]?.status === 'unreachable');
      const id = await start(number);
      const call = await second.call();
      call.answer('486 Busy Here');
      const done = await ended(id);
      expect(done.result).toBe('busy');
      expect(events(done)).toEqual(aroundFailover);
      expect(done.timeline.find(({ event }) => event === 'failover')?.detail).toBe(
        `Nothing listens at 127.0.0.1:${dead}: the connection was refused; check host, port and firewall. Failing over to 127.0.0.1:${second.port}.`,
      );
    } finally {
      await second.close();
    }
  });

  test('continues with the next endpoint after a rejection, and moves no trunk', async () => {
    const second = await TestTrunk.listen(pair);
    try {
      await withTrunk(async (first, number) => {
        await addEndpoint(number, second.port);
        await health(system, number, ({ endpoints }) =>
          endpoints.every(({ status }) => status === 'healthy'),
        );
        const id = await start(number);
        (await first.call()).answer('503 Service Unavailable');
        (await second.call()).answer('486 Busy Here');
        const done = await ended(id);
        expect(events(done)).toEqual(aroundFailover);
        expect(await system.api.endedCall(id)).toMatchObject({
          failover_attempts: [{ port: first.port, sip_code: 503, error: 'unreachable' }],
        });
        await health(system, number, ({ endpoints }) => endpoints[0]?.active === true);
      });
    } finally {
      await second.close();
    }
  });

  test('ends when the call is stopped', async () => {
    await withTrunk(async (trunk, number) => {
      const id = await start(number, { max_seconds: 60 });
      const call = await trunk.call();
      call.answer('180 Ringing');
      await eventually('the call to ring', async () => (await state(id)).status === 'ringing' || null);
      await system.api.ok('POST', `/v1/calls/${id}/stop`, {});
      await call.expect('CANCEL');
      expect(await ended(id)).toMatchObject({ status: 'failed', result: 'failed', error: 'API_STOP' });
      expect(await system.api.endedCall(id)).toMatchObject({ outcome: 'canceled', hangup_by: 'api' });
    });
  });
});
