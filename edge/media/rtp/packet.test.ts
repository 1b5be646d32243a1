import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRtcp, parseRtp, RtpView, RtpWriter } from './packet.ts';

const bytes = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('parseRtp', () => {
  const packets: [string, string, object][] = [
    [
      'a plain packet',
      '80 00 1234 00000064 cafebabe aabb',
      {
        payloadType: 0,
        marker: false,
        sequence: 0x1234,
        timestamp: 100,
        ssrc: 0xcafebabe,
        payloadStart: 12,
        payloadEnd: 14,
      },
    ],
    [
      'the marker bit',
      '80 e5 ffff ffffffff 00000001 aa',
      { payloadType: 101, marker: true, sequence: 65535, timestamp: 4294967295 },
    ],
    [
      'contributing sources',
      '82 00 0001 00000000 00000001 11111111 22222222 aa',
      { payloadStart: 20, payloadEnd: 21 },
    ],
    [
      'a header extension',
      '90 00 0001 00000000 00000001 bede0001 10ff0000 aa',
      { payloadStart: 20, payloadEnd: 21 },
    ],
    [
      'an empty header extension',
      '90 00 0001 00000000 00000001 bede0000 aa',
      { payloadStart: 16, payloadEnd: 17 },
    ],
    ['padding', 'a0 00 0001 00000000 00000001 aabb 000003', { payloadStart: 12, payloadEnd: 14 }],
    [
      'sources, extension and padding together',
      'b1 00 0001 00000000 00000001 11111111 bede0001 00000000 aa 02 02',
      { payloadStart: 24, payloadEnd: 25 },
    ],
    ['no payload', '80 00 0001 00000000 00000001', { payloadStart: 12, payloadEnd: 12 }],
  ];
  it.each(packets)('reads %s', (_, hex, expected) => {
    expect(parseRtp(bytes(hex), new RtpView())).toMatchObject(expected);
  });

  it.each([
    ['nothing', ''],
    ['11 octets', '80 00 0001 00000000 000000'],
    ['version 1', '40 00 0001 00000000 00000001 aa'],
    ['STUN', '0001 0000 2112a442 000000000000000000000000'],
    ['fewer sources than it counts', '8f 00 0001 00000000 00000001 aa'],
    ['half an extension header', '90 00 0001 00000000 00000001 bede'],
    ['an extension longer than the packet', '90 00 0001 00000000 00000001 bede0002 00000000'],
    ['padding of length 0', 'a0 00 0001 00000000 00000001 aa 00'],
    ['more padding than payload', 'a0 00 0001 00000000 00000001 aa 03'],
  ])('rejects %s', (_, hex) => {
    expect(parseRtp(bytes(hex), new RtpView())).toBeNull();
  });

  it('reads what RtpWriter wrote', () => {
    const fields = fc.record({
      ssrc: fc.nat(2 ** 32 - 1),
      sequence: fc.nat(65535),
      timestamp: fc.nat(2 ** 32 - 1),
      payloadType: fc.nat(127),
      marker: fc.boolean(),
      payload: fc.uint8Array({ maxLength: 300 }),
    });
    fc.assert(
      fc.property(fields, ({ ssrc, sequence, timestamp, payloadType, marker, payload }) => {
        const writer = new RtpWriter(ssrc, sequence, timestamp);
        writer.payload.set(payload);
        const packet = writer.seal(payload.length, payloadType, marker);
        const view = parseRtp(packet, new RtpView());
        expect(view).toMatchObject({ ssrc, sequence, timestamp, payloadType, marker });
        expect(packet.subarray(view?.payloadStart, view?.payloadEnd)).toEqual(Buffer.from(payload));
      }),
    );
  });
});

describe('RtpWriter', () => {
  it('counts packets, advances time and wraps both', () => {
    const writer = new RtpWriter(1, 65535, 2 ** 32 - 160);
    const view = new RtpView();
    expect(parseRtp(writer.seal(0, 0, true), view)).toMatchObject({
      sequence: 65535,
      timestamp: 2 ** 32 - 160,
    });
    writer.advance(160);
    expect(parseRtp(writer.seal(0, 0, false), view)).toMatchObject({ sequence: 0, timestamp: 0 });
    expect(parseRtp(writer.seal(0, 101, false, 4711), view)).toMatchObject({ sequence: 1, timestamp: 4711 });
    expect(writer.timestamp).toBe(0);
  });
});

it('distinguishes RTCP from RTP on a shared port', () => {
  expect(isRtcp(bytes('80c8 0006'))).toBe(true);
  expect(isRtcp(bytes('81c9 0007'))).toBe(true);
  expect(isRtcp(bytes('8000 0001'))).toBe(false);
  expect(isRtcp(bytes('80e5 0001'))).toBe(false);
  expect(isRtcp(bytes(''))).toBe(false);
});
