/** The INVITE that begins a call of ours, as data. Pure. */
import type { DialTarget, LeftOutHeader, OutboundInvite } from '../../call/ports/dialing.ts';
import { capabilities, type Environment } from '../srf/environment.ts';
import { contactOf } from '../srf/headers.ts';
import { sipUri, userOf } from '../srf/numbers.ts';
import type { NewRequest } from '../srf/srf.ts';
import { outboundHeaders } from './header-mapping.ts';

export interface InviteTry {
  readonly fromTag: string;
  /** CSeq number: each try of the same INVITE has the next one (RFC 3261 sections 8.1.3.5 and 22.2). */
  readonly cseq: number;
  /** Session interval to ask for and the smallest to take, seconds. */
  readonly expiresS: number;
  readonly minS: number;
  /** Authorization headers. */
  readonly authorization: Readonly<Record<string, string>>;
}

/** Where a request for `target` goes: its Request-URI and, where the address is known, the next hop. */
export function placeOf(user: string, target: DialTarget): Pick<NewRequest, 'uri' | 'proxy'> {
  const { serverName, address, port } = target;
  const uri = sipUri(user, serverName, port);
  // With an address as next hop, the engine asks for a certificate of the Request-URI's host (RFC 5922).
  return address === undefined || address === serverName
    ? { uri }
    : { uri, proxy: sipUri('', address, port) };
}

/** The user part that is dialled. */
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
  const place = placeOf(dialled(invite.to), target);
  // The engine writes its own address for "localhost".
  const us = publicAddress === null ? 'localhost' : publicAddress.replace(/:\d+$/, '');
  const identity = `<sip:${encodeURI(invite.from)}@${us}>`;
  const mapped = outboundHeaders(invite.headers, invite.variables);
  return {
    method: 'INVITE',
    ...place,
    headers: {
      'Call-ID': invite.sipCallId,
      From: `${identity};tag=${fromTag}`,
      // RFC 3261 section 19.1.1: no transport parameter in To.
      To: `<${place.uri.replace(/;transport=tls$/, '')}>`,
      CSeq: `${cseq} INVITE`,
      ...(publicAddress === null ? {} : { Contact: contactOf(publicAddress, place.uri, {}) }),
      ...unless(mapped.headers, {
        // RFC 3325 section 5: nothing is asserted to those whom no configuration makes part of the trust domain.
        ...(target.foreign === true ? {} : { 'P-Asserted-Identity': identity }),
        'User-Agent': software,
        ...(invite.referredBy ? { 'Referred-By': invite.referredBy } : {}),
      }),
      ...capabilities(),
      'Session-Expires': String(expiresS),
      'Min-SE': String(minS),
      // The embedded engine then passes 100 on, and removes the header.
      'X-Trunkline-Trying': '1',
      ...mapped.headers,
      ...(invite.replaces ? { Replaces: invite.replaces, Require: 'replaces' } : {}),
      ...authorization,
      'Content-Type': 'application/sdp',
    },
    body: invite.offer,
    leftOut: mapped.leftOut,
  };
}

/** What of `ours` the mappings do not say themselves. */
function unless(
  mapped: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Set(Object.keys(mapped).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(ours).filter(([name]) => !names.has(name.toLowerCase())));
}
