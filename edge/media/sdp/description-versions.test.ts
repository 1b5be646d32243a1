/** The version in the o= line of our descriptions (RFC 3264 section 8). */
import { describe, expect, it } from 'vitest';
import { answerTo, audio, event8, local, sdp } from '../../../test/kit/edge/descriptions.ts';
import { createOffer } from './negotiate.ts';

describe('versions of our descriptions', () => {
  const first = answerTo(sdp(audio('0 101', event8)));

  it('repeats the same text when nothing changed', () => {
    const again = answerTo(sdp(audio('0 101', event8)), { previous: first.answer });
    expect(again.answer).toBe(first.answer);
  });

  it('increments by one for each change, with the same session id', () => {
    const held = answerTo(sdp(audio('0 101', [...event8, 'a=sendonly'])), { previous: first.answer });
    expect(held.answer).toContain('o=trunkline 42 2 IN IP4');
    const resumed = answerTo(sdp(audio('0 101', event8)), { previous: held.answer });
    expect(resumed.answer).toContain('o=trunkline 42 3 IN IP4');
    const moved = answerTo(sdp(audio('0 101', event8)), { previous: resumed.answer, rtpPort: 10002 });
    expect(moved.answer).toContain('o=trunkline 42 4 IN IP4');
  });

  it('repeats the negotiated state in an offer of ours without a new version', () => {
    const offer = createOffer({ ...local, previous: first.answer, current: first.session });
    expect(offer).toBe(first.answer);
  });

  it('keeps the current codec when the peer offers all again', () => {
    const current = answerTo(sdp(audio('8'))).session;
    expect(answerTo(sdp(audio('0 8')), { current }).session.codec).toBe('PCMA');
    expect(answerTo(sdp(audio('0')), { current }).session.codec).toBe('PCMU');
  });

  it('offers a hold with a new version', () => {
    const offer = createOffer({
      ...local,
      previous: first.answer,
      current: first.session,
      direction: 'sendonly',
    });
    expect(offer).toContain('o=trunkline 42 2 IN IP4');
    expect(offer).toContain('a=sendonly\r\n');
  });

  it('keeps rejected media lines in later offers', () => {
    const media = ['m=image 40000 udptl t38', ...audio('8'), 'm=video 34000 RTP/SAVP 98'];
    const { answer, session } = answerTo(sdp(media));
    const offer = createOffer({ ...local, previous: answer, current: session, rtpPort: 10004 });
    expect(offer.match(/^m=.*$/gm)).toEqual([
      'm=image 0 udptl t38',
      'm=audio 10004 RTP/SAVP 8',
      'm=video 0 RTP/SAVP 98',
    ]);
  });
});
