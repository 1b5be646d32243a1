import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DtmfEvent } from '../../call/ports/media.ts';
import { type Arrival, carry, type PathOptions } from '../rtp/emulated-network.ts';
import { formatEvent } from './event.ts';
import { DtmfReceiver } from './receiver.ts';
import { type DtmfPacket, DtmfSender } from './sender.ts';

/** All steps of a sender, null where nothing is sent. */
function steps(digits: string, clockRate = 8000, timestamp = 1000): (DtmfPacket | null)[] {
  const sender = new DtmfSender(digits, clockRate);
  const packets: (DtmfPacket | null)[] = [];
  for (let step = 0; sender.active; step++) {
    packets.push(sender.next((timestamp + step * (clockRate / 50)) >>> 0));
  }
  return packets;
}

function sentAt(packets: readonly (DtmfPacket | null)[]): Arrival<DtmfPacket>[] {
  return packets.flatMap((packet, step) => (packet ? [{ atMs: step * 20, packet }] : []));
}

/** Feeds arrivals, polling every 20 ms, until a second after the last. */
function receive(arrivals: readonly Arrival<DtmfPacket>[], clockRate = 8000): DtmfEvent[] {
  const receiver = new DtmfReceiver({ clockRate });
  const events: DtmfEvent[] = [];
  let next = 0;
  const end = (arrivals.at(-1)?.atMs ?? 0) + 1000;
  for (let now = 0; now <= end; now += 20) {
    for (let due = arrivals[next]; due !== undefined && due.atMs <= now; due = arrivals[next]) {
      events.push(...receiver.push(due.packet.timestamp, due.packet.payload, due.atMs));
      next++;
    }
    events.push(...receiver.poll(now));
  }
  expect(receiver.pressed).toBe(false);
  return events;
}

const pressed = (events: readonly DtmfEvent[]) => events.map(({ digit }) => digit).join('');

describe('DtmfSender', () => {
  it('sends 100 ms: five increasing durations, the end three times, then a pause', () => {
    const packets = steps('5');
    expect(packets.map((packet) => packet && Buffer.from(packet.payload).toString('hex'))).toEqual([
      '050a00a0',
      '050a0140',
      '050a01e0',
      '050a0280',
      '058a0320',
      '058a0320',
      '058a0320',
      null,
    ]);
    expect(packets.map((packet) => packet?.marker ?? null)).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
      false,
      null,
    ]);
    expect(new Set(packets.flatMap((packet) => (packet ? [packet.timestamp] : [])))).toEqual(new Set([1000]));
  });

  it('starts the next digit 60 ms after the end of the previous one', () => {
    const packets = steps('12');
    expect(packets).toHaveLength(16);
    expect(packets[8]).toMatchObject({ marker: true, timestamp: 1000 + 8 * 160 });
  });

  it('waits half a second at w', () => {
    const packets = steps('w1');
    expect(packets.findIndex((packet) => packet !== null)).toBe(25);
  });

  it('counts in the negotiated clock', () => {
    const last = steps('1', 48000)[6];
    expect(Buffer.from(last?.payload ?? []).toString('hex')).toBe('018a12c0');
  });

  it('accepts every key in either case', () => {
    expect(pressed(receive(sentAt(steps('0123456789*#ABCDabcd'))))).toBe('0123456789*#ABCDABCD');
  });

  it('is done at once when there is nothing to send', () => {
    const sender = new DtmfSender('', 8000);
    expect(sender.active).toBe(false);
    expect(sender.next(0)).toBeNull();
  });

  it.each(['x', '1 2', '１', '+'])('rejects %s', (digits) => {
    expect(() => new DtmfSender(digits, 8000)).toThrow(RangeError);
  });
});

