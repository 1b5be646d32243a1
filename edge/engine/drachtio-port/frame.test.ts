import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAppMessage } from './app-message.ts';
import { encodeFrame, type Frame, FrameReader, FramingError } from './frame.ts';

function reader(maxBytes = 1_000) {
  const frames: Frame[] = [];
  const oversize: [id: string, bytes: number][] = [];
  const frameReader = new FrameReader(maxBytes, {
    frame: (frame) => frames.push(frame),
    oversize: (id, bytes) => oversize.push([id, bytes]),
  });
  return { frameReader, frames, oversize };
}

describe('frames', () => {
  it('carry their length in octets before the hash', () => {
    expect(encodeFrame('id|ping', null).toString('latin1')).toBe('7#id|ping');
    expect(encodeFrame('id|sip||', Buffer.from('Ä')).toString('latin1')).toBe('12#id|sip||\r\n\u00c3\u0084');
  });

  it('are parsed into tokens and message', () => {
    const { frameReader, frames } = reader();
    frameReader.push(Buffer.from('28#a|sip||d1\r\nBYE sip:x SIP/2.0'));
    expect(frames).toHaveLength(1);
    expect(frames[0]?.tokens).toEqual(['a', 'sip', '', 'd1']);
    expect(frames[0]?.sip.toString()).toBe('BYE sip:x SIP/2.0');
  });

  it('are reassembled however the stream is split', () => {
    const payload = fc.record({
      line: fc.stringMatching(/^[a-z0-9|;=@-]{1,40}$/),
      sip: fc.option(fc.uint8Array({ maxLength: 300 }), { nil: null }),
    });
    fc.assert(
      fc.property(
        fc.array(payload, { maxLength: 8 }),
        fc.array(fc.nat(200), { maxLength: 20 }),
        (sent, cuts) => {
          const stream = Buffer.concat(
            sent.map(({ line, sip }) => encodeFrame(line, sip === null ? null : Buffer.from(sip))),
          );
          const { frameReader, frames } = reader();
          let at = 0;
          for (const cut of cuts) {
            frameReader.push(stream.subarray(at, at + cut));
            at += cut;
          }
          frameReader.push(stream.subarray(at));
          expect(frames.map(({ tokens, sip }) => [tokens.join('|'), [...sip]])).toEqual(
            sent.map(({ line, sip }) => [line, sip === null ? [] : [...sip]]),
          );
        },
      ),
    );
  });

  it('over the limit are skipped and reported with their id, and the next one is read', () => {
    for (const chunk of [1, 7, 100, 10_000]) {
      const { frameReader, frames, oversize } = reader(200);
      const stream = Buffer.concat([
        encodeFrame('big-1|sip||', Buffer.alloc(5_000, 'x')),
        encodeFrame('id|ping', null),
      ]);
      for (let at = 0; at < stream.length; at += chunk) frameReader.push(stream.subarray(at, at + chunk));
      expect(oversize).toEqual([['big-1', 5_013]]);
      expect(frames.map((frame) => frame.tokens)).toEqual([['id', 'ping']]);
    }
  });

  it('cannot be resynchronized after an invalid length', () => {
    for (const garbage of ['GET / HTTP/1.1\r\n', '#x', '12a#x', '99999999999#']) {
      expect(() => reader().frameReader.push(Buffer.from(garbage))).toThrow(FramingError);
    }
  });
});

it('a header value from the application loses its control characters and keeps its UTF-8', () => {
  const sip = Buffer.from('INFO sip:x SIP/2.0\r\nX-A: a\u0000b\u001b\u007fc\t d ö\r\n\r\n');
  expect(parseAppMessage(sip)?.headers.get('x-a')).toBe(Buffer.from('a b c\t d ö').toString('latin1'));
});
