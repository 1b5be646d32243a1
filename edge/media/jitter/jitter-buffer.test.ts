import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { carry, type PathOptions } from '../rtp/emulated-network.ts';
import { JitterBuffer, type Pulled } from './jitter-buffer.ts';

interface Sent {
  readonly ssrc: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly payload: Uint8Array;
}

const ms = (count: number) => count * 8;

/** A payload of `length` ticks that contains a number. */
function payload(number: number, length = ms(20)): Uint8Array {
  const bytes = new Uint8Array(length);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

function numberOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
}

/** Packets of 20 ms each, sent every 20 ms. */
function talk(count: number, { ssrc = 1, sequence = 0, timestamp = 0, atMs = 0 } = {}) {
  return Array.from({ length: count }, (_, i) => ({
    atMs: atMs + i * 20,
    packet: {
      ssrc,
      sequence: (sequence + i) & 0xffff,
      timestamp: (timestamp + ms(20) * i) >>> 0,
      payload: payload(i),
    },
  }));
}

function newBuffer(options: { minFrames?: number; maxFrames?: number } = {}) {
  return new JitterBuffer({ clockRate: 8000, duration: (bytes) => bytes.length, ...options });
}

/** Feeds arrivals and pulls every 20 ms (at 5 ms offset) until `endMs`. */
function play(buffer: JitterBuffer, arrivals: readonly { atMs: number; packet: Sent }[], endMs: number) {
  const pulled: Pulled[] = [];
  let next = 0;
  for (let now = 5; now < endMs; now += 20) {
    for (let due = arrivals[next]; due !== undefined && due.atMs <= now; due = arrivals[next]) {
      const { ssrc, sequence, timestamp, payload } = due.packet;
      buffer.push(ssrc, sequence, timestamp, payload, due.atMs);
      next++;
    }
    pulled.push(buffer.pull(now));
  }
  return pulled;
}

function frames(pulled: readonly Pulled[]): number[] {
  return pulled.flatMap((item) => (item.kind === 'frame' ? [numberOf(item.payload)] : []));
}

