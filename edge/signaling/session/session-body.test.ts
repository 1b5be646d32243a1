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

  it.each([
    ['session', { kind: 'sdp', sdp }],
    ['Session ; handling=required', { kind: 'sdp', sdp }],
    ['early-session;handling=required', { kind: 'other', type: 'application/sdp' }],
    ['early-session; handling=optional', { kind: 'none' }],
    ['render', { kind: 'other', type: 'application/sdp' }],
  ])('is of the session only with the disposition %s', (disposition, expected) => {
    const headers = { 'content-type': 'application/sdp', 'content-disposition': disposition };
    expect(sessionBody({ headers, body: sdp })).toEqual(expected);
  });

  it('is the description of the session, not the one of early media before it (RFC 3959)', () => {
    const part = (disposition: string, content: string) =>
      `--b\r\nContent-Type: application/sdp\r\nContent-Disposition: ${disposition}\r\n\r\n${content}\r\n`;
    const body = `${part('early-session', 'v=0\r\ns=early\r\n')}${part('session', sdp)}--b--\r\n`;
    expect(sessionBody(message('multipart/mixed;boundary=b', body))).toEqual({ kind: 'sdp', sdp });
  });

  it('is none when all of it may be ignored', () => {
    const body = '--b\r\nContent-Disposition: signal;handling=optional\r\n\r\nx\r\n--b--\r\n';
    expect(sessionBody(message('multipart/mixed;boundary=b', body))).toEqual({ kind: 'none' });
    const headers = { 'content-type': 'application/isup', 'content-disposition': 'signal;handling=optional' };
    expect(sessionBody({ headers, body: 'x' })).toEqual({ kind: 'none' });
  });

  it('is unreadable when no part of it is SDP', () => {
    const body = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n';
    expect(sessionBody(message('multipart/mixed;boundary=b', body))).toEqual({
      kind: 'other',
      type: 'multipart/mixed;boundary=b',
    });
  });
});
