import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeHep, encodeHep, encodeHepKey, type HepPacket, HepStream } from '#shared/hep.ts';
import { untilClosed } from '../../test/kit/until-closed.ts';
import { HepListener } from './hep-listener.ts';

const key = 'a-key-of-this-start';
const packet: HepPacket = {
  at: Date.UTC(2030, 0, 1) * 1000,
  source: { address: '203.0.113.9', port: 40000 },
  destination: { address: '203.0.113.20', port: 5061 },
  transport: 'tls',
  direction: 'received',
  callId: 'a@b',
  payload: Buffer.from('OPTIONS sip:a SIP/2.0\r\n\r\n'),
};

let listener: HepListener;
let got: HepPacket[];
const sockets: Socket[] = [];

const open = async (given: string | null) => {
  listener = await HepListener.open({ host: '127.0.0.1', port: 0, key: given }, (one) => got.push(one));
};
const socket = async () => {
  const made = connect(listener.port, '127.0.0.1').on('error', () => {});
  sockets.push(made);
  await once(made, 'connect');
  return made;
};

beforeEach(() => {
  got = [];
});

afterEach(async () => {
  for (const each of sockets.splice(0)) each.destroy();
  await listener.close();
});

describe('copies from the embedded engine', () => {
  beforeEach(() => open(key));

  it('are accepted with the key', async () => {
    const engine = await socket();
    engine.write(Buffer.concat([encodeHepKey(key), encodeHep(packet, key)]));
    await expect.poll(() => got.length).toBe(1);
    expect(got[0]).toEqual(packet);
    expect(listener.refused).toBe(0);
  });

  it.each([
    ['without the key', encodeHep(packet)],
    ['with another key', encodeHep(packet, 'a-key-of-that-start')],
    ['with a longer key', encodeHep(packet, `${key}x`)],
    ['with an empty key', encodeHep(packet, '')],
    ['that are not HEP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ])('%s are rejected and counted, and their connection is closed', async (_, octets) => {
    const stranger = await socket();
    const closed = untilClosed(stranger);
    stranger.write(octets);
    await closed;
    expect(listener.refused).toBe(1);
    expect(got).toEqual([]);
  });

  it('are not blocked by strangers that connect and send nothing', async () => {
    const engine = await socket();
    engine.write(encodeHepKey(key));
    const strangers = await Promise.all(Array.from({ length: 100 }, () => socket()));
    await expect.poll(() => listener.refused).toBeGreaterThanOrEqual(36);
    engine.write(encodeHep(packet, key));
    await expect.poll(() => got.length).toBe(1);
    expect(strangers).toHaveLength(100);
  });

  it('are not accepted over UDP', async () => {
    const other = createSocket('udp4');
    // The port is free: nothing listens there.
    await new Promise<void>((resolve) => other.bind(listener.port, '127.0.0.1', () => resolve()));
    await new Promise<void>((resolve) => other.close(() => resolve()));
  });
});

describe('copies from a foreign engine', () => {
  beforeEach(() => open(null));

  it('are accepted over UDP and TCP without a key', async () => {
    const other = createSocket('udp4');
    other.send(encodeHep(packet), listener.port, '127.0.0.1');
    (await socket()).write(encodeHep(packet));
    await expect.poll(() => got.length).toBe(2);
    other.send(Buffer.from('no HEP'), listener.port, '127.0.0.1');
    await expect.poll(() => listener.refused).toBe(1);
    other.close();
  });
});

describe('arbitrary HEP input', () => {
  beforeEach(() => open(key));
  const whole = encodeHep(packet, key);
  const mutated = fc
    .array(fc.record({ at: fc.nat({ max: whole.length - 1 }), value: fc.nat({ max: 255 }) }), {
      maxLength: 8,
    })
    .map((changes) => {
      const octets = Buffer.from(whole);
      for (const { at, value } of changes) octets[at] = value;
      return octets;
    });
  const octets = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    mutated,
    fc.tuple(mutated, fc.nat({ max: whole.length })).map(([bytes, end]) => bytes.subarray(0, end)),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.concat([whole.subarray(0, 4), bytes])),
  );

  it('is a packet or nothing, and never an error', () => {
    fc.assert(
      fc.property(octets, (bytes) => {
        const read = decodeHep(bytes);
        if (read) expect(read.payload.length).toBeLessThanOrEqual(bytes.length);
      }),
      { numRuns: 5_000 },
    );
  });

  it('gives the same packets wherever the stream is split, or ends it', () => {
    fc.assert(
      fc.property(fc.array(octets, { maxLength: 5 }), fc.nat({ max: 50 }), (all, step) => {
        const stream = Buffer.concat(all);
        const readIn = (size: number) => {
          const reader = new HepStream();
          const packets: HepPacket[] = [];
          try {
            for (let at = 0; at < stream.length; at += size)
              packets.push(...reader.push(stream.subarray(at, at + size)));
          } catch (error) {
            return { packets: packets.length, error: String(error) };
          }
          return { packets: packets.length, error: null };
        };
        const cut = readIn(step + 1);
        const atOnce = readIn(stream.length + 1);
        expect(cut.error).toBe(atOnce.error);
        if (atOnce.error === null) expect(cut.packets).toBe(atOnce.packets);
      }),
      { numRuns: 1_000 },
    );
  });
});
