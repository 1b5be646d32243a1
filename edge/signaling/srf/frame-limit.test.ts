import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../test/kit/any-character.ts';
import { encodeFrame, fitFrame, longestFrame } from './frame-limit.ts';

const newId = () => 'new';
const long = 'x'.repeat(5_000);

function response(startLine: string, lines: readonly string[], body = ''): string {
  return encodeFrame(`id|sip|transaction|\r\n${[startLine, ...lines].join('\r\n')}\r\n\r\n${body}`);
}

describe('a frame for a drachtio-server', () => {
  it('stays as it is up to its limit', () => {
    const frame = response('SIP/2.0 200 OK', ['from: <sip:a@b>;tag=1']);
    expect(fitFrame(frame, newId)).toEqual({ kind: 'fits', frame });
  });

  it('loses what the server repeats from the request, when a response is too long', () => {
    const frame = response(
      'SIP/2.0 200 OK',
      [`From: <sip:${long}@x>`, 'to: <sip:b@x>', 'Call-ID: 1', 'cseq: 1 OPTIONS', 'Allow: INVITE'],
      'v=0',
    );
    expect(fitFrame(frame, newId)).toEqual({
      kind: 'fits',
      frame: response('SIP/2.0 200 OK', ['cseq: 1 OPTIONS', 'Allow: INVITE'], 'v=0'),
    });
  });

  it('is the status alone, when a rejection is still too long', () => {
    const frame = response('SIP/2.0 420 Bad Extension', [`Unsupported: ${long}`]);
    expect(fitFrame(frame, newId)).toEqual({
      kind: 'fits',
      frame: response('SIP/2.0 420 Bad Extension', []),
    });
  });

  it('is a 513 of its own in the place of a 2xx', () => {
    expect(fitFrame(response('SIP/2.0 200 OK', [], long), newId)).toMatchObject({
      kind: 'too_long',
      id: 'id',
      instead: encodeFrame('new|sip|transaction|\r\nSIP/2.0 513 Message Too Large\r\n\r\n'),
    });
  });

  it.each([
    ['a provisional response', response('SIP/2.0 183 Session Progress', [], long)],
    ['a request', encodeFrame(`id|sip|||sip:b@x\r\nINVITE sip:b@x SIP/2.0\r\n\r\n${long}`)],
    ['a request in a dialog', encodeFrame(`id|sip||${long};from-tag=1\r\nBYE sip:b@x SIP/2.0\r\n\r\n`)],
  ])('is not sent when it is %s', (_, frame) => {
    expect(fitFrame(frame, newId)).toMatchObject({ kind: 'too_long', id: 'id', instead: null });
  });

  it('is never longer than the limit, whatever it carries', () => {
    const line = fc.string({ unit: anyCharacter, maxLength: 6_000 });
    fc.assert(
      fc.property(
        fc.constantFrom('SIP/2.0 200 OK', 'SIP/2.0 488 No', 'BYE a', ''),
        line,
        line,
        (start, head, body) => {
          const fitted = fitFrame(response(start, [head], body), newId);
          const sent = fitted.kind === 'fits' ? fitted.frame : (fitted.instead ?? '');
          expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(longestFrame);
        },
      ),
    );
  });
});
