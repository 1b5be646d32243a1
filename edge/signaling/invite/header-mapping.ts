/** Headers of INVITEs: received ones become call variables, and variables become sent ones (contract 2.8). Pure. */
import { isBuiltIn } from '#shared/agent/built-in-names.ts';
import { maxCustomHeaders, maxCustomLength, obstacleTo } from '#shared/custom-headers.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import type { LeftOutHeader } from '../../call/ports/dialing.ts';
import { type HeaderFields, printable, tokensOf } from '../srf/headers.ts';

/** Headers that become variables without a mapping, in addition to every `X-` header. */
const originals: ReadonlyMap<string, string> = new Map([
  ['p-asserted-identity', 'sip_header_x-original-pai'],
  ['remote-party-id', 'sip_header_x-original-rpid'],
  ['diversion', 'sip_header_x-original-diversion'],
]);

const userToUserName = 'user-to-user';

/** Credentials never become variables. @returns variable name to value; a mapped header does not also appear under its `sip_header_` name */
export function inboundVariables(headers: HeaderFields, mappings: readonly HeaderMapping[]): CallVariables {
  const mapped = new Set(mappings.flatMap((mapping) => sourceOf(mapping) ?? []));
  const received = new Map<string, string>();
  for (const [written, value] of Object.entries(headers)) {
    const name = written.toLowerCase();
    if (name.endsWith('authorization')) continue;
    // Most headers become none, so they need no cleaning.
    if (name.startsWith('x-') || originals.has(name) || name === userToUserName || mapped.has(name))
      received.set(name, clean(value));
  }

  const variables: CallVariables = {};
  const put = (name: string, value: string | undefined): void => {
    if (value !== undefined && !isBuiltIn(name) && name !== '__proto__') variables[name] = value;
  };
  for (const mapping of mappings) {
    if (mapping.type === 'uui') {
      put(mapping.target, userToUser(received.get(userToUserName), mapping.purpose));
    } else if (mapping.passthrough === true) {
      put(mapping.key, clean(mapping.value));
    } else {
      put(mapping.value, received.get(mapping.key.toLowerCase()));
    }
  }
  for (const [name, value] of received) {
    if (mapped.has(name)) continue;
    if (name.startsWith('x-')) put(`sip_header_${name}`, value);
    else put(originals.get(name) ?? '__proto__', value);
  }
  return variables;
}

/** The header that a mapping takes, in lower case; null: none by its name alone. */
function sourceOf(mapping: HeaderMapping): string | null {
  return mapping.type === 'uui' || mapping.passthrough === true ? null : mapping.key.toLowerCase();
}

export interface MappedHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly leftOut: readonly LeftOutHeader[];
}

/**
 * The headers of an outgoing INVITE. A mapping that gives none is listed in `leftOut`, also when its variable has
 * no value.
 */
export function outboundHeaders(mappings: readonly HeaderMapping[], variables: CallVariables): MappedHeaders {
  const headers: Record<string, string> = {};
  const leftOut: LeftOutHeader[] = [];
  let room = maxCustomLength;
  for (const mapping of mappings.slice(0, maxCustomHeaders)) {
    const { name, value } = outboundHeader(mapping, variables);
    const why = value === null ? emptyReason(mapping) : obstacleTo(name, value, room);
    if (value === null || why !== null) {
      leftOut.push({ name, why: why ?? '' });
      continue;
    }
    room -= value.length;
    const known = Object.keys(headers).find((other) => other.toLowerCase() === name.toLowerCase());
    // RFC 7433 section 3: several User-to-User values are joined into one list; for other headers the last one
    // counts.
    if (known !== undefined && mapping.type === 'uui') headers[known] = `${headers[known]}, ${value}`;
    else headers[known ?? name] = value;
  }
  return { headers, leftOut };
}

interface MappedHeader {
  readonly name: string;
  /** null: there is nothing to send */
  readonly value: string | null;
}

function outboundHeader(mapping: HeaderMapping, variables: CallVariables): MappedHeader {
  if (mapping.type === 'uui') {
    const name = 'User-to-User';
    const content = mapping.content ?? '';
    const text = textOf(variables, content) ?? content;
    if (text === '') return { name, value: null };
    const purpose = mapping.purpose ? `;purpose=${mapping.purpose}` : '';
    const hex = Buffer.from(clean(text), 'utf8').toString('hex');
    return { name, value: clean(`${hex};encoding=hex${purpose}`) };
  }
  if (mapping.passthrough === true) return { name: mapping.key, value: clean(mapping.value) };
  const value = textOf(variables, mapping.key);
  return { name: mapping.value, value: value === null ? null : clean(value) };
}

function emptyReason(mapping: HeaderMapping): string {
  return mapping.type === 'uui' ? 'it has no content' : `the variable ${mapping.key} has no value`;
}

/** A variable as text; null when it is missing. */
function textOf(variables: CallVariables, name: string): string | null {
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A header value on one line, without folding, stray line ends and other control characters. */
function clean(value: string): string {
  return printable(value).trim();
}

/**
 * The decoded data of a User-to-User header (RFC 7433): the first value in hex with the requested purpose. A
 * value without a purpose matches every mapping. Undefined when there is none or it is not hex.
 */
function userToUser(header: string | undefined, purpose: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  for (const value of header.split(',')) {
    const [data = '', ...parameters] = value.split(';').map((part) => part.trim());
    const named = new Map(parameters.map((parameter) => pair(parameter)));
    const encoding = named.get('encoding')?.toLowerCase() ?? 'hex';
    const theirs = named.get('purpose');
    if (encoding !== 'hex') continue;
    if (purpose !== undefined && theirs !== undefined && !tokensOf(theirs).includes(purpose.toLowerCase()))
      continue;
    const hex = data.replace(/^"|"$/g, '');
    if (hex !== '' && hex.length % 2 === 0 && /^[0-9a-fA-F]+$/.test(hex)) {
      return clean(Buffer.from(hex, 'hex').toString('utf8'));
    }
  }
  return undefined;
}

function pair(parameter: string): [string, string] {
  const equals = parameter.indexOf('=');
  if (equals < 0) return [parameter.toLowerCase(), ''];
  return [
    parameter.slice(0, equals).trim().toLowerCase(),
    parameter
      .slice(equals + 1)
      .trim()
      .replace(/^"|"$/g, ''),
  ];
}
