/** Offers, answers and keys of session descriptions. */
import type { CallRefused } from '../../../edge/call/refused.ts';
import { negotiateAnswer } from '../../../edge/media/sdp/negotiate.ts';
import { parseSdp } from '../../../edge/media/sdp/sdp.ts';
import type { LocalSdes } from '../../../edge/media/sdp/session.ts';

export const peerKey = 'd0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj';
export const secondKey = 'PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR';
export const ourKey = 'MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5';
export const suite = 'AES_CM_128_HMAC_SHA1_80';
export const cryptoLine = `a=crypto:1 ${suite} inline:${peerKey}`;

export const local: LocalSdes = {
  address: '203.0.113.10',
  rtpPort: 10000,
  codecs: ['PCMU', 'PCMA', 'Opus'],
  cryptoKey: ourKey,
  sessionId: '42',
  previous: null,
};

export function sdp(media: readonly string[], connection = 'c=IN IP4 198.51.100.7'): string {
  return ['v=0', 'o=- 1 1 IN IP4 198.51.100.7', 's=-', connection, 't=0 0', ...media, ''].join('\r\n');
}

export function audio(formats: string, attributes: readonly string[] = [], profile = 'RTP/SAVP'): string[] {
  return [`m=audio 30000 ${profile} ${formats}`, cryptoLine, ...attributes];
}

export function answerTo(offer: string, changes: Partial<LocalSdes> = {}) {
  return negotiateAnswer(parseSdp(offer), { ...local, ...changes });
}

export function refusalOf(run: () => unknown): Pick<CallRefused, 'sipStatus' | 'warning' | 'mediaFault'> {
  try {
    run();
  } catch (error) {
    return error as CallRefused;
  }
  throw new Error('was accepted');
}

export const event8 = ['a=rtpmap:101 telephone-event/8000', 'a=fmtp:101 0-16'];
