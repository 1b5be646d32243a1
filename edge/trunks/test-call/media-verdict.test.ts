/** What a test call says about the media. */
import { describe, expect, it } from 'vitest';
import { nothing, settle, testCallScene, twoWay } from '../../../test/kit/edge/test-calls.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';

const scene = testCallScene();
const { last, events, expectNothingLeft, dialling, answered, talk } = scene;

describe('a test call', () => {
  it('is connected when the tone comes back, whatever RTCP says', async () => {
    await answered();
    await talk(11_000, { counts: { ...twoWay, peer_loss_percent: 100 } });
    expect(last()).toMatchObject({ result: 'connected', media: { verdict: 'two_way' } });
  });

  it('fails when audio came only before the answer', async () => {
    const leg = await dialling();
    leg.peer.progress(183, fakeAnswer);
    await settle();
    const early = { packets_sent: 0, packets_received: 59 };
    scene.media.last.report = () => ({ ...nothing, ...twoWay, ...early });
    leg.peer.answered(fakeAnswer);
    await settle();
    await talk(11_000, { speak: () => {}, counts: { ...twoWay, packets_sent: 200, packets_received: 59 } });
    expect(last()).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: 'We receive no audio from you: 59 packets came before the answer, and none after it.',
      media: { packets_sent: 200, packets_received: 0, verdict: 'send_only' },
    });
    expect(events()).toEqual(['initiated', 'early_media', 'answered', 'failed']);
  });

  it('fails when the far end hangs up after a few packets', async () => {
    const leg = await answered();
    await talk(60, { speak: () => {}, counts: { ...twoWay, packets_sent: 6, packets_received: 3 } });
    leg.peer.bye();
    await settle();
    expect(last()).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: 'The far end hung up 60 ms after its answer, before audio passed in both directions.',
      media: { packets_sent: 6, packets_received: 3, verdict: 'send_only' },
    });
    expect(events()).toEqual(['initiated', 'answered', 'failed']);
  });

  it('fails when only a few packets arrive', async () => {
    await answered();
    await talk(11_000, { speak: () => {}, counts: { ...twoWay, packets_received: 3 } });
    expect(last()).toMatchObject({
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: 'We receive no audio from you: only 3 packets arrived after the answer.',
    });
  });

  it('fails when audio arrived and is now lost on the way', async () => {
    await answered();
    const cause = 'Audio from the peer is lost on the way: its RTCP sender reports count 250 packets.';
    await talk(11_000, {
      speak: () => {},
      counts: { ...twoWay, verdict: 'send_only', packets_received: 200, packets_lost: 250, cause },
    });
    expect(last()).toMatchObject({
      result: 'failed',
      error: 'NO_MEDIA',
      diagnosis: expect.stringContaining('sender reports count 250 packets'),
      media: { verdict: 'send_only', packets_received: 200 },
    });
  });

  it('reports that only silence arrives', async () => {
    await answered();
    await talk(11_000, { speak: () => {} });
    expect(last()).toMatchObject({
      result: 'connected',
      duration_seconds: 10,
      diagnosis: expect.stringMatching(/^We receive only silence from you/),
    });
  });

  it.each([
    ['send_only', { packets_sent: 200 }, 'We receive no audio from you: no packet arrived from the peer.'],
    ['receive_only', { packets_received: 200 }, 'You receive no audio: no packet arrived from the peer.'],
    ['none', {}, 'We receive no audio from you: no packet arrived from the peer.'],
  ] as const)('fails because of missing media when packets go %s', async (verdict, packets, diagnosis) => {
    await answered();
    await talk(11_000, { counts: { verdict, ...packets } });
    expect(last()).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'NO_MEDIA',
      sip_code: 200,
      duration_seconds: 10,
      diagnosis,
      media: { verdict },
    });
    expect(last().timeline.at(-1)).toMatchObject({ event: 'failed', detail: diagnosis });
    expectNothingLeft();
  });

  it('reports that the answer has no common codec', async () => {
    const leg = await dialling();
    scene.media.last.accept = async () => {
      const { CallRefused } = await import('../../call/refused.ts');
      throw new CallRefused(488, 'SDP refused', undefined, { kind: 'no_codec', text: 'None' });
    };
    leg.peer.answered(fakeAnswer);
    await settle();
    expect(last()).toMatchObject({
      result: 'failed',
      error: 'BAD_ANSWER',
      codec: null,
      diagnosis: 'No common codec: 127.0.0.1:5061 answered with none of the offered codecs: PCMU.',
      media: { packets_sent: 0, packets_received: 0, verdict: 'none' },
    });
    expectNothingLeft();
  });
});
