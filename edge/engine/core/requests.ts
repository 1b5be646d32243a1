/** Builds requests for the wire from what the application wrote, and fills in what it left out. */
import { randomInt, randomUUID } from 'node:crypto';
import type { Dialog } from '../dialog/dialog.ts';
import type { AppMessage } from '../drachtio-port/app-message.ts';
import { wireName } from '../drachtio-port/header-names.ts';
import { tagOf } from '../message/address.ts';
import { HeaderList, headerKey } from '../message/headers.ts';
import type { SipRequest } from '../message/message.ts';
import { newTag } from './identity.ts';

/** Our address in a request: as `host:port`, as Contact value, and as Via. */
export interface LocalEndpoint {
  readonly hostPort: string;
  readonly contact: string;
  readonly via: string;
  /** `tls` or `ws`. */
  readonly transport: string;
}

export type Built<Message> =
  | { readonly ok: true; readonly message: Message }
  | { readonly ok: false; readonly reason: string };

/** Written by the engine only; values from the application are dropped. */
const OURS: ReadonlySet<string> = new Set(['via', 'route', 'record-route', 'rseq', 'content-length']);
/** Written first in a request, from the application or from defaults. */
const HEAD: ReadonlySet<string> = new Set(['from', 'to', 'call-id', 'cseq', 'contact', 'max-forwards']);
/** Requests that need a Contact (RFC 3261 section 8.1.1.8, RFC 3515 section 2.2, RFC 3311 section 5.1). */
const WITH_CONTACT: ReadonlySet<string> = new Set(['INVITE', 'SUBSCRIBE', 'REFER', 'UPDATE']);

let lastCSeq: number | null = null;

/** Begins anywhere, so that requests before and after a restart differ. */
function nextCSeq(): number {
  lastCSeq = lastCSeq === null ? randomInt(1, 2 ** 27) : lastCSeq + 1;
  return lastCSeq;
}

/** A request outside a dialog. Keeps the application's Call-ID, From tag and CSeq: a digest retry sets them. */
export function newRequest(
  message: AppMessage,
  method: string,
  uri: string,
  us: LocalEndpoint,
): Built<SipRequest> {
  const given = message.headers;
  const headers = new HeaderList();
  headers.append('Via', us.via);
  headers.append('Max-Forwards', given.get('max-forwards') ?? '70');
  const from = ours(given.get('from'), us, false) ?? us.contact;
  headers.append('From', tagOf(from) === undefined ? `${from};tag=${newTag()}` : from);
  headers.append('To', ours(given.get('to'), us, false) ?? `<${uri}>`);
  headers.append('Call-ID', given.get('call-id') ?? randomUUID());
  const number = given.cseq?.number ?? nextCSeq();
  headers.append('CSeq', `${number} ${method}`);
  const contact = ours(given.get('contact'), us, true);
  if (contact !== undefined) headers.append('Contact', contact);
  else if (WITH_CONTACT.has(method)) headers.append('Contact', us.contact);
  const fault = copyRest(message, headers, us);
  if (fault) return { ok: false, reason: fault };
  return { ok: true, message: { kind: 'request', method, uri, headers, body: message.body } };
}

/**
 * A request in a dialog. The dialog sets Request-URI, Route, From, To, Call-ID and CSeq (12.2.1.1). While several forks
 * of an INVITE are early, the To tag of the application says to which of them it is: a PRACK is no other fork's business.
 * @param cseq number of the CSeq: the dialog's next, or the INVITE's for its ACK
 */
export function dialogRequest(
  dialog: Dialog,
  method: string,
  cseq: number,
  message: AppMessage,
  us: LocalEndpoint,
): Built<SipRequest> {
  const peer = dialog.peer(message.headers.toTag);
  const route = dialog.route(peer);
  const headers = new HeaderList();
  headers.append('Via', us.via);
  headers.append('Max-Forwards', message.headers.get('max-forwards') ?? '70');
  for (const value of route.routes) headers.append('Route', value);
  headers.append('From', dialog.local);
  headers.append('To', peer.remote);
  headers.append('Call-ID', dialog.callId);
  headers.append('CSeq', `${cseq} ${method}`);
  const contact = ours(message.headers.get('contact'), us, true);
  if (contact !== undefined) headers.append('Contact', contact);
  else if (WITH_CONTACT.has(method)) headers.append('Contact', us.contact);
  const fault = copyRest(message, headers, us);
  if (fault) return { ok: false, reason: fault };
  return { ok: true, message: { kind: 'request', method, uri: route.uri, headers, body: message.body } };
}

/**
 * Copies the application's other headers and sets the type of a body.
 * @returns why the message cannot be sent; null when it can
 */
export function copyRest(message: AppMessage, headers: HeaderList, us: LocalEndpoint): string | null {
  const { headers: given, body } = message;
  for (let i = 0; i < given.length; i++) {
    const key = given.keyAt(i);
    if (OURS.has(key) || HEAD.has(key)) continue;
    let value = given.valueAt(i);
    if (key === 'p-asserted-identity') value = ours(value, us, false) ?? value;
    headers.append(wireName(given.nameAt(i)), value);
  }
  if (body.length === 0 || headers.has('content-type')) return null;
  if (body[0] !== 118 || body[1] !== 61) return 'missing content-type';
  headers.append('Content-Type', 'application/sdp');
  return null;
}

/**
 * `localhost` in an address from the application means us: it does not need to know our address.
 * @param reachable whether requests will be sent to the URI, so that it must name the transport
 */
export function ours(value: string | undefined, us: LocalEndpoint, reachable: boolean): string | undefined {
  if (value === undefined || !value.includes('localhost')) return value;
  const place = /([@:])localhost(:\d+)?(?=[;>?,]|$)/i.exec(value);
  if (!place) return value;
  const before = value.slice(0, place.index);
  const rest = value.slice(place.index + place[0].length);
  const transport = reachable && !/;transport=/i.test(rest) ? `;transport=${us.transport}` : '';
  const host = `${place[1]}${us.hostPort}${transport}`;
  // Without brackets, parameters after the host would belong to the header (RFC 3261 section 20).
  return before.includes('<') ? `${before}${host}${rest}` : `<${before}${host}>${rest}`;
}

/** The application's header fields for a CANCEL; the others are copied from the INVITE. */
export function cancelFields(message: AppMessage): [name: string, value: string][] {
  const { headers } = message;
  const fields: [string, string][] = [];
  for (let i = 0; i < headers.length; i++) {
    const key = headers.keyAt(i);
    if (OURS.has(key) || HEAD.has(key) || key === 'content-type') continue;
    fields.push([wireName(headers.nameAt(i)), headers.valueAt(i)]);
  }
  return fields;
}

/** A message from the engine itself, in the form of an application's message. */
export function ownMessage(method: string, fields: readonly (readonly [string, string])[]): AppMessage {
  return {
    start: { kind: 'request', method, uri: '' },
    headers: HeaderList.from(
      fields.map(([name]) => name),
      fields.map(([name]) => headerKey(name)),
      fields.map(([, value]) => value),
    ),
    body: Buffer.alloc(0),
  };
}
