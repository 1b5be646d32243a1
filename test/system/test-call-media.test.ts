/** Audio and keys of test calls, against far ends that send, receive and report them in different ways. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { share, tone } from '../kit/fakes/audio.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import { longTest } from '../kit/long-test.ts';
import { eventually } from '../kit/programs/eventually.ts';
import { events, lastDetail, pickUp, type TestCall, TestCalls } from '../kit/programs/test-calls.ts';
import type { TrunkCall } from '../kit/programs/trunk.ts';
import { attachTrunk } from '../kit/programs/trunk-system.ts';
import { Baresip } from '../peers/baresip.ts';

const silence = Buffer.alloc(160, 0xff);

let calls: TestCalls;

describe.concurrent('audio and keys of a test call', () => {
  beforeAll(async () => {
    calls = await TestCalls.open();
  });
  afterAll(() => calls?.close());

  test('are proven by a far end that echoes tone and keys', async () => {
    await calls.withTrunk(async (trunk, number) => {
      const media: SrtpPeer = await SrtpPeer.open({
        onPacket: ({ payloadType, marker, timestamp, payload }) => {
          media.timestamp = timestamp;
          media.send(payload, { payloadType, marker, samples: 0 });
        },
      });
      try {
        const id = await calls.start(number, { dtmf: '1w2', max_seconds: 20 });
        const call = await trunk.call();
        call.answer('100 Trying');
        call.answer('180 Ringing');
        await pickUp(call, media);
        const done = await calls.ended(id);
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
        expect(await calls.system.api.endedCall(id)).toMatchObject({
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
      certificate: calls.pair,
      answers: true,
      speech: tone(400, 20 * 8000),
    });
    try {
      const number = calls.nextNumber();
      await attachTrunk(calls.system, number, phone.tlsPort);
      const id = await calls.start(number, { to: '+14155550199', dtmf: '5', max_seconds: 6 });
      const done = await calls.ended(id);
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

  /** A far end that answers with `sdp` and then does `act`; returns how the test call calls.ended. */
  async function talk(
    act: (media: SrtpPeer) => Promise<void>,
    { sdp, order = {}, ring = async () => {} }: TalkOptions = {},
  ): Promise<TestCall> {
    const media = await SrtpPeer.open();
    let done: TestCall | null = null;
    try {
      await calls.withTrunk(async (trunk, number) => {
        const id = await calls.start(number, order);
        const call = await trunk.call();
        await ring(call, media);
        await pickUp(call, media, sdp?.(media));
        await act(media);
        done = await calls.ended(id);
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
        // The edge takes what comes once it has read the 183.
        do await media.play(media.toneFrames(400, 50));
        while (media.acknowledged === null);
        // The answer uses another connection, which must not overtake them.
        await eventually('the last one to be acknowledged', () =>
          media.acknowledged === ((media.sequence - 1) & 0xffff) ? true : null,
        );
      },
    });
    expect(events(done)).toEqual(['initiated', 'early_media', 'answered', 'failed']);
    // A few may still be on their way from the media worker.
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
      diagnosis: expect.stringMatching(/^We receive no audio from you: no packet arrived/),
      media: { packets_received: 0, verdict: 'send_only' },
    });
    expect(done.duration_seconds).toBeGreaterThanOrEqual(5);
    expect(done.media?.packets_sent).toBeGreaterThan(0);
    expect(events(done).at(-1)).toBe('failed');
    expect(lastDetail(done)).toBe(done.diagnosis);
  });

  longTest('cannot be decrypted when the far end uses other keys than its SDP says', async () => {
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

  longTest('do not reach a far end whose RTCP reports show total loss', async () => {
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
    });
    expect(done.duration_seconds).toBeGreaterThanOrEqual(10);
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
    await calls.withTrunk(async (trunk, number) => {
      const media = await SrtpPeer.open();
      try {
        const id = await calls.start(number);
        const call = await trunk.call();
        await pickUp(call, media, media.sdp({ formats: '97', rtpmaps: ['97 iLBC/8000'] }));
        expect(await calls.ended(id)).toMatchObject({
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
