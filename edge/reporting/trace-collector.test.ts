import { describe, expect, it } from 'vitest';
import { collectGarbage } from '#shared/give-memory-back.ts';
import type { HepPacket } from '#shared/hep.ts';
import { defaultTraceLimits, TraceCollector } from './trace-collector.ts';

const t0 = Date.UTC(2030, 0, 1);

function packet(changes: Partial<HepPacket> = {}): HepPacket {
  return {
    at: t0 * 1000,
    source: { address: '203.0.113.9', port: 40000 },
    destination: { address: '203.0.113.20', port: 5061 },
    transport: 'tls',
    direction: 'received',
    callId: 'a@pbx',
    payload: Buffer.from('BYE sips:edge SIP/2.0\r\nCall-ID: a@pbx\r\n\r\n'),
    ...changes,
  };
}

describe('TraceCollector', () => {
  it('gives a call the messages that arrived before it was known', () => {
    const collector = new TraceCollector(5061);
    collector.add(packet(), t0);
    collector.claim('call-1', 'a@pbx', t0 + 5);
    expect(collector.take('a@pbx')).toEqual({
      callId: 'call-1',
      truncated: false,
      messages: [
        {
          at: '2030-01-01T00:00:00.000Z',
          direction: 'received',
          local: '203.0.113.20:5061',
          remote: '203.0.113.9:40000',
          transport: 'tls',
          start_line: 'BYE sips:edge SIP/2.0',
          raw: 'BYE sips:edge SIP/2.0\r\nCall-ID: a@pbx\r\n\r\n',
        },
      ],
    });
    expect(collector.take('a@pbx')).toBeNull();
  });

  it('derives the direction from the listener port when the capture lacks it', () => {
    const collector = new TraceCollector(5061);
    collector.claim('call-1', 'a@pbx', t0);
    collector.add(packet({ direction: null }), t0);
    collector.add(
      packet({ direction: null, source: packet().destination, destination: packet().source }),
      t0,
    );
    expect(collector.take('a@pbx')?.messages.map((m) => [m.direction, m.local])).toEqual([
      ['received', '203.0.113.20:5061'],
      ['sent', '203.0.113.20:5061'],
    ]);
  });

  it('reads the Call-ID from the message, also in compact form, when the capture lacks it', () => {
    const collector = new TraceCollector(5061);
    collector.claim('call-1', 'b@pbx', t0);
    collector.add(packet({ callId: null, payload: Buffer.from('BYE x SIP/2.0\r\ni: b@pbx\r\n\r\n') }), t0);
    expect(collector.take('b@pbx')?.messages).toHaveLength(1);
  });

  it('redacts media keys', () => {
    const collector = new TraceCollector(5061);
    collector.claim('call-1', 'a@pbx', t0);
    const sdp = 'm=audio 1 RTP/SAVP 0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:c2VjcmV0|2^31\r\n';
    collector.add(packet({ payload: Buffer.from(`INVITE x SIP/2.0\r\nCall-ID: a@pbx\r\n\r\n${sdp}`) }), t0);
    const raw = collector.take('a@pbx')?.messages[0]?.raw ?? '';
    expect(raw).toContain('REDACTED');
    expect(raw).not.toContain('c2VjcmV0');
  });

  it.each([
    [
      'the key of a rejected offer',
      'c2Vjc2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2Vj',
      'a=crypto:1 AES_256_CM_HMAC_SHA1_80 inline:c2Vjc2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2Vj|2^31',
      'received',
    ],
    [
      'our own digest response',
      '0123456789abcdef0123456789abcdef',
      'Authorization: Digest username="x", response="0123456789abcdef0123456789abcdef", nc=00000001',
      'sent',
    ],
  ] as const)('redacts %s wherever it is repeated, now and later', (_, secret, line, direction) => {
    const collector = new TraceCollector(5061);
    collector.claim('call-1', 'a@pbx', t0);
    const message = (text: string) => Buffer.from(`INVITE x SIP/2.0\r\nCall-ID: a@pbx\r\n${text}\r\n\r\n`);
    const echo = `Reason: SIP;text="${secret.slice(0, 9)} ${secret.slice(9)}"\r\nX-A: ${Buffer.from(secret).toString('hex')}`;
    // Messages of the peer cannot evict our secrets.
    const noise = Array.from({ length: 40 }, (_, n) => `X-B: inline:${String(n).padStart(40, 'n')}`).join(
      '\r\n',
    );
    if (direction === 'sent') collector.add(packet({ payload: message(noise) }), t0);
    collector.add(packet({ direction, payload: message(line) }), t0);
    collector.add(packet({ payload: message(echo) }), t0);
    const now = collector.take('a@pbx')?.messages ?? [];
    collector.add(packet({ payload: message(echo) }), t0);
    const later = collector.take('a@pbx')?.messages ?? [];
    const texts = [...now, ...later].map(({ raw }) => raw.replaceAll(' ', '')).join();
    expect(later).toHaveLength(1);
    expect(texts).not.toContain(secret);
    expect(texts).not.toContain(Buffer.from(secret).toString('hex'));
  });

  it('redacts a secret that a later message gives away, and one that the call is claimed with later', () => {
    const collector = new TraceCollector(5061);
    const [first = '', second = '', third = ''] = ['a', 'b', 'c'].map((letter) => letter.repeat(40));
    const said = (text: string) => Buffer.from(`INFO sips:edge SIP/2.0\r\n\r\n${text}\r\n`);
    collector.claim('call-1', 'a@pbx', t0);
    for (const secret of [first, second]) {
      collector.add(packet({ payload: said(`a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${secret}`) }), t0);
      collector.add(packet({ payload: said(`s=${secret}`) }), t0);
      expect(collector.take('a@pbx')?.messages.at(-1)?.raw).toContain('s=REDACTED');
    }
    collector.claim('call-1', 'a@pbx', t0, [third]);
    collector.add(packet({ payload: said(`s=${first} ${second} ${third}`) }), t0);
    expect(collector.take('a@pbx')?.messages.at(-1)?.raw).toContain('s=REDACTED REDACTED REDACTED');
  });

  it('returns the messages after the end once, and then drops the call', () => {
    const collector = new TraceCollector(5061);
    collector.claim('call-1', 'a@pbx', t0);
    collector.release('a@pbx', t0);
    collector.add(packet(), t0 + 100);
    expect(collector.sweep(t0 + 500)).toMatchObject([
      { callId: 'call-1', messages: [{ direction: 'received' }] },
    ]);
    expect(collector.sweep(t0 + defaultTraceLimits.lingerMs - 1)).toEqual([]);
    collector.add(packet(), t0 + defaultTraceLimits.lingerMs);
    expect(collector.sweep(t0 + defaultTraceLimits.lingerMs)).toMatchObject([{ callId: 'call-1' }]);
    expect(collector.size).toBe(0);
  });

  it('drops messages that no call claims', () => {
    const collector = new TraceCollector(5061);
    collector.add(packet(), t0);
    expect(collector.sweep(t0 + defaultTraceLimits.unclaimedMs)).toEqual([]);
    expect(collector.size).toBe(0);
  });

  it('marks a trace truncated beyond the message limit, and stays bounded', () => {
    const collector = new TraceCollector(5061, {
      ...defaultTraceLimits,
      maxMessagesPerCall: 2,
      maxDialogs: 2,
    });
    collector.claim('call-1', 'a@pbx', t0);
    for (let i = 0; i < 3; i++) collector.add(packet(), t0);
    const trace = collector.take('a@pbx');
    expect(trace?.messages).toHaveLength(2);
    expect(trace?.truncated).toBe(true);
    for (let i = 0; i < 10; i++) collector.add(packet({ callId: `scan-${i}` }), t0);
    expect(collector.size).toBe(2);
    expect(collector.overflowed).toBe(9);
  });

  it('keeps the secrets of a standing call, but not the messages that had them', () => {
    const collector = new TraceCollector(5061);
    const calls = 200;
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let call = 0; call < calls; call++) {
      const callId = `${call}@pbx`;
      const key = `${call}`.padEnd(40, 'k');
      const payload = Buffer.from(
        `INVITE sips:edge SIP/2.0\r\n\r\na=crypto:1 x inline:${key}\r\n${'s'.repeat(20_000)}`,
      );
      collector.claim(`call-${call}`, callId, t0);
      collector.add(packet({ callId, payload }), t0);
      expect(collector.take(callId)?.messages[0]?.raw).not.toContain(key);
    }
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan((calls * 20_000) / 2);
    expect(collector.size).toBe(calls);
  });

  it('keeps no spellings of the secrets of a call that stands', () => {
    const collector = new TraceCollector(5061);
    const calls = 500;
    const keyOf = (call: number) => `${call}`.padEnd(40, 'k');
    const say = (call: number) => {
      const callId = `${call}@pbx`;
      const payload = Buffer.from(`INFO sips:edge SIP/2.0\r\nX-Said: ${keyOf(call)}\r\n\r\n`);
      collector.add(packet({ callId, payload }), t0);
      return collector.take(callId)?.messages[0]?.raw;
    };
    const used = () => {
      collectGarbage();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    for (let call = 0; call < calls; call++)
      collector.claim(`call-${call}`, `${call}@pbx`, t0, [keyOf(call), `${keyOf(call)}-of-the-peer`]);
    const before = used();
    for (let call = 0; call < calls; call++) expect(say(call)).toContain('X-Said: REDACTED');
    expect(used() - before).toBeLessThan(calls * 1_000);
  });
});
