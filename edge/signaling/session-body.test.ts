import { describe, expect, it } from 'vitest';
import { sessionBody } from './session-body.ts';

const sdp = 'v=0\r\nm=audio 1 RTP/SAVP 0\r\n';
const message = (
  type: string | undefined,
  body: string,
  payload: { type: string; content: string }[] = [],
) => ({
  headers: type === undefined ? {} : { 'content-type': type },
  body,
  payload,
});

describe('the body of a message', () => {
  it.each([
    ['application/sdp', sdp, { kind: 'sdp', sdp }],
    ['Application/SDP;charset=utf-8', sdp, { kind: 'sdp', sdp }],
    ['application/sdp', '', { kind: 'none' }],
    [undefined, '', { kind: 'none' }],
    ['text/plain', 'hello', { kind: 'other', type: 'text/plain' }],
    ['application/sdpx', sdp, { kind: 'other', type: 'application/sdpx' }],
  ])('of type %s', (type, body, expected) => {
    expect(sessionBody(message(type, body))).toEqual(expected);
  });

  it('is the SDP part of a multipart body, with its last line ended', () => {
    const parts = [
      { type: 'application/isup', content: 'x' },
      { type: 'application/sdp', content: `${sdp}--boundary--\r\n` },
    ];
    expect(sessionBody(message('multipart/mixed;boundary=boundary', 'all of it', parts))).toEqual({
      kind: 'sdp',
      sdp,
    });
  });

  it('is unreadable when no part of it is SDP', () => {
    const parts = [{ type: 'text/plain', content: 'x' }];
    expect(sessionBody(message('multipart/mixed;boundary=b', 'all', parts))).toEqual({
      kind: 'other',
      type: 'multipart/mixed;boundary=b',
    });
  });
});
