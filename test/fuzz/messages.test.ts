import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  formatAddress,
  parameter,
  parseAddress,
  setParameter,
  splitList,
} from '../../edge/engine/message/address.ts';
import { parseCSeq } from '../../edge/engine/message/cseq.ts';
import { type FrameEvent, StreamFramer } from '../../edge/engine/message/framing.ts';
import { HeaderList, headerKey } from '../../edge/engine/message/headers.ts';
import type { SipMessage } from '../../edge/engine/message/message.ts';
import { answerableRequest, parseMessage } from '../../edge/engine/message/parse.ts';
import { serializeMessage } from '../../edge/engine/message/serialize.ts';
import { equalUris, formatUri, parseUri } from '../../edge/engine/message/uri.ts';
import { validateRequest, validateResponse } from '../../edge/engine/message/validate.ts';
import { parseVia } from '../../edge/engine/message/via.ts';
import { anyMessage, RUNS } from './messages.ts';

const SAMPLES = ['rfc4475', 'rfc5118'].flatMap((folder) => {
  const url = new URL(`../testdata/${folder}/`, import.meta.url);
  return readdirSync(url)
    .filter((file) => /\.(dat|sip)$/.test(file))
    .map((file) => readFileSync(new URL(file, url)));
});

function plain(message: SipMessage) {
  const { headers: _headers, body, ...start } = message;
  return { ...start, fields: fieldsOf(message), body: body.toString('latin1') };
}

function fieldsOf({ headers }: SipMessage): [name: string, value: string][] {
  return Array.from({ length: headers.length }, (_, i) => [headers.nameAt(i), headers.valueAt(i)]);
}

function described(event: FrameEvent): string {
  if (event.kind === 'message') return event.bytes.toString('latin1');
  return event.kind === 'error'
    ? `${event.status} ${event.reason} ${event.partial?.toString('latin1')}`
    : event.kind;
}

/** Cuts `bytes` at the given fractions of its length. */
function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, i) => Buffer.from(bytes.subarray(at[i], end)));
}

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

test('a message is the same after writing and parsing', () => {
  fc.assert(
    fc.property(anyMessage, (message) => {
      const result = parseMessage(serializeMessage(message));
      expect(result.ok && plain(result.message)).toEqual(plain(message));
    }),
    RUNS,
  );
});

/** How a line may be written. */
const style = fc.constantFrom(': ', ': ', ': ', ':', ' : ', ':  ', ':\t', ': \r\n ');
const trailing = fc.constantFrom('', '', '', ' ', '\t');

test('a message that was read is written as one that was put together from its fields', () => {
  const usual = fc.constant<[string, string][]>([[': ', '']]);
  const styles = fc.oneof(usual, fc.array(fc.tuple(style, trailing), { minLength: 1, maxLength: 9 }));
  fc.assert(
    fc.property(anyMessage, styles, fc.nat(), (message, written, pick) => {
      const [head = '', body = ''] = splitOnce(serializeMessage(message).toString('latin1'), '\r\n\r\n');
      const [start, ...lines] = head.split('\r\n');
      const restyled = lines.map((line, i) => {
        const [name, value] = splitOnce(line, ': ');
        const [between, after] = written[i % written.length] ?? [': ', ''];
        return `${name}${between}${value}${after}`;
      });
      const result = parseMessage(Buffer.from([start, ...restyled, '', body].join('\r\n'), 'latin1'));
      if (!result.ok) throw new Error(result.reason);
      const read = result.message;
      const putTogether = (): SipMessage => ({ ...read, headers: new HeaderList(fieldsOf(read)) });
      expect(serializeMessage(read).toString('latin1')).toBe(
        serializeMessage(putTogether()).toString('latin1'),
      );
      read.headers.replaceFirst(read.headers.nameAt(pick % read.headers.length), 'another value');
      expect(serializeMessage(read).toString('latin1')).toBe(
        serializeMessage(putTogether()).toString('latin1'),
      );
      read.headers.remove(read.headers.nameAt(pick % read.headers.length));
      expect(serializeMessage(read).toString('latin1')).toBe(
        serializeMessage(putTogether()).toString('latin1'),
      );
    }),
    RUNS,
  );
});

function splitOnce(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}

test('a stream has the same messages and keepalives with any split', () => {
  const stream = fc.array(fc.oneof(anyMessage.map(serializeMessage), fc.constant(Buffer.from('\r\n'))), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(stream, cuts, (parts, at) => {
      const bytes = Buffer.concat(parts);
      const framer = new StreamFramer();
      const events = split(bytes, at).flatMap((chunk) => framer.push(chunk));
      expect(events.map(described)).toEqual(new StreamFramer().push(bytes).map(described));
      const messages = events.filter(({ kind }) => kind === 'message');
      expect(messages).toHaveLength(parts.filter((part) => part.length > 2).length);
      expect(framer.pendingBytes).toBe(0);
    }),
    RUNS,
  );
});

