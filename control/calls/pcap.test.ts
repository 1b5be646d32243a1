import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TraceMessage } from '#shared/edge-protocol/calls.ts';
import { redactSip } from '#shared/sip-redaction.ts';
import { writePcap } from './pcap.ts';

/** tshark's value for a correct checksum. */
const good = '1';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pcap-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Fields of the SIP messages that tshark finds, one row per message. */
function dissect(messages: readonly TraceMessage[], fields: readonly string[]): string[][] {
  const file = join(folder, 'trace.pcap');
  writeFileSync(file, writePcap(messages));
  const checks = ['-o', 'ip.check_checksum:TRUE', '-o', 'tcp.check_checksum:TRUE'];
  const columns = fields.flatMap((field) => ['-e', field]);
  const text = execFileSync('tshark', ['-r', file, ...checks, '-Y', 'sip', '-T', 'fields', ...columns], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));
}

function message(changes: Partial<TraceMessage> & { readonly start_line: string }, body = ''): TraceMessage {
  const head = [
    changes.start_line,
    'Via: SIP/2.0/TLS pbx.example.com;branch=z9hG4bK74bf9',
    'From: <sip:+14155550123@pbx.example.com>;tag=9fxced76sl',
    'To: <sip:+14155550100@edge.example.com>',
    'Call-ID: a84b4c76e66710@pbx.example.com',
    'CSeq: 1 INVITE',
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return {
    at: '2030-01-01T00:00:00.125Z',
    direction: 'received',
    local: '203.0.113.20:5061',
    remote: '198.51.100.9:40312',
    transport: 'tls',
    raw: `${head.join('\r\n')}\r\n\r\n${body}`,
    ...changes,
  };
}

const sdp = [
  'v=0',
  'o=- 1 1 IN IP4 198.51.100.9',
  's=-',
  'c=IN IP4 198.51.100.9',
  't=0 0',
  'm=audio 20000 RTP/SAVP 0',
  'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^20|1:4',
  '',
].join('\r\n');

const invite = 'INVITE sip:+14155550100@edge.example.com SIP/2.0';

describe('a capture file of a SIP trace, read by tshark', () => {
  it('has every message with its time, its addresses and correct checksums', () => {
    const rows = dissect(
      [
        message({ start_line: invite }, sdp),
        message({ start_line: 'SIP/2.0 100 Trying', direction: 'sent', at: '2030-01-01T00:00:00.126Z' }),
        message({ start_line: 'SIP/2.0 200 OK', direction: 'sent', at: '2030-01-01T00:00:01.500Z' }, sdp),
      ],
      [
        'frame.time_epoch',
        'ip.src',
        'tcp.srcport',
        'ip.dst',
        'tcp.dstport',
        'sip.Method',
        'sip.Status-Code',
        'ip.checksum.status',
        'tcp.checksum.status',
      ],
    );
    expect(rows.map(([time = '', ...row]) => [Date.parse(time) || Number(time) * 1000, ...row])).toEqual([
      [
        Date.UTC(2030, 0, 1, 0, 0, 0, 125),
        '198.51.100.9',
        '40312',
        '203.0.113.20',
        '5060',
        'INVITE',
        '',
        good,
        good,
      ],
      [
        Date.UTC(2030, 0, 1, 0, 0, 0, 126),
        '203.0.113.20',
        '5060',
        '198.51.100.9',
        '40312',
        '',
        '100',
        good,
        good,
      ],
      [
        Date.UTC(2030, 0, 1, 0, 0, 1, 500),
        '203.0.113.20',
        '5060',
        '198.51.100.9',
        '40312',
        '',
        '200',
        good,
        good,
      ],
    ]);
  });

  it('keeps bodies readable after redaction has shortened them', () => {
    const [first] = [message({ start_line: invite }, sdp)];
    const rows = dissect(
      [
        { ...first, raw: redactSip(first?.raw ?? '') } as TraceMessage,
        message({ start_line: 'ACK sip:edge.example.com SIP/2.0' }),
      ],
      ['sip.Method', 'sdp.media'],
    );
    expect(rows).toEqual([
      ['INVITE', 'audio 20000 RTP/SAVP 0'],
      ['ACK', ''],
    ]);
  });

  it('advances sequence numbers in each direction, so that no byte seems lost', () => {
    const all = Array.from({ length: 6 }, (_, index) =>
      message({
        start_line: index % 2 === 0 ? invite : 'SIP/2.0 180 Ringing',
        direction: index % 2 === 0 ? 'received' : 'sent',
      }),
    );
    const flags = dissect(all, ['frame.number', 'tcp.analysis.flags']);
    expect(flags).toEqual(['1', '2', '3', '4', '5', '6'].map((number) => [number, '']));
  });

  it('splits a 60 kB message into segments that tshark reassembles', () => {
    const body = `v=0\r\n${'a=x:0123456789\r\n'.repeat(4000)}`;
    const rows = dissect(
      [
        message({ start_line: invite }, body),
        message({ start_line: 'SIP/2.0 413 Request Entity Too Large', direction: 'sent' }),
      ],
      ['sip.Method', 'sip.Status-Code', 'sip.Content-Length'],
    );
    expect(rows).toEqual([
      ['INVITE', '', String(body.length)],
      ['', '413', '0'],
    ]);
  });

  it('writes IPv6 packets, and is recognized as SIP when neither port is 5060', () => {
    const rows = dissect(
      [
        message({ start_line: invite, local: '[2001:db8::20]:7061', remote: '[2001:db8:0:1::ffff]:40312' }),
        message({ start_line: invite, local: '[::ffff:192.0.2.1]:5061', remote: '192.0.2.9:5061' }),
      ],
      ['ipv6.src', 'ipv6.dst', 'sip.Method', 'tcp.checksum.status'],
    );
    expect(rows).toEqual([
      ['2001:db8:0:1::ffff', '2001:db8::20', 'INVITE', good],
      ['::ffff:192.0.2.9', '::ffff:192.0.2.1', 'INVITE', good],
    ]);
  });
});
