import { describe, expect, it } from 'vitest';
import { sessionBody } from './session-body.ts';

const sdp = 'v=0\r\nm=audio 1 RTP/SAVP 0\r\n';
const message = (type: string | undefined, body: string) => ({
  headers: type === undefined ? {} : { 'content-type': type },
  body,
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

  it.each(['Content-Type', 'content-type'])('is the part of a multipart body whose %s is SDP', (name) => {
    const body = `--b\r\n${name}: application/isup\r\n\r\nx\r\n--b\r\n${name}: application/SDP\r\n\r\n${sdp}\r\n--b--\r\n`;
    expect(sessionBody(message('multipart/mixed;boundary=b', body))).toEqual({ kind: 'sdp', sdp });
  });

  it('is unreadable when no part of it is SDP', () => {
    const body = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n';
    expect(sessionBody(message('multipart/mixed;boundary=b', body))).toEqual({
      kind: 'other',
      type: 'multipart/mixed;boundary=b',
    });
  });
});
