import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Sender } from 'ws';
import { WebSocketFrames } from './websocket-frames.ts';

interface Frame {
  readonly opcode: number;
  readonly fin: boolean;
  readonly payload: Uint8Array;
}

/** Frames as the library writes them, masked like a client's. */
function written({ opcode, fin, payload }: Frame): Buffer {
  const options = { opcode, fin, mask: true, readOnly: false, rsv1: false };
  return Buffer.concat(Sender.frame(Buffer.from(payload), options));
}

const payload = fc.oneof(
  fc.uint8Array({ maxLength: 10 }),
  fc.constantFrom(125, 126, 127, 65_535, 65_536).map((length) => new Uint8Array(length)),
);
const control: fc.Arbitrary<Frame> = fc.record({
  opcode: fc.constantFrom(0x9, 0xa),
  fin: fc.constant(true),
  payload: fc.uint8Array({ maxLength: 125 }),
});
/** A message in one or several frames, with control frames between them. */
const message: fc.Arbitrary<Frame[]> = fc
  .array(fc.tuple(payload, fc.array(control, { maxLength: 2 })), { minLength: 1, maxLength: 4 })
  .map((parts) =>
    parts.flatMap(([payload, controls], i) => [
      { opcode: i === 0 ? 0x1 : 0x0, fin: i === parts.length - 1, payload },
      ...(i === parts.length - 1 ? [] : controls),
    ]),
  );

test('pending octets are those since the last whole message, for any input split anywhere', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 5 }), cuts, (messages, sizes) => {
      const octets = messages.map((frames) => Buffer.concat(frames.map(written)));
      const stream = Buffer.concat(octets);
      const ends = octets.map((_, i) => octets.slice(0, i + 1).reduce((sum, one) => sum + one.length, 0));
      /** Octets of complete control frames, by end position: they are not part of the message. */
      const controls: { end: number; octets: number }[] = [];
      let at = 0;
      for (const frame of messages.flat()) {
        const { length } = written(frame);
        at += length;
        if (frame.opcode >= 0x8) controls.push({ end: at, octets: length });
      }
      const frames = new WebSocketFrames();
      let seen = 0;
      for (let i = 0; seen < stream.length; i++) {
        const size = sizes[i % sizes.length] ?? 1;
        const before = seen;
        const completed = frames.push(stream.subarray(seen, seen + size));
        seen = Math.min(stream.length, seen + size);
        const last = ends.filter((end) => end <= seen).at(-1) ?? 0;
        const aside = controls.filter(({ end }) => end > last && end <= seen);
        expect(frames.pending).toBe(seen - last - aside.reduce((sum, { octets }) => sum + octets, 0));
        expect(completed).toBe(ends.some((end) => end > before && end <= seen));
      }
    }),
  );
});

test('the first octet of a frame is pending', () => {
  const frames = new WebSocketFrames();
  expect(frames.push(Buffer.from([0x81]))).toBe(false);
  expect(frames.pending).toBe(1);
});

test('a ping on its own leaves nothing pending', () => {
  const frames = new WebSocketFrames();
  expect(frames.push(written({ opcode: 0x9, fin: true, payload: new Uint8Array(4) }))).toBe(true);
  expect(frames.pending).toBe(0);
});
