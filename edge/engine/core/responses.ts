/** The engine's own responses, and what every response copies from its request (RFC 3261 section 8.2.6). */
import type { ConnectionFailure } from '#shared/connection-faults.ts';
import { writeFailure } from '#shared/engine-protocol/failures.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { isSameHost } from '#shared/networks.ts';
import { setParameter, splitList } from '../message/address.ts';
import { HeaderList } from '../message/headers.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import { serializeResponse } from '../message/serialize.ts';
import { formatHostPort } from '../message/uri.ts';
import type { Flow } from '../transport/flow.ts';

const NO_BODY = Buffer.alloc(0);

export type Fields = readonly (readonly [name: string, value: string])[];

/**
 * Records the source of the request in the top Via (RFC 3261 section 18.2.1, RFC 3581 section 4). `rport` is
 * filled in even when the peer did not ask for it: the application reads the peer's port there.
 */
export function stampVia(request: SipRequest, flow: Flow): void {
  const { headers } = request;
  const line = headers.get('via');
  if (line === undefined) return;
  const [first = '', ...others] = line.includes(',') ? splitList(line) : [line];
  const via = headers.topVia;
  let stamped =
    via?.params.has('rport') === false
      ? `${first};rport=${flow.remotePort}`
      : setParameter(first, 'rport', `${flow.remotePort}`);
  if (!isSameHost(via?.host ?? '', flow.remoteAddress)) {
    const address = flow.remoteAddress;
    stamped = setParameter(stamped, 'received', address.includes(':') ? formatHostPort(address) : address);
  } else if (via?.params.has('received')) {
    stamped = setParameter(stamped, 'received', undefined);
  }
  headers.replaceFirst('Via', others.length === 0 ? stamped : [stamped, ...others].join(', '));
}

/**
 * Via, Record-Route, From, To, Call-ID and CSeq of a response.
 * @param toTag tag to add to a To without one; null adds none (100 only)
 */
export function responseHeaders(request: SipRequest, toTag: string | null, recordRoute: boolean): HeaderList {
  const { headers } = request;
  const copy = new HeaderList();
  copy.appendFrom(headers, 'Via', 'via');
  if (recordRoute) copy.appendFrom(headers, 'Record-Route', 'record-route');
  copy.appendFirst(headers, 'From', 'from');
  if (toTag === null || headers.toTag !== undefined) copy.appendFirst(headers, 'To', 'to');
  else copy.append('To', `${headers.get('to') ?? ''};tag=${toTag}`);
  copy.appendFirst(headers, 'Call-ID', 'call-id');
  copy.appendFirst(headers, 'CSeq', 'cseq');
  return copy;
}

/** 100 Trying: no To tag, and the Timestamp of the request (8.2.6.1). */
export function trying(request: SipRequest): Buffer {
  const headers = responseHeaders(request, null, false);
  const timestamp = request.headers.get('timestamp');
  if (timestamp !== undefined) headers.append('Timestamp', timestamp);
  return serializeResponse({ kind: 'response', status: 100, reason: 'Trying', headers, body: NO_BODY });
}

/** A response without body. */
export function plainResponse(
  request: SipRequest,
  status: number,
  reason: string,
  toTag: string,
  fields: Fields = [],
): SipResponse {
  const headers = responseHeaders(request, toTag, false);
  for (const [name, value] of fields) headers.append(name, value);
  return { kind: 'response', status, reason, headers, body: NO_BODY };
}

/** A request made by the engine for the application to read. It is never sent on the wire, so it has no Via. */
export function plainRequest(
  method: string,
  uri: string,
  parts: { from: string; to: string; callId: string; cseq: number; fields: Fields },
): SipRequest {
  const headers = new HeaderList();
  headers.append('From', parts.from);
  headers.append('To', parts.to);
  headers.append('Call-ID', parts.callId);
  headers.append('CSeq', `${parts.cseq} ${method}`);
  for (const [name, value] of parts.fields) headers.append(name, value);
  return { kind: 'request', method, uri, headers, body: NO_BODY };
}

/** On the engine's response in place of a peer's: why there is none, for people and for the application. */
export function failureFields(host: string, failure: ConnectionFailure): Fields {
  return [warning(host, failure.text), [privateHeaders.failure, writeFailure(failure)]];
}

/** `Warning: 399 host "text"` (RFC 3261 section 20.43). */
export function warning(host: string, text: string): readonly [string, string] {
  const quoted = text
    .replace(/[\r\n]+/g, ' ')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"');
  return ['Warning', `399 ${host} "${quoted}"`];
}
