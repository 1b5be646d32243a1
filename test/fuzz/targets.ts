/** The fuzz targets, their seed inputs, and their invariants for any input. */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { decodeHep, encodeHep, HepStream } from '#shared/hep.ts';
import { redactSip } from '#shared/sip-redaction.ts';
import { CallRefused } from '../../edge/call/refused.ts';
import { parseAppMessage } from '../../edge/engine/drachtio-port/app-message.ts';
import { encodeFrame, FrameReader, FramingError } from '../../edge/engine/drachtio-port/frame.ts';
import { parameter, parseAddress, setParameter, splitList } from '../../edge/engine/message/address.ts';
import { parseCSeq } from '../../edge/engine/message/cseq.ts';
import { type FrameEvent, StreamFramer } from '../../edge/engine/message/framing.ts';
import { answerableRequest, parseMessage } from '../../edge/engine/message/parse.ts';
import { serializeMessage } from '../../edge/engine/message/serialize.ts';
import { equalUris, formatUri, parseUri } from '../../edge/engine/message/uri.ts';
import { validateRequest, validateResponse } from '../../edge/engine/message/validate.ts';
import { parseVia } from '../../edge/engine/message/via.ts';
import { codeOf, digitOf } from '../../edge/media/dtmf/event.ts';
import { isRtcp, parseRtp, RtpView } from '../../edge/media/rtp/packet.ts';
import { negotiateAnswer } from '../../edge/media/sdp/negotiate.ts';
import { formatSdp, parseSdp } from '../../edge/media/sdp/sdp.ts';
import { inboundVariables, outboundHeaders } from '../../edge/signaling/invite/header-mapping.ts';
import { readRefer } from '../../edge/signaling/refer/refer-to.ts';
import { partsOf } from '../../edge/signaling/session/multipart.ts';
import { readSession } from '../../edge/signaling/session/session-timer.ts';
import { parseReplaces } from '../../edge/signaling/srf/replaces.ts';
import { parseResponse } from '../../edge/trunks/discovery/sip-response.ts';

export interface Target {
  /** Seed inputs. */
  readonly corpus: () => readonly Buffer[];
  /** Tokens with a meaning for the code. */
  readonly words: readonly string[];
  /** @throws when an invariant is violated */
  readonly check: (input: Buffer) => void;
}

const sipWords = [
  ...[
    '\r\n',
    '\r\n\r\n',
    '\r',
    '\n',
    ': ',
    ';',
    ',',
    '<sip:a@b>',
    '<',
    '>',
    '"',
    '\\',
    'SIP/2.0',
    ' SIP/2.0\r\n',
  ],
  ...[
    'Content-Length: ',
    'l: 5\r\n',
    'Via: SIP/2.0/TLS a;branch=z9hG4bK1\r\n',
    'v: ',
    'f: ',
    't: ',
    'i: ',
    'CSeq: 1 INVITE\r\n',
  ],
  ...[
    'Contact: *\r\n',
    'sips:',
    'tel:+1',
    '[::1]',
    '[',
    ';lr',
    ';tag=',
    ';transport=udp',
    '%00',
    '%zz',
    '?Replaces=',
    '\r\n ',
    'INVITE ',
  ],
];

function files(folder: string): Buffer[] {
  const url = new URL(`../testdata/${folder}/`, import.meta.url);
  return readdirSync(url)
    .filter((file) => /\.(dat|sip)$/.test(file))
    .map((file) => readFileSync(new URL(file, url)));
}

function messages(): Buffer[] {
  return ['rfc4475', 'rfc5118'].flatMap(files);
}

/** The input, split at positions that it contains. */
function pieces(input: Buffer): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0; at < input.length; ) {
    const length = 1 + ((input[at] ?? 0) % 37);
    cut.push(Buffer.from(input.subarray(at, at + length)));
    at += length;
  }
  return cut;
}

/** In a malformed message over the limit, the split decides which fault is found first. */
function described(event: FrameEvent): string {
  if (event.kind === 'message') return event.bytes.toString('latin1');
  return event.kind;
}

function sip(input: Buffer): void {
  const limits = { maxBytes: 20_000 };
  const framer = new StreamFramer(limits);
  const cut = pieces(input).flatMap((piece) => framer.push(piece));
  const whole = new StreamFramer(limits).push(input);
  deepStrictEqual(cut.map(described), whole.map(described));
  ok(framer.pendingBytes <= limits.maxBytes + 1000, `${framer.pendingBytes} octets are kept`);
  for (const event of whole) {
    if (event.kind === 'error') answerableRequest(event.partial);
    if (event.kind === 'message') message(event.bytes);
  }
  message(input);
}

