/**
 * A SIP message as the engine carries it (RFC 3261 section 7).
 *
 * Text is held one character per octet (latin1): string lengths are octet counts, bytes outside UTF-8 survive,
 * and unmodified headers are sent exactly as received.
 */

import type { Address } from './address.ts';
import type { CSeq } from './cseq.ts';
import type { Via } from './via.ts';

/** The header fields of one message, in order, with names as received. */
export interface Headers {
  /** Number of header field lines. */
  readonly length: number;
  /** Name as received, for example `v` or `Via`. */
  nameAt(index: number): string;
  /** The long form of the name in lower case, for example `via`. */
  keyAt(index: number): string;
  /** Value, unfolded, without surrounding white space. */
  valueAt(index: number): string;
  /** First value of a header. `name`: the long form in lower case (`call-id`); compact forms are found too. */
  get(name: string): string | undefined;
  /** Values of all lines of a header, in order; comma lists are not split. */
  all(name: string): string[];
  has(name: string): boolean;
  /** All lines as they are written, `Name: value` and CRLF each, if a parser has read exactly this; else null. */
  readonly text: string | null;
  /** From; null when it is missing or malformed. This and the others below are read once, not at each use. */
  readonly from: Address | null;
  /** To; null when it is missing or malformed. */
  readonly to: Address | null;
  /** The first Contact; null when it is missing or malformed. */
  readonly contact: Address | null;
  /** Tag of From; undefined when it has none. */
  readonly fromTag: string | undefined;
  /** Tag of To; undefined when it has none. */
  readonly toTag: string | undefined;
  /** Null when it is missing or malformed. */
  readonly cseq: CSeq | null;
  /** The topmost Via; null when it is missing or malformed. */
  readonly topVia: Via | null;
  /**
   * Replaces all lines of a header with one, at the position of the first (or at the end). `name` as it should be
   * written.
   */
  set(name: string, value: string): void;
  /** Replaces the value of the first line of a header and keeps the spelling of its name. */
  replaceFirst(name: string, value: string): void;
  append(name: string, value: string): void;
  prepend(name: string, value: string): void;
  remove(name: string): void;
  /** Removes the first line of a header. */
  removeFirst(name: string): void;
  clone(): Headers;
}

export interface SipRequest {
  readonly kind: 'request';
  readonly method: string;
  /** Request-URI as received. */
  uri: string;
  readonly headers: Headers;
  body: Buffer;
}

export interface SipResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly reason: string;
  readonly headers: Headers;
  body: Buffer;
}

export type SipMessage = SipRequest | SipResponse;
