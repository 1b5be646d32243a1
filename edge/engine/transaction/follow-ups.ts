import { HeaderList } from '../message/headers.ts';
import type { SipRequest, SipResponse } from '../message/message.ts';
import { cseqNumber } from './matching.ts';

const NO_BODY = Buffer.alloc(0);

/** The ACK of a failure: part of the INVITE's transaction, built by RFC 3261 section 17.1.1.3. */
export function ackOfFailure(invite: SipRequest, response: SipResponse): SipRequest {
  return followUp(invite, 'ACK', response.headers.get('to') ?? invite.headers.get('to') ?? '');
}

/** The CANCEL of an INVITE (RFC 3261 section 9.1). `extra`: header fields such as Reason. */
export function cancelOf(invite: SipRequest, extra: Iterable<readonly [string, string]> = []): SipRequest {
  const cancel = followUp(invite, 'CANCEL', invite.headers.get('to') ?? '');
  for (const [name, value] of extra) cancel.headers.append(name, value);
  return cancel;
}

/** Same Request-URI, top Via, Route, From, Call-ID and CSeq number as the INVITE, so that it takes the same path. */
function followUp(invite: SipRequest, method: 'ACK' | 'CANCEL', to: string): SipRequest {
  const { headers } = invite;
  const copy = new HeaderList();
  copy.append('Via', headers.get('via') ?? '');
  copy.append('Max-Forwards', '70');
  for (const route of headers.all('route')) copy.append('Route', route);
  copy.append('From', headers.get('from') ?? '');
  copy.append('To', to);
  copy.append('Call-ID', headers.get('call-id') ?? '');
  copy.append('CSeq', `${cseqNumber(headers)} ${method}`);
  return { kind: 'request', method, uri: invite.uri, headers: copy, body: NO_BODY };
}