function message(bytes: Buffer): void {
  const result = parseMessage(bytes);
  if (!result.ok) return;
  const { message: read } = result;
  if (read.kind === 'request') validateRequest(read);
  else validateResponse(read);
  for (let i = 0; i < read.headers.length; i++) {
    const value = read.headers.valueAt(i);
    parseCSeq(value);
    parameter(setParameter(value, 'tag', 'x'), 'tag');
    for (const element of splitList(value)) {
      parseVia(element);
      const address = parseAddress(element);
      if (!address) continue;
      equalUris(address.uri, 'sip:user@example.com');
      const uri = parseUri(address.uri);
      if (uri) deepStrictEqual(parseUri(formatUri(uri)), uri);
    }
  }
  const written = serializeMessage(read);
  // Its new Content-Length may exceed the limit.
  const again = parseMessage(written, { maxBytes: written.length, maxHeaders: 129 });
  ok(again.ok, `what was written cannot be read: ${written.toString('latin1')}`);
  deepStrictEqual(serializeMessage(again.message).toString('latin1'), written.toString('latin1'));
  redactSip(bytes.toString('latin1'));
}

/** A rejection is a valid result; any other error is not. */
function refusing<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof CallRefused) return null;
    throw error;
  }
}

const offer = [
  'v=0',
  'o=- 1 1 IN IP4 192.0.2.1',
  's=-',
  'c=IN IP4 192.0.2.1',
  't=0 0',
  'a=group:BUNDLE 0',
  'm=audio 30000 RTP/SAVP 0 8 96 101',
  'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkw|2^20|1:4',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:96 opus/48000/2',
  'a=fmtp:96 useinbandfec=1',
  'a=rtpmap:101 telephone-event/8000',
  'a=fmtp:101 0-16',
  'a=rtcp:30001 IN IP4 192.0.2.1',
  'a=rtcp-mux',
  'a=ptime:20',
  'a=sendrecv',
  'm=video 0 RTP/AVP 31',
  'b=AS:64',
  '',
].join('\r\n');

function sdp(input: Buffer): void {
  const text = input.toString('latin1');
  const read = refusing(() => parseSdp(text));
  if (!read) return;
  const written = formatSdp(read);
  deepStrictEqual(formatSdp(parseSdp(written)), written);
  const answer = refusing(() =>
    negotiateAnswer(read, {
      address: '192.0.2.2',
      rtpPort: 10_000,
      codecs: ['PCMU', 'PCMA', 'Opus'],
      cryptoKey: 'MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkw',
      sessionId: '1',
      previous: null,
    }),
  );
  // RFC 3264 section 6: as many streams as the offer has.
  if (answer) ok(parseSdp(answer.answer).media.length === read.media.length, answer.answer);
}

function rtp(input: Buffer): void {
  const view = parseRtp(input, new RtpView());
  isRtcp(input);
  if (!view) return;
  ok(view.payloadStart >= 12 && view.payloadStart <= view.payloadEnd && view.payloadEnd <= input.length);
  const code = input[view.payloadStart];
  const digit = code === undefined ? undefined : digitOf(code);
  if (digit !== undefined) ok(codeOf(digit) === code);
}

function hep(input: Buffer): void {
  const packet = decodeHep(input);
  if (packet) {
    const { payload, callId, ...rest } = packet;
    const again = decodeHep(encodeHep(packet));
    ok(again !== null, 'what was written cannot be read');
    // An out-of-range port or time is not kept; a Call-ID is cut at 255 octets.
    deepStrictEqual(
      { ...again, payload: again.payload.toString('hex') },
      { ...rest, callId: callId?.slice(0, 255) ?? null, payload: payload.toString('hex') },
    );
  }
  const read = (chunks: readonly Buffer[]) => {
    const stream = new HepStream();
    const found: unknown[] = [];
    try {
      for (const chunk of chunks) found.push(...stream.push(chunk));
    } catch (error) {
      ok(error instanceof Error && /HEP3/.test(error.message), String(error));
    }
    return found.length;
  };
  const [whole, cut] = [read([input]), read(pieces(input))];
  // Complete messages before the fault are only returned if the input was split.
  ok(cut >= whole, `${whole} packets at once, ${cut} in pieces`);
}