const mutations = fc.array(
  fc.record({
    how: fc.constantFrom('replace', 'insert', 'delete', 'repeat'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    octet: fc.oneof(
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom(13, 10, 32, 34, 44, 58, 59, 60, 61, 62),
    ),
    span: fc.integer({ min: 1, max: 40 }),
  }),
  { minLength: 1, maxLength: 8 },
);

function mutated(
  bytes: Buffer,
  list: readonly { how: string; at: number; octet: number; span: number }[],
): Buffer {
  let result = Buffer.from(bytes);
  for (const { how, at, octet, span } of list) {
    const position = Math.floor(at * result.length);
    const before = result.subarray(0, position);
    const piece = result.subarray(position, position + span);
    const after = result.subarray(position + span);
    if (how === 'delete') result = Buffer.concat([before, after]);
    else if (how === 'repeat') result = Buffer.concat([before, piece, piece, after]);
    else if (how === 'insert') result = Buffer.concat([before, Buffer.from([octet]), piece, after]);
    else result[position] = octet;
  }
  return result;
}

/** All parsers of peer input. */
function readAll(message: SipMessage): void {
  if (message.kind === 'request') validateRequest(message);
  else validateResponse(message);
  const { headers } = message;
  for (let i = 0; i < headers.length; i++) {
    const value = headers.valueAt(i);
    parseCSeq(value);
    parameter(setParameter(value, 'tag', 'x'), 'tag');
    for (const element of splitList(value)) {
      parseVia(element);
      const address = parseAddress(element);
      if (address) equalUris(address.uri, 'sip:user@example.com');
    }
  }
}

test('corrupted messages never throw, and give the same result with any split', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SAMPLES), mutations, cuts, (sample, list, at) => {
      const bytes = mutated(sample, list);
      const framer = new StreamFramer({ maxBytes: 4000 });
      const events = split(bytes, at).flatMap((chunk) => framer.push(chunk));
      expect(events.map(described)).toEqual(new StreamFramer({ maxBytes: 4000 }).push(bytes).map(described));
      for (const event of events) {
        if (event.kind === 'error') answerableRequest(event.partial);
        if (event.kind !== 'message') continue;
        const result = parseMessage(event.bytes);
        if (result.ok) readAll(result.message);
      }
      const whole = parseMessage(bytes);
      if (whole.ok) readAll(whole.message);
    }),
    { numRuns: 2000 },
  );
});

/** Names of the header lines except Content-Length, which is corrected. */
function names(message: SipMessage): string[] {
  return Array.from({ length: message.headers.length }, (_, i) => message.headers.nameAt(i)).filter(
    (name) => headerKey(name) !== 'content-length',
  );
}

test('a parsed message is written without additional lines and without bare CRs', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SAMPLES), mutations, (sample, list) => {
      const result = parseMessage(mutated(sample, list));
      if (!result.ok) return;
      const written = serializeMessage({ ...result.message, body: Buffer.alloc(0) });
      expect(written.toString('latin1')).not.toMatch(/\r(?!\n)|(?<!\r)\n/);
      const again = parseMessage(written);
      expect(again.ok && names(again.message)).toEqual(names(result.message));
    }),
    { numRuns: 1000 },
  );
});

test('random octets never throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (octets) => {
      const bytes = Buffer.from(octets);
      new StreamFramer().push(bytes);
      parseMessage(bytes);
      const text = bytes.toString('latin1');
      parseUri(`sip:${text}`);
      parseAddress(text);
      parseVia(`SIP/2.0/TLS ${text}`);
      splitList(text);
    }),
    RUNS,
  );
});

test('a URI is the same after writing and parsing', () => {
  const text = fc.string({ unit: fc.constantFrom(...'abZ09%41;=?&@:[].-_*#+1'), maxLength: 40 });
  fc.assert(
    fc.property(text, (rest) => {
      const uri = parseUri(`sip:${rest}`);
      if (uri === null) return;
      expect(parseUri(formatUri(uri))).toEqual(uri);
      expect(equalUris(formatUri(uri), `sip:${rest}`)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

test('an address is the same after writing and parsing', () => {
  const name = fc.string({ unit: fc.constantFrom(...'aZ "\\<>;,@=\xfc'), maxLength: 12 });
  fc.assert(
    fc.property(name, (displayName) => {
      const text = formatAddress({ displayName, uri: 'sip:a@b', params: new Map([['tag', 'x']]) });
      expect(parseAddress(text)?.displayName).toBe(displayName);
      expect(splitList(`${text}, ${text}`)).toEqual([text, text]);
      expect(parameter(text, 'tag')).toBe('x');
    }),
    RUNS,
  );
});
