/**
 * Messages per second of our parser and serializer against drachtio-srf's, in one process and one run, on the
 * INVITE of a PBX with SRTP. `node test/bench/parser.bench.ts` prints the table.
 */
import { createRequire } from 'node:module';
import { StreamFramer } from '../../edge/engine/message/framing.ts';
import type { SipMessage } from '../../edge/engine/message/message.ts';
import { parseMessage } from '../../edge/engine/message/parse.ts';
import { serializeMessage } from '../../edge/engine/message/serialize.ts';
import { validateRequest } from '../../edge/engine/message/validate.ts';
import { type Column, grouped, markdownTable } from '../../scripts/bench/table.ts';

export interface ParserBenchRow {
  readonly what: string;
  readonly ours: number;
  /** Null where drachtio-srf has no counterpart. */
  readonly drachtioSrf: number | null;
}

const SDP = `v=0
o=- 1815849 0 IN IP4 198.51.100.24
s=Asterisk
c=IN IP4 198.51.100.24
t=0 0
m=audio 16552 RTP/SAVP 0 8 111 101
a=rtpmap:0 PCMU/8000
a=rtpmap:8 PCMA/8000
a=rtpmap:111 opus/48000/2
a=fmtp:111 useinbandfec=1
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-16
a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz
a=ptime:20
a=maxptime:150
a=sendrecv
`.replaceAll('\n', '\r\n');

const HEAD = `INVITE sip:+14155550100@edge.example.com:5061;transport=tls SIP/2.0
Via: SIP/2.0/TLS 198.51.100.24:5061;rport;branch=z9hG4bKPj5d2f7f0e-1f57-4c1e-9c55-8f4a1f0ab7a2;alias
From: "Front Desk" <sip:+14155550123@198.51.100.24>;tag=9a4a1d1e-5f4e-4f26-8d6c-55d9f7c16a55
To: <sip:+14155550100@edge.example.com>
Contact: <sip:asterisk@198.51.100.24:5061;transport=TLS>
Call-ID: 0f5e3f0a-3a64-4a62-9bd2-3f3d61a5d3ff
CSeq: 21573 INVITE
Allow: OPTIONS, REGISTER, SUBSCRIBE, NOTIFY, PUBLISH, INVITE, ACK, BYE, CANCEL, UPDATE, PRACK, MESSAGE, REFER
Supported: 100rel, timer, replaces, norefersub, histinfo
Session-Expires: 1800
Min-SE: 90
P-Asserted-Identity: "Front Desk" <sip:+14155550123@198.51.100.24>
Max-Forwards: 70
User-Agent: Asterisk PBX 20.5.2
Content-Type: application/sdp
Content-Length: ${SDP.length}

`.replaceAll('\n', '\r\n');

const INVITE = Buffer.from(HEAD + SDP, 'latin1');
const ROUNDS = 7;
const ROUND_MS = 150;

interface DrachtioParser {
  parseSipMessage(text: string, lazy: boolean): object;
  stringifySipMessage(message: object): string;
}

function isDrachtioParser(value: unknown): value is DrachtioParser {
  return (
    typeof value === 'object' &&
    value !== null &&
    'parseSipMessage' in value &&
    typeof value.parseSipMessage === 'function' &&
    'stringifySipMessage' in value &&
    typeof value.stringifySipMessage === 'function'
  );
}

function loadDrachtioParser(): DrachtioParser {
  const loaded: unknown = createRequire(import.meta.url)('drachtio-srf/lib/sip-parser/parser.js');
  if (!isDrachtioParser(loaded)) throw new Error('drachtio-srf keeps its parser elsewhere now');
  return loaded;
}

/** Runs per second of one round. The sum of what `work` returns keeps it from being optimized away. */
function rate(work: () => number): number {
  const start = process.hrtime.bigint();
  const end = start + BigInt(ROUND_MS) * 1_000_000n;
  let runs = 0;
  let sum = 0;
  let now = start;
  while (now < end) {
    for (let i = 0; i < 200; i++) sum += work();
    runs += 200;
    now = process.hrtime.bigint();
  }
  if (sum <= 0) throw new Error('the parser returned nothing');
  return (runs * 1e9) / Number(now - start);
}

/** The median of alternating rounds, so that a busy machine slows all equally. */
function compare(works: readonly (() => number)[]): number[] {
  const rates = works.map((): number[] => []);
  for (const work of works) rate(work);
  for (let round = 0; round < ROUNDS; round++) works.forEach((work, i) => void rates[i]?.push(rate(work)));
  return rates.map((list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0);
}

function parsed(bytes: Buffer): SipMessage {
  const result = parseMessage(bytes);
  if (!result.ok) throw new Error(result.reason);
  return result.message;
}

export function runParserBench(): ParserBenchRow[] {
  const drachtio = loadDrachtioParser();
  const ourMessage = parsed(INVITE);
  const theirMessage = drachtio.parseSipMessage(INVITE.toString('utf8'), true);
  const framer = new StreamFramer();

  const [parseOurs = 0, parseTheirs = 0] = compare([
    () => parsed(INVITE).headers.length,
    () => Object.keys(drachtio.parseSipMessage(INVITE.toString('utf8'), true)).length,
  ]);
  const [writeOurs = 0, writeTheirs = 0] = compare([
    () => serializeMessage(ourMessage).length,
    () => Buffer.from(drachtio.stringifySipMessage(theirMessage), 'utf8').length,
  ]);
  const [wire = 0] = compare([
    () => {
      let accepted = 0;
      for (const event of framer.push(INVITE)) {
        if (event.kind !== 'message') throw new Error(event.kind);
        const message = parsed(event.bytes);
        if (message.kind !== 'request' || validateRequest(message) !== null) throw new Error('rejected');
        accepted++;
      }
      return accepted;
    },
  ]);
  return [
    { what: `parse an INVITE of ${INVITE.length} octets`, ours: parseOurs, drachtioSrf: parseTheirs },
    { what: 'serialize it', ours: writeOurs, drachtioSrf: writeTheirs },
    { what: 'frame, parse and validate it', ours: wire, drachtioSrf: null },
  ];
}

/** The rows as a Markdown table. */
export function formatParserBench(rows: readonly ParserBenchRow[]): string {
  const number = (value: number) => grouped(Math.round(value));
  const columns: Column<ParserBenchRow>[] = [
    ['operation', ({ what }) => what],
    ['ours, messages/s', ({ ours }) => number(ours)],
    ['drachtio-srf, messages/s', ({ drachtioSrf }) => (drachtioSrf === null ? '' : number(drachtioSrf))],
    ['ratio', ({ ours, drachtioSrf }) => (drachtioSrf ? `${(ours / drachtioSrf).toFixed(1)} times` : '')],
  ];
  return markdownTable(columns, rows);
}

if (import.meta.main) process.stdout.write(`${formatParserBench(runParserBench())}\n`);