function frames(input: Buffer): void {
  const read = (chunks: readonly Buffer[]) => {
    const found: string[] = [];
    const reader = new FrameReader(4000, {
      frame: ({ tokens, sip: text }) => {
        found.push(`${tokens.join('|')} ${text.toString('latin1')}`);
        parseAppMessage(text);
      },
      oversize: (_id, bytes) => found.push(`oversize ${bytes}`),
    });
    try {
      for (const chunk of chunks) reader.push(chunk);
    } catch (error) {
      if (!(error instanceof FramingError)) throw error;
      found.push('broken');
    }
    return found;
  };
  deepStrictEqual(read(pieces(input)), read([input]));
}

/** Lines `name: value`: headers as drachtio-srf gives them. */
function fields(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) found[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1);
  }
  return found;
}

function headers(input: Buffer): void {
  const text = input.toString('latin1');
  const received = fields(text);
  const [first = '', second = ''] = text.split('\n');
  const mappings = [
    { type: 'custom', key: first, value: second },
    { type: 'custom', key: 'x-a', value: text, passthrough: true },
    { type: 'uui', target: 'uui', encoding: 'hex', content: text },
  ] as const;
  const variables = inboundVariables(received, mappings);
  const sent = outboundHeaders(mappings, { ...variables, [first]: text });
  for (const [name, value] of Object.entries(sent.headers)) {
    ok(!/[\r\n\0]/.test(name + value), `a line end goes out in ${JSON.stringify(name)}`);
  }
  const refer = readRefer(received);
  if (refer.ok) ok(!/[\r\n\0]/.test(refer.target + (refer.replaces ?? '')));
  parseReplaces(text);
  readSession(received);
  partsOf(received['content-type'] ?? '', text);
}

const hepPacket = encodeHep({
  at: 1_900_000_000_000_000,
  source: { address: '192.0.2.1', port: 5061 },
  destination: { address: '192.0.2.2', port: 5061 },
  transport: 'tls',
  direction: 'sent',
  callId: 'a@b',
  payload: Buffer.from('OPTIONS sip:a SIP/2.0\r\n\r\n'),
});

const binary = ['\0', '\xff', '\x80', '\0\0', '\xff\xff', '\x01\x00\x00\x00', 'HEP3', '\x00\x06'];

export const targets: Readonly<Record<string, Target>> = {
  sip: { corpus: messages, words: sipWords, check: sip },
  sdp: {
    corpus: () => [Buffer.from(offer), Buffer.from(offer.replaceAll('\r\n', '\n'))],
    words: [
      '\r\n',
      'a=',
      'm=audio 9 RTP/SAVP 0\r\n',
      'c=IN IP6 ::1\r\n',
      'a=crypto:',
      '|2^31|1:1',
      'a=rtpmap:',
      'a=inactive\r\n',
      'RTP/AVP',
      ' 0 8',
      '/2',
      'a=fmtp:',
    ],
    check: sdp,
  },
  rtp: {
    corpus: () => [
      Buffer.from('80650001000000010000000205a003c0', 'hex'),
      Buffer.from('b1e0000100000001000000020000000300000001deadbeef000000010102030400000004', 'hex'),
    ],
    words: binary,
    check: rtp,
  },
  hep: { corpus: () => [hepPacket, Buffer.concat([hepPacket, hepPacket])], words: binary, check: hep },
  frames: {
    corpus: () => [
      encodeFrame('1|authenticate|s|', null),
      Buffer.concat([encodeFrame('2|route|invite', null), encodeFrame('3|sip||id', messages()[0] ?? null)]),
    ],
    words: ['#', '|', '10#', '0#', '9999999999#', '5000#', '\r\n', 'sip', 'ping', ...sipWords.slice(0, 12)],
    check: frames,
  },
  headers: {
    corpus: () => [
      Buffer.from(
        'X-Account: 5\nrefer-to: <sip:a@b:5061;method=INVITE?Replaces=a%40b%3Bto-tag%3D1>\nsession-expires: 90;refresher=uac\nuser-to-user: 4142;encoding=hex',
      ),
      Buffer.from(
        'content-type: multipart/mixed;boundary=x\n--x\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n--x--',
      ),
      Buffer.from('a@b;to-tag=1;from-tag=2;early-only'),
    ],
    words: [...sipWords, '%0d%0a', 'boundary="', '--x\r\n', 'Replaces=', 'refer-to: ', 'encoding=hex'],
    check: headers,
  },
  discovery: {
    corpus: () => [
      Buffer.from(
        'SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP a;branch=z9hG4bK1\r\nServer: x\r\nAllow: INVITE, BYE\r\nl: 0\r\n\r\n',
      ),
    ],
    words: sipWords,
    check: (input) => void parseResponse(input.toString('latin1')),
  },
};
