/**
 * A key press in a SIP INFO request (RFC 2976, RFC 6086): `application/dtmf-relay`, with lines such as `Signal=5` and
 * `Duration=160`, or `application/dtmf`, with the key alone. Neither type has a specification; both are read as
 * peers send them. Pure.
 */
import type { DtmfEvent } from '../../call/ports/media.ts';
import { type HeaderFields, headerOf } from '../srf/headers.ts';
import { isOptional, partsOf } from './multipart.ts';

export type InfoKey =
  | { readonly kind: 'key'; readonly key: DtmfEvent }
  /** Nothing for a call: no body (RFC 2976 section 2.2), a hook flash, or an optional body of another type. */
  | { readonly kind: 'nothing' }
  /**
   * RFC 3261 section 8.2.3: 415 with Accept. Also for an Info Package, of which we receive none: RFC 6086 section 4.2.2
   * wants 469, a status that drachtio-srf does not send.
   */
  | { readonly kind: 'type' }
  | { readonly kind: 'malformed'; readonly why: string };

const relay = 'application/dtmf-relay';
const plain = 'application/dtmf';
/** Value of Accept in a 415. */
export const acceptedInInfo = `${relay}, ${plain}`;

/** Of a press whose INFO has no duration: what peers send by default. */
const usualMs = 250;
const longestMs = 60_000;
/** A longer body is not one key press. */
const longestBody = 256;

/** Keys by the event codes of RFC 4733, which some peers send as numbers. */
const keys = '0123456789*#ABCD';
const flash = new Set(['16', '!', 'HF', 'FLASH', 'HOOKFLASH', 'R']);

export function readInfoKey(message: {
  readonly headers: HeaderFields;
  readonly body: string | undefined;
}): InfoKey {
  const { headers, body = '' } = message;
  if (headerOf(headers, 'info-package') !== undefined) return { kind: 'type' };
  if (body.trim() === '') return { kind: 'nothing' };
  const type = headerOf(headers, 'content-type') ?? '';
  if (!isType(type, 'multipart/[a-z0-9.+-]+')) return readBody(type, body) ?? otherType(headers);
  for (const part of partsOf(type, body)) {
    const read = readBody(part.type, part.content);
    if (read) return read;
  }
  return otherType(headers);
}

/** null: a type that carries no keys */
function readBody(type: string, body: string): InfoKey | null {
  const isRelay = isType(type, relay);
  if (!isRelay && !isType(type, plain)) return null;
  if (body.length > longestBody) return malformed('The body is longer than one key press');
  return isRelay ? readRelay(body) : readSignal(body.trim(), usualMs);
}

function readRelay(body: string): InfoKey {
  const lines = new Map<string, string>();
  for (const line of body.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const [, name, value] = /^([a-z]+)\s*[=:](.*)$/i.exec(line.trim()) ?? [];
    if (name === undefined || value === undefined) return malformed('A line is not of the form Name=Value');
    if (lines.has(name.toLowerCase())) return malformed(`${name} appears twice`);
    lines.set(name.toLowerCase(), value.trim());
  }
  const signal = lines.get('signal');
  if (signal === undefined) return malformed('Signal is missing');
  const duration = lines.get('duration') ?? String(usualMs);
  if (!/^\d{1,9}$/.test(duration)) return malformed('Duration must be milliseconds');
  return readSignal(signal, Math.min(Number(duration), longestMs));
}

function readSignal(signal: string, durationMs: number): InfoKey {
  const upper = signal.toUpperCase();
  if (flash.has(upper)) return { kind: 'nothing' };
  const digit = /^\d{2}$/.test(upper) ? keys[Number(upper)] : upper;
  if (digit === undefined || digit.length !== 1 || !keys.includes(digit)) {
    return malformed('Signal must be one of 0-9, *, #, A-D');
  }
  return { kind: 'key', key: { digit, durationMs } };
}

function otherType(headers: HeaderFields): InfoKey {
  return { kind: isOptional(headerOf(headers, 'content-disposition')) ? 'nothing' : 'type' };
}

function malformed(why: string): InfoKey {
  return { kind: 'malformed', why };
}

function isType(type: string, wanted: string): boolean {
  return new RegExp(`^\\s*${wanted}\\s*(;|$)`, 'i').test(type);
}
