/** Headers of an inbound INVITE as variables of the call (contract 2.8). Pure. */
import type { CallVariables, HeaderMapping } from '#shared/edge-protocol.ts';
import { builtInVariables } from '../call/record.ts';
import { type HeaderFields, tokensOf } from './headers.ts';

/** Headers that become variables without a mapping, besides every `X-` header. */
const originals: Readonly<Record<string, string>> = {
  'p-asserted-identity': 'sip_header_x-original-pai',
  'remote-party-id': 'sip_header_x-original-rpid',
  diversion: 'sip_header_x-original-diversion',
};

/** @returns variable name to value; a mapped header does not appear under its `sip_header_` name as well */
export function inboundVariables(headers: HeaderFields, mappings: readonly HeaderMapping[]): CallVariables {
  const received = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) received.set(name.toLowerCase(), clean(value));

  const variables: CallVariables = {};
  const put = (name: string, value: string | undefined): void => {
    if (value !== undefined && !builtInVariables.has(name) && name !== '__proto__') variables[name] = value;
  };
  const mapped = new Set<string>();
  for (const mapping of mappings) {
    if (mapping.type === 'uui') {
      put(mapping.target, userToUser(received.get('user-to-user'), mapping.purpose));
    } else if (mapping.passthrough === true) {
      put(mapping.key, clean(mapping.value));
    } else {
      const name = mapping.key.toLowerCase();
      mapped.add(name);
      put(mapping.value, received.get(name));
    }
  }
  for (const [name, value] of received) {
    if (mapped.has(name)) continue;
    if (name.startsWith('x-')) put(`sip_header_${name}`, value);
    else put(originals[name] ?? '__proto__', value);
  }
  return variables;
}

/** A header value on one line: folding and stray line ends are gone. */
function clean(value: string): string {
  return value.replace(/[\r\n]+[ \t]*/g, ' ').trim();
}

/**
 * The decoded data of a User-to-User header (RFC 7433): the first value in hex whose purpose is the one asked
 * for. A value without purpose fits every mapping. Undefined when there is none or it is no hex.
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
