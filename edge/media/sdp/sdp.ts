/**
 * A session description (RFC 4566) as a value, parsed leniently and written strictly.
 *
 * Harmless deviations are accepted: bare LF, blank lines, lines of unknown type (skipped), lines out of order.
 * Only an unreadable media line makes a description useless, because the answer must have as many media lines as
 * the offer (RFC 3264 section 6).
 */
import { CallRefused } from '../../call/refused.ts';

export interface Attribute {
  readonly name: string;
  /** Text after the colon; null for a property attribute such as `a=sendrecv`. */
  readonly value: string | null;
}

interface Origin {
  readonly username: string;
  readonly sessionId: string;
  readonly version: string;
  readonly address: Connection;
}

export interface Connection {
  readonly family: 'IP4' | 'IP6';
  /** Address or host name, without the TTL and count of a multicast address. */
  readonly address: string;
}

/** A line that negotiation ignores, kept for writing: `i`, `u`, `e`, `p`, `b`, `k`, `r`, `z`. */
interface OtherLine {
  readonly type: string;
  readonly value: string;
}

export interface MediaSection {
  /** `audio`, `video`, `image`, ... */
  readonly media: string;
  readonly port: number;
  /** Number of ports, 1 unless written `port/count`. */
  readonly portCount: number;
  /** Transport profile as written, for example `RTP/SAVP`. */
  readonly profile: string;
  /** Payload types for RTP, other tokens for other profiles. */
  readonly formats: readonly string[];
  readonly connection: Connection | null;
  readonly others: readonly OtherLine[];
  readonly attributes: readonly Attribute[];
}

export interface Sdp {
  readonly origin: Origin | null;
  readonly sessionName: string;
  readonly connection: Connection | null;
  /** Values of the `t=` lines, in order. */
  readonly times: readonly string[];
  readonly others: readonly OtherLine[];
  readonly attributes: readonly Attribute[];
  readonly media: readonly MediaSection[];
}

/** Order in which the lines of a section are written (RFC 4566 section 5). */
const beforeConnection = 'iuep';
const betweenConnectionAndAttributes = 'bkrz';

interface Section {
  connection: Connection | null;
  readonly others: OtherLine[];
  readonly attributes: Attribute[];
}

/**
 * Parses a session description. A bare LF ends a line, as in RFC 8866 section 5. A bare CR does not, nor is it
 * allowed within one (section 9, byte-string): a parser that treats it differently would see other lines, and
 * other keys, than we do.
 * @throws CallRefused 488 when a media line is malformed, or for a bare CR
 */
export function parseSdp(text: string): Sdp {
  if (/\r(?!\n)/.test(text)) {
    throw new CallRefused(
      488,
      'A line of the session description ends in CR without LF (RFC 8866 section 5)',
    );
  }
  let origin: Origin | null = null;
  let sessionName = '-';
  const times: string[] = [];
  const session: Section = { connection: null, others: [], attributes: [] };
  const media: (MediaSection & Section)[] = [];
  let section = session;

  for (const line of text.split(/[\r\n]+/)) {
    if (line.charCodeAt(1) !== 0x3d) continue;
    const value = bare(line.slice(2));
    switch (line[0]) {
      case 'm': {
        const opened = { ...parseMediaLine(value), connection: null, others: [], attributes: [] };
        media.push(opened);
        section = opened;
        break;
      }
      case 'a':
        section.attributes.push(parseAttribute(value));
        break;
      case 'c':
        section.connection ??= parseConnection(value);
        break;
      case 'o':
        origin ??= parseOrigin(value);
        break;
      case 's':
        if (section === session && value !== '') sessionName = value;
        break;
      case 't':
        times.push(value);
        break;
      default:
        if (isOtherLine(line[0])) section.others.push({ type: line.slice(0, 1), value });
    }
  }
  return { origin, sessionName, times, media, ...session };
}

/**
 * Writes a session description with CRLF line ends and every line in the position that RFC 4566 section 5
 * requires. Reading the result and writing it again changes nothing.
 */
