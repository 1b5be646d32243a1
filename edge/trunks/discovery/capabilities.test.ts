import { describe, expect, it } from 'vitest';
import { response } from '../../../test/kit/edge/discovery.ts';
import { codecsOf, methodsOf, userAgentOf } from './capabilities.ts';

describe('codecsOf', () => {
  it('returns the codecs of the audio stream in order, with their contract names', () => {
    const sdp = [
      'v=0',
      'o=- 1 1 IN IP4 192.0.2.1',
      's=-',
      'm=audio 4000 RTP/AVP 9 0 8 18 96 97 101 13',
      'a=rtpmap:96 opus/48000/2',
      'a=rtpmap:97 AMR-WB/16000',
      'a=rtpmap:101 telephone-event/8000',
      'm=video 4002 RTP/AVP 98',
      'a=rtpmap:98 H264/90000',
      '',
    ].join('\r\n');
    expect(codecsOf(response([], sdp))).toEqual(['G.722', 'PCMU', 'PCMA', 'G.729', 'Opus', 'AMR-WB']);
  });

  it('returns none without SDP', () => {
    expect(codecsOf(response([]))).toEqual([]);
    expect(codecsOf(response([], 'm=audio 1 RTP/AVP 0\r\n'))).toEqual([]);
  });
});

describe('methodsOf', () => {
  it('returns the methods of all Allow lines, each once', () => {
    expect(methodsOf(response(['Allow: INVITE,ACK, bye', 'Allow: ACK', 'Allow: <x>']))).toEqual([
      'INVITE',
      'ACK',
      'BYE',
    ]);
    expect(methodsOf(response([]))).toEqual([]);
  });
});

describe('userAgentOf', () => {
  it('uses User-Agent, else Server, without control characters', () => {
    expect(userAgentOf(response(['Server: b', 'User-Agent: a, x']))).toBe('a, x');
    expect(userAgentOf(response(['Server: kam\x07ailio (5.7)']))).toBe('kamailio (5.7)');
    expect(userAgentOf(response([]))).toBeNull();
  });
});
