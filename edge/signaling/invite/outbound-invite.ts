/** The initial INVITE of an outgoing call, as data. Pure. */
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import type { DialTarget, LeftOutHeader, OutboundInvite } from '../../call/ports/dialing.ts';
import { capabilities, type Environment } from '../srf/environment.ts';
import { contactOf } from '../srf/headers.ts';
import { sipUri, userOf } from '../srf/numbers.ts';
import type { NewRequest } from '../srf/srf.ts';
import { outboundHeaders } from './header-mapping.ts';

export interface InviteTry {
  readonly fromTag: string;
  /** CSeq number: incremented for each attempt of the same INVITE (RFC 3261 sections 8.1.3.5 and 22.2). */
  readonly cseq: number;
  /** Session interval to request and the smallest to accept, seconds. */
  readonly expiresS: number;
  readonly minS: number;
  /** Authorization headers. */
  readonly authorization: Readonly<Record<string, string>>;
}

/** Where a request for `target` is sent: its Request-URI and, when the address is known, the next hop. */
export function destinationOf(user: string, target: DialTarget): Pick<NewRequest, 'uri' | 'proxy'> {
  const { serverName, address, port } = target;
  const uri = sipUri(user, serverName, port);
  // When the next hop is an address, the engine requires a certificate for the Request-URI's host (RFC 5922).
  return address === undefined || address === serverName
    ? { uri }
    : { uri, proxy: sipUri('', address, port) };
}

/** The dialed user part. */
function dialled(to: string): string {
  return /^(?:sips?|tel):/i.test(to) ? (userOf(to) ?? '') : to;
}

export function inviteOf(
  environment: Environment,
  target: DialTarget,
  invite: OutboundInvite,
  { fromTag, cseq, expiresS, minS, authorization }: InviteTry,
): NewRequest & { readonly leftOut: readonly LeftOutHeader[] } {
  const { publicAddress, software } = environment;
  const destination = destinationOf(dialled(invite.to), target);
  // The engine replaces "localhost" with its own address.
  const us = publicAddress === null ? 'localhost' : publicAddress.replace(/:\d+$/, '');
  const identity = `<sip:${encodeURI(invite.from)}@${us}>`;
  const mapped = outboundHeaders(invite.headers, invite.variables);
  return {
    method: 'INVITE',
    ...destination,
    headers: {
      'Call-ID': invite.sipCallId,
      From: `${identity};tag=${fromTag}`,
      // RFC 3261 section 19.1.1: no transport parameter in To.
      To: `<${destination.uri.replace(/;transport=tls$/, '')}>`,
      CSeq: `${cseq} INVITE`,
      ...(publicAddress === null ? {} : { Contact: contactOf(publicAddress, destination.uri, {}) }),
      ...unless(mapped.headers, {
        // RFC 3325 section 5: no asserted identity towards hosts that are not configured as part of the trust
        // domain.
        ...(target.foreign === true ? {} : { 'P-Asserted-Identity': identity }),
        'User-Agent': software,
        ...(invite.referredBy ? { 'Referred-By': invite.referredBy } : {}),
      }),
      ...capabilities(),
      'Session-Expires': String(expiresS),
      'Min-SE': String(minS),
      // Makes the embedded engine deliver 100; it removes the header.
      [privateHeaders.trying]: '1',
      ...mapped.headers,
      ...(invite.replaces ? { Replaces: invite.replaces, Require: 'replaces' } : {}),
      ...authorization,
      'Content-Type': 'application/sdp',
    },
    body: invite.offer,
    leftOut: mapped.leftOut,
  };
}

/** The fields of `ours` that the mappings do not set. */
function unless(
  mapped: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Set(Object.keys(mapped).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(ours).filter(([name]) => !names.has(name.toLowerCase())));
}