describe('DtmfReceiver', () => {
  it.each([8000, 48000])('reports each press once with its length at %i Hz', (clockRate) => {
    expect(receive(sentAt(steps('1#', clockRate)), clockRate)).toEqual([
      { digit: '1', durationMs: 100 },
      { digit: '#', durationMs: 100 },
    ]);
  });

  it('reports at the first end packet', () => {
    const receiver = new DtmfReceiver({ clockRate: 8000 });
    expect(receiver.push(100, formatEvent(3, false, 10, 160), 0)).toEqual([]);
    expect(receiver.push(100, formatEvent(3, true, 10, 320), 20)).toEqual([{ digit: '3', durationMs: 40 }]);
    expect(receiver.push(100, formatEvent(3, true, 10, 320), 40)).toEqual([]);
  });

  it('distinguishes two presses of the same key by their timestamps', () => {
    expect(pressed(receive(sentAt(steps('11'))))).toBe('11');
  });

  it('ends a press by timeout when all its end packets are lost', () => {
    const packets = sentAt(steps('7').slice(0, 3));
    expect(receive(packets)).toEqual([{ digit: '7', durationMs: 60 }]);
  });

  it('ends a press at the next one when all its end packets are lost', () => {
    const packets = sentAt(steps('78').map((packet, step) => (step >= 3 && step < 8 ? null : packet)));
    expect(receive(packets)).toEqual([
      { digit: '7', durationMs: 60 },
      { digit: '8', durationMs: 100 },
    ]);
  });

  it('detects a press of which only an end packet arrived', () => {
    expect(receive(sentAt(steps('9')).slice(6))).toEqual([{ digit: '9', durationMs: 100 }]);
  });

  it('does not report again what arrives after the timeout', () => {
    const receiver = new DtmfReceiver({ clockRate: 8000 });
    receiver.push(100, formatEvent(3, false, 10, 160), 0);
    for (let now = 20; now < 250; now += 20) expect(receiver.poll(now)).toEqual([]);
    expect(receiver.poll(249)).toEqual([]);
    expect(receiver.poll(250)).toEqual([{ digit: '3', durationMs: 20 }]);
    expect(receiver.push(100, formatEvent(3, true, 10, 800), 400)).toEqual([]);
  });

  it('does not take a stall of its own thread for silence of the peer', () => {
    const receiver = new DtmfReceiver({ clockRate: 8000 });
    receiver.push(100, formatEvent(3, false, 10, 160), 0);
    // Ticks that make up for it come at once.
    for (const now of [20, 2020, 2020, 2021]) expect(receiver.poll(now)).toEqual([]);
    expect(receiver.push(100, formatEvent(3, true, 10, 800), 2022)).toEqual([
      { digit: '3', durationMs: 100 },
    ]);
  });

  it('treats a long press in segments as one', () => {
    const receiver = new DtmfReceiver({ clockRate: 48000 });
    const start = 2 ** 32 - 70_000;
    expect(receiver.push(start, formatEvent(1, false, 10, 0xff00), 0)).toEqual([]);
    expect(receiver.push(start, formatEvent(1, false, 10, 0xffff), 20)).toEqual([]);
    expect(receiver.push(start + 0xffff, formatEvent(1, false, 10, 960), 40)).toEqual([]);
    // Late packet of the first segment.
    expect(receiver.push(start, formatEvent(1, false, 10, 0xffff), 41)).toEqual([]);
    const third = (start + 2 * 0xffff) >>> 0;
    expect(receiver.push(third, formatEvent(1, true, 10, 4800), 60)).toEqual([
      { digit: '1', durationMs: Math.round((2 * 0xffff + 4800) / 48) },
    ]);
  });

  it('ignores events that are not keys, and incomplete packets', () => {
    const receiver = new DtmfReceiver({ clockRate: 8000 });
    expect(receiver.push(1, formatEvent(16, true, 0, 800), 0)).toEqual([]);
    expect(receiver.push(2, formatEvent(36, true, 0, 800), 0)).toEqual([]);
    expect(receiver.push(3, Uint8Array.of(1, 0x80, 0), 0)).toEqual([]);
    expect(receiver.pressed).toBe(false);
  });

  it('keeps the order when the only remaining packet of the first press arrives late', () => {
    const receiver = new DtmfReceiver({ clockRate: 8000 });
    receiver.push(2000, formatEvent(2, false, 10, 160), 0);
    expect(receiver.push(1000, formatEvent(1, true, 10, 800), 1)).toEqual([{ digit: '1', durationMs: 100 }]);
    expect(receiver.push(2000, formatEvent(2, true, 10, 800), 2)).toEqual([{ digit: '2', durationMs: 100 }]);
  });

  const path = fc.record({
    seed: fc.nat(1_000_000),
    loss: fc.constantFrom(0, 0.1, 0.3),
    burst: fc.constant(1),
    jitterMs: fc.constantFrom(0, 30, 60),
    duplicates: fc.constantFrom(0, 0.2),
  });
  const keys = fc.string({ unit: fc.constantFrom(...'0123456789*#'), minLength: 1, maxLength: 12 });

  it('detects every press once and in order at up to 30 % loss, in any packet order', () => {
    const clock = fc.constantFrom(8000, 48000);
    fc.assert(
      fc.property(
        keys,
        path,
        clock,
        fc.nat(2 ** 32 - 1),
        (digits, options: PathOptions, clockRate, start) => {
          const arrivals = carry(sentAt(steps(digits, clockRate, start)), options);
          // A press is lost only when all seven packets are: expect those of which something arrived.
          const starts = new Set(arrivals.map(({ packet }) => packet.timestamp));
          const audible = Array.from(digits).filter((_, i) =>
            starts.has((start + i * 8 * (clockRate / 50)) >>> 0),
          );
          expect(pressed(receive(arrivals, clockRate))).toBe(audible.join(''));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('detects 1,000 presses at 30 % loss except for one in a few thousand', () => {
    const digits = '0123456789'.repeat(100);
    const arrivals = carry(sentAt(steps(digits)), { seed: 7, loss: 0.3 });
    expect(pressed(receive(arrivals)).length).toBeGreaterThanOrEqual(998);
  });
});
