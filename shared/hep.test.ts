import { describe, expect, it } from 'vitest';
import { decodeHep, encodeHep, type HepPacket, HepStream, maxPayload } from '#shared/hep.ts';

const packet: HepPacket = {
  at: 1_893_456_000_123_456,
  source: { address: '203.0.113.9', port: 40112 },
  destination: { address: '127.0.0.1', port: 5061 },
  transport: 'tls',
  direction: 'received',
  callId: 'abc@host',
  payload: Buffer.from('OPTIONS sips:edge SIP/2.0\r\n\r\n'),
};

describe('HEP3', () => {
  it('starts with the magic and its own length', () => {
    const bytes = encodeHep(packet);
    expect(bytes.toString('latin1', 0, 4)).toBe('HEP3');
    expect(bytes.readUInt16BE(4)).toBe(bytes.length);
  });

  it.each([
    ['IPv4', packet],
    ['a packet without a direction and Call-ID', { ...packet, direction: null, callId: null }],
    [
      'a WebSocket message that was sent',
      { ...packet, transport: 'wss' as const, direction: 'sent' as const },
    ],
    [
      'IPv6',
      { ...packet, source: { address: '2001:db8::9:1', port: 1 }, destination: { address: '::1', port: 2 } },
    ],
    [
      'IPv6 without a run of zeros',
      {
        ...packet,
        source: { address: '2001:db8:1:2:3:4:5:6', port: 1 },
        destination: { address: 'fe80::', port: 2 },
      },
    ],
    ['mixed families', { ...packet, destination: { address: '2001:db8::1', port: 5061 } }],
  ])('decodes what was encoded: %s', (_, value) => {
    expect(decodeHep(encodeHep(value))).toEqual(value);
  });

  it('truncates a payload that does not fit in the length field', () => {
    const long = encodeHep({ ...packet, payload: Buffer.alloc(maxPayload + 10, 'x') });
    expect(decodeHep(long)?.payload.length).toBe(maxPayload);
  });

  it('finds the packets in a stream however it is split', () => {
    const bytes = Buffer.concat([encodeHep(packet), encodeHep({ ...packet, callId: 'second' })]);
    for (const size of [1, 3, 7, 50, bytes.length]) {
      const stream = new HepStream();
      const found: HepPacket[] = [];
      for (let at = 0; at < bytes.length; at += size)
        found.push(...stream.push(bytes.subarray(at, at + size)));
      expect(found.map((each) => each.callId)).toEqual(['abc@host', 'second']);
    }
  });

  it('rejects other data', () => {
    expect(() => new HepStream().push(Buffer.from('GET / HTTP/1.1\r\n'))).toThrow('not a HEP3 stream');
  });

  it.each([
    ['not a HEP3 stream', 'GET / HTTP/1.1\r\n'],
    ['HEP3 packet shorter than its header', 'HEP3\0\x05'],
  ])('takes nothing of a stream after the error "%s"', (error, text) => {
    const stream = new HepStream();
    expect(() => stream.push(Buffer.from(text, 'latin1'))).toThrow(error);
    expect(() => stream.push(encodeHep(packet))).toThrow(error);
  });

  it('ignores a packet without addresses', () => {
    const bytes = Buffer.from('HEP3\0\0', 'latin1');
    bytes.writeUInt16BE(6, 4);
    expect(decodeHep(bytes)).toBeNull();
  });
});