function kinds(pulled: readonly Pulled[]): string {
  return pulled.map(({ kind }) => kind[0]).join('');
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('JitterBuffer on a quiet path', () => {
  it('plays every packet in order, two frames deep', () => {
    const buffer = newBuffer();
    const pulled = play(buffer, talk(10), 210);
    expect(kinds(pulled)).toBe('sffffffffff');
    expect(frames(pulled)).toEqual(upTo(10));
    expect(buffer.counts).toEqual({ played: 10, concealed: 0, late: 0, duplicate: 0, skipped: 0, resets: 0 });
  });

  it('is silent before the first packet and 100 ms after the last', () => {
    const pulled = play(newBuffer(), talk(3, { atMs: 60 }), 400);
    expect(kinds(pulled)).toBe('ssssffflllllssssssss');
  });

  it('plays a single packet without a successor', () => {
    expect(kinds(play(newBuffer(), talk(1), 200))).toBe('ssflllllss');
  });

  it('handles the rollover of sequence and timestamp', () => {
    const sent = talk(100, { sequence: 65_500, timestamp: 2 ** 32 - ms(600) });
    const buffer = newBuffer();
    expect(frames(play(buffer, sent, 2100))).toEqual(upTo(100));
    expect(buffer.counts.resets).toBe(0);
  });

  it('copies the payload, so that the caller may reuse its buffer', () => {
    const buffer = newBuffer();
    const bytes = payload(7);
    buffer.push(1, 1, 0, bytes, 0);
    bytes.fill(0xff);
    buffer.push(1, 2, ms(20), payload(8), 20);
    expect(frames([buffer.pull(25)])).toEqual([7]);
  });
});

describe('JitterBuffer and isolated faults', () => {
  it('conceals a lost packet once and passes on the one after it', () => {
    const sent = talk(10);
    sent.splice(5, 1);
    const pulled = play(newBuffer(), sent, 210);
    expect(kinds(pulled)).toBe('sffffflffff');
    expect(pulled[6]).toEqual({ kind: 'lost', ticks: ms(20), next: payload(6) });
  });

  it('offers no packet for recovery when the one after the gap is not the next', () => {
    const sent = talk(10, { atMs: 0 });
    sent.splice(5, 2);
    // 60 ms deep, so that the packet after the gap arrives in time.
    const pulled = play(newBuffer({ minFrames: 4 }), sent, 265);
    expect(kinds(pulled)).toBe('sssfffffllfff');
    const lost = pulled.filter((item) => item.kind === 'lost');
    expect(lost.map(({ next }) => next && numberOf(next))).toEqual([null, 7]);
  });

  it('reorders packets', () => {
    const sent = talk(10);
    const [third, fourth] = [sent[3], sent[4]];
    if (!third || !fourth) throw new Error('too few packets');
    sent[3] = { ...fourth, atMs: third.atMs };
    sent[4] = { ...third, atMs: third.atMs + 1 };
    expect(frames(play(newBuffer(), sent, 210))).toEqual(upTo(10));
  });

  it('plays a duplicate once', () => {
    const sent = talk(10).flatMap((item) => [item, item]);
    const buffer = newBuffer();
    expect(frames(play(buffer, sent, 210))).toEqual(upTo(10));
    expect(buffer.counts).toMatchObject({ duplicate: 10, late: 0 });
  });

  it('drops late packets', () => {
    const sent = talk(10);
    const late = sent.splice(4, 1).map((item) => ({ ...item, atMs: 131 }));
    const arrivals = [...sent, ...late].sort((a, b) => a.atMs - b.atMs);
    const buffer = newBuffer();
    expect(frames(play(buffer, arrivals, 210))).not.toContain(4);
    expect(buffer.counts).toMatchObject({ late: 1, concealed: 1 });
  });

  it('restarts with another SSRC and ignores late packets of the old one', () => {
    const first = talk(5, { ssrc: 1, sequence: 100, timestamp: 5000 });
    const second = talk(5, { ssrc: 2, sequence: 60_000, timestamp: 900_000, atMs: 100 });
    const straggler = { ...talk(1, { ssrc: 1, sequence: 105, timestamp: 5800 })[0], atMs: 121 };
    const arrivals = [...first, ...second, straggler].sort((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0));
    const buffer = newBuffer();
    const pulled = play(buffer, arrivals as ReturnType<typeof talk>, 300);
    expect(frames(pulled).slice(-5)).toEqual(upTo(5));
    expect(buffer.counts.resets).toBe(1);
  });

  it.each([
    ['forward', 4_000_000],
    ['backward', 2 ** 32 - 4_000_000],
  ])('follows a jump of the timestamp %s', (_, jump) => {
    const first = talk(10);
    const second = talk(10, { sequence: 10, timestamp: jump, atMs: 200 });
    const buffer = newBuffer();
    const pulled = play(buffer, [...first, ...second], 425);
    expect(frames(pulled).slice(-10)).toEqual(upTo(10));
    expect(buffer.counts.resets).toBe(1);
  });

  it('follows a jump of the sequence after two packets, and ignores a single stray packet', () => {
    const buffer = newBuffer();
    const stray = { ...talk(1, { sequence: 30_000, timestamp: 77_000 })[0], atMs: 101 };
    const first = [...talk(10), stray].sort((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0));
    const second = talk(10, { sequence: 20_000, timestamp: ms(200), atMs: 200 });
    const pulled = play(buffer, [...first, ...second] as ReturnType<typeof talk>, 425);
    expect(frames(pulled).slice(0, 10)).toEqual(upTo(10));
    expect(frames(pulled).slice(-9)).toEqual(upTo(10).slice(1));
    expect(buffer.counts.resets).toBe(1);
  });

  it('resumes after a pause without added delay', () => {
    const first = talk(10);
    const second = talk(10, { sequence: 10, timestamp: ms(3000), atMs: 3000 });
    const buffer = newBuffer();
    const pulled = play(buffer, [...first, ...second], 3225);
    expect(frames(pulled)).toEqual([...upTo(10), ...upTo(10)]);
    // Pull 150 is at 3005 ms, right after the first packet of the second part.
    expect(pulled[151]?.kind).toBe('frame');
  });

  it('keeps its depth when a sender stops its clock in a pause', () => {
    const first = talk(10);
    const second = talk(50, { sequence: 10, timestamp: ms(200), atMs: 5000 });
    const buffer = newBuffer();
    const pulled = play(buffer, [...first, ...second], 6100);
    expect(frames(pulled)).toEqual([...upTo(10), ...upTo(50)]);
    expect(buffer.targetMs).toBe(40);
  });

  it('drops payloads that are invalid for the codec', () => {
    const buffer = newBuffer();
    buffer.push(1, 1, 0, new Uint8Array(0), 0);
    expect(buffer.pull(100)).toEqual({ kind: 'silence' });
  });
});

describe('JitterBuffer depth', () => {
  it('grows with jitter, and then loses little', () => {
    const buffer = newBuffer();
    const arrivals = carry(talk(1500), { seed: 11, jitterMs: 90 });
    const early = play(buffer, arrivals.slice(0, 750), 15_000);
    expect(buffer.targetMs).toBeGreaterThanOrEqual(100);
    expect(buffer.targetMs).toBeLessThanOrEqual(140);
    expect(frames(early).length).toBeGreaterThan(735);
  });

  it('shrinks again when the jitter is gone', () => {
    const buffer = newBuffer();
    const rough = carry(talk(500), { seed: 12, jitterMs: 120 });
    const quiet = carry(talk(2500, { sequence: 500, timestamp: ms(20) * 500, atMs: 10_000 }), { seed: 13 });
    play(buffer, rough, 10_000);
    expect(buffer.targetMs).toBeGreaterThan(100);
    const arrivals = [...rough, ...quiet].sort((a, b) => a.atMs - b.atMs);
    const fresh = newBuffer();
    play(fresh, arrivals, 60_000);
    expect(fresh.targetMs).toBe(40);
    expect(fresh.heldMs).toBeLessThanOrEqual(60);
  });

  it('stays within its bounds and its memory under a flood that nobody reads', () => {
    const buffer = newBuffer();
    for (const { atMs, packet } of talk(5000)) {
      buffer.push(packet.ssrc, packet.sequence, packet.timestamp, packet.payload, atMs);
    }
    expect(buffer.heldMs).toBeLessThanOrEqual(400);
  });

  it('catches up at once after a stall', () => {
    const buffer = newBuffer();
    const sent = talk(200);
    // Nothing arrives from 1 s to 2 s, then everything at once.
    const arrivals = sent.map((item) => ({
      ...item,
      atMs: item.atMs >= 1000 && item.atMs < 2000 ? 2000 : item.atMs,
    }));
    const pulled = play(buffer, arrivals, 4045);
    expect(frames(pulled).slice(-95)).toEqual(upTo(200).slice(-95));
    expect(buffer.heldMs).toBeLessThanOrEqual(60);
  });
});

describe('JitterBuffer in a process that stalls', () => {
  it('keeps the packets that waited while missed turns are caught up', () => {
    const buffer = newBuffer();
    const sent = talk(60);
    const pulled = play(buffer, sent.slice(0, 10), 210);
    // Nothing runs from 205 to 305 ms. Then five turns are caught up, and only after them the packets are read.
    for (let i = 0; i < 5; i++) pulled.push(buffer.pull(305));
    for (const { packet } of sent.slice(10, 16)) {
      buffer.push(packet.ssrc, packet.sequence, packet.timestamp, packet.payload, 305);
    }
    for (const { atMs, packet } of sent.slice(16)) {
      pulled.push(buffer.pull(atMs + 5));
      buffer.push(packet.ssrc, packet.sequence, packet.timestamp, packet.payload, atMs + 6);
    }
    expect(buffer.counts.late).toBeLessThanOrEqual(1);
    expect(frames(pulled)).toEqual(upTo(55).filter((number) => number !== 10));
  });
});

describe('JitterBuffer on bad paths', () => {
  const path = fc.record({
    seed: fc.nat(1_000_000),
    loss: fc.constantFrom(0, 0.02, 0.1, 0.3),
    burst: fc.constantFrom(1, 3, 6),
    jitterMs: fc.constantFrom(0, 15, 60, 180),
    duplicates: fc.constantFrom(0, 0.05),
  });

  it('never plays out of order or twice, accounts for each packet, and stays bounded', () => {
    fc.assert(
      fc.property(path, fc.nat(65_535), fc.nat(2 ** 32 - 1), (options: PathOptions, sequence, timestamp) => {
        const count = 300;
        const arrivals = carry(talk(count, { sequence, timestamp }), options);
        const buffer = newBuffer();
        const pulled = play(buffer, arrivals, count * 20 + 1000);
        const played = frames(pulled);
        expect(played).toEqual([...new Set(played)].sort((a, b) => a - b));
        const { late, duplicate, skipped, resets } = buffer.counts;
        expect(played.length + late + duplicate + skipped).toBe(arrivals.length);
        expect(resets).toBe(0);
        expect(buffer.heldMs).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['10 % loss', { loss: 0.1 }, 0.9, 0.88],
    ['10 % loss in bursts', { loss: 0.1, burst: 4 }, 0.9, 0.84],
    ['60 ms of jitter', { jitterMs: 60 }, 1, 0.97],
    ['5 % loss with 40 ms of jitter', { loss: 0.05, jitterMs: 40 }, 0.95, 0.92],
  ])('plays nearly all packets that arrive with %s', (_, options, arriving, playing) => {
    const arrivals = carry(talk(3000), { seed: 21, ...options });
    expect(arrivals.length / 3000).toBeCloseTo(arriving, 1);
    const played = frames(play(newBuffer(), arrivals, 61_000));
    expect(played.length / 3000).toBeGreaterThan(playing);
  });
});

describe('JitterBuffer and other packet lengths', () => {
  it('plays packets of 10 ms when it is pulled twice per 20 ms', () => {
    const buffer = newBuffer();
    const numbers: number[] = [];
    for (let i = 0; i < 24; i++) {
      buffer.push(1, i, ms(10) * i, payload(i, ms(10)), i * 10);
      if (i % 2 === 1) numbers.push(...frames([buffer.pull(i * 10 + 5), buffer.pull(i * 10 + 5)]));
    }
    expect(numbers).toEqual(upTo(22));
  });

  it('conceals 10 ms where 10 ms are missing', () => {
    const buffer = newBuffer();
    for (const i of [0, 1, 2, 4, 5]) buffer.push(1, i, ms(10) * i, payload(i, ms(10)), i * 10);
    const pulled = Array.from({ length: 6 }, () => buffer.pull(60));
    expect(kinds(pulled)).toBe('ffflff');
    expect(pulled[3]).toEqual({ kind: 'lost', ticks: ms(10), next: payload(4, ms(10)) });
  });
});