export function formatSdp(sdp: Sdp): string {
  let text = 'v=0\r\n';
  if (sdp.origin) {
    const { username, sessionId, version, address } = sdp.origin;
    text += `o=${username} ${sessionId} ${version} IN ${address.family} ${address.address}\r\n`;
  }
  text += `s=${sdp.sessionName}\r\n`;
  text += otherLines(sdp.others, beforeConnection) + connectionLine(sdp.connection);
  text += otherLines(sdp.others, 'b');
  for (const time of sdp.times) text += `t=${time}\r\n`;
  text += otherLines(sdp.others, 'krz') + attributeLines(sdp.attributes);
  for (const section of sdp.media) {
    const port = section.portCount === 1 ? section.port : `${section.port}/${section.portCount}`;
    text += `m=${section.media} ${port} ${section.profile} ${section.formats.join(' ')}\r\n`;
    text += otherLines(section.others, beforeConnection) + connectionLine(section.connection);
    text += otherLines(section.others, betweenConnectionAndAttributes) + attributeLines(section.attributes);
  }
  return text;
}

/** First value of an attribute; undefined when absent, an empty string for a property attribute. */
export function attribute(section: { readonly attributes: readonly Attribute[] }, name: string) {
  for (const candidate of section.attributes) {
    if (candidate.name === name) return candidate.value ?? '';
  }
  return undefined;
}

/** All values of an attribute, in order. */
export function attributes(section: { readonly attributes: readonly Attribute[] }, name: string): string[] {
  const values: string[] = [];
  for (const candidate of section.attributes) {
    if (candidate.name === name) values.push(candidate.value ?? '');
  }
  return values;
}

/** The `c=` or `o=` form of an address: a colon means IPv6. */
export function connectionTo(address: string): Connection {
  return { family: address.includes(':') ? 'IP6' : 'IP4', address };
}

/** Trims spaces and tabs, which separate words, but none of JavaScript's other white space. */
function bare(text: string): string {
  return text.replace(/^[ \t]+/, '').replace(/(?<![ \t])[ \t]+$/, '');
}

function words(value: string): string[] {
  return value.split(/[ \t]+/);
}

function parseMediaLine(value: string) {
  const [media = '', ports = '', profile = '', ...formats] = words(value);
  const [port, count] = ports.split('/');
  const section = { media, port: wholeNumber(port), portCount: wholeNumber(count ?? '1'), profile, formats };
  const bad = media === '' || profile === '' || formats.length === 0 || !(section.port <= 0xffff);
  if (bad || !(section.portCount >= 1)) {
    throw new CallRefused(
      488,
      `malformed SDP media line: m=${value.slice(0, 100)}`,
      'SDP media line is malformed',
    );
  }
  return section;
}

function parseAttribute(value: string): Attribute {
  const colon = value.indexOf(':');
  if (colon < 0) return { name: value, value: null };
  return { name: bare(value.slice(0, colon)), value: bare(value.slice(colon + 1)) };
}

function parseConnection(value: string): Connection | null {
  const [network, type = '', address = ''] = words(value);
  const family = type.toUpperCase();
  const slash = address.indexOf('/');
  const host = slash < 0 ? address : address.slice(0, slash);
  if (network?.toUpperCase() !== 'IN' || (family !== 'IP4' && family !== 'IP6') || host === '') return null;
  return { family, address: host };
}

function parseOrigin(value: string): Origin | null {
  const [username = '', sessionId = '', version = '', ...address] = words(value);
  const parsed = parseConnection(address.join(' '));
  return parsed && { username, sessionId, version, address: parsed };
}

function isOtherLine(type: string | undefined): boolean {
  return type !== undefined && (beforeConnection + betweenConnectionAndAttributes).includes(type);
}

function otherLines(lines: readonly OtherLine[], types: string): string {
  let text = '';
  for (const type of types) {
    for (const line of lines) if (line.type === type) text += `${type}=${line.value}\r\n`;
  }
  return text;
}

function connectionLine(connection: Connection | null): string {
  return connection ? `c=IN ${connection.family} ${connection.address}\r\n` : '';
}

function attributeLines(list: readonly Attribute[]): string {
  let text = '';
  for (const { name, value } of list) text += value === null ? `a=${name}\r\n` : `a=${name}:${value}\r\n`;
  return text;
}

/** A decimal number without sign; NaN for anything else. */
function wholeNumber(text: string | undefined): number {
  return text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
}
