/** Interprets the answer to a REGISTER (RFC 3261 sections 10.2 and 10.3). Pure. */

import { plainHost } from '#shared/networks.ts';
import { failsOver, isTemporary } from '#shared/sip-status.ts';
import type { Outcome } from '../srf/exchange.ts';
import { type HeaderFields, headerOf } from '../srf/headers.ts';
import { hostPortOf, uriOf, userOf } from '../srf/numbers.ts';
import { entriesOf, outsideQuotesAndBrackets } from '../srf/quoted.ts';
import { refusalProblem, silenceProblem } from './register-words.ts';

/** Longest binding or pause accepted from a peer, seconds: a day. */
const mostS = 86_400;

export type RegisterVerdict =
  /**
   * Bound. `rport`: our port as the registrar sees it, null when it does not say (RFC 3581). `doubt`: why the
   * binding may not work, one sentence.
   */
  | {
      readonly kind: 'bound';
      readonly expiresS: number;
      readonly sipCode: number;
      readonly rport: number | null;
      readonly doubt: string | null;
    }
  | {
      readonly kind: 'challenged';
      readonly status: 401 | 407;
      readonly reason: string;
      readonly headers: HeaderFields;
    }
  /** 423: retry with at least this interval (section 10.2.8). */
  | { readonly kind: 'too_brief'; readonly minExpiresS: number }
  /** Another server of the registrar may work (RFC 3263 section 4.3). */
  | { readonly kind: 'unavailable'; readonly failure: Failure }
  | { readonly kind: 'refused'; readonly failure: Failure };

export interface Failure {
  /** One sentence for the user. */
  readonly error: string;
  readonly sipCode: number | null;
  /** Seconds to wait, as the registrar requests. */
  readonly retryAfterS: number | null;
  /** Whether it needs manual action. */
  readonly lasting: boolean;
}

/** The request that the answer belongs to. */
export interface RegisterAsked {
  /** The requested binding interval, seconds. */
  readonly askedS: number;
  /** `host:port` of the registrar, for messages. */
  readonly registrar: string;
  readonly credentialsSent: boolean;
}

export function judgeRegister(outcome: Outcome, asked: RegisterAsked): RegisterVerdict {
  const { askedS, registrar } = asked;
  if (outcome.kind === 'silent') {
    const error = silenceProblem(registrar, outcome.why);
    return { kind: 'unavailable', failure: { error, sipCode: null, retryAfterS: null, lasting: false } };
  }
  const { status, headers } = outcome;
  if (status < 300) return bound(outcome, askedS, registrar);
  if (status === 401 || status === 407)
    return { kind: 'challenged', status, reason: outcome.reason, headers };
  const minExpiresS = secondsOf(headerOf(headers, 'min-expires'));
  if (status === 423 && minExpiresS !== null && minExpiresS > askedS) {
    return { kind: 'too_brief', minExpiresS };
  }
  const retryAfterS = secondsOf(headerOf(headers, 'retry-after'));
  const failure: Failure = {
    error: refusalProblem(registrar, outcome, retryAfterS, asked.credentialsSent),
    sipCode: status,
    retryAfterS,
    lasting: !isTemporary(status),
  };
  return { kind: failsOver(status) ? 'unavailable' : 'refused', failure };
}

function bound(
  outcome: Extract<Outcome, { kind: 'answered' }>,
  askedS: number,
  registrar: string,
): RegisterVerdict {
  const { headers, sent, status, reason } = outcome;
  const refused = (error: string): RegisterVerdict => ({
    kind: 'refused',
    failure: { error, sipCode: status, retryAfterS: null, lasting: false },
  });
  // Section 10.3, step 8: a successful registration is answered with 200.
  if (status !== 200) {
    return refused(`${registrar} answered ${`${status} ${reason}`.trim()}: only a 200 confirms the binding.`);
  }
  const contacts = entriesOf(headerOf(headers, 'contact') ?? '');
  const rport = rportOf(headers);
  const own = ownContacts(contacts, uriOf(headerOf(sent, 'contact') ?? ''), rport);
  const expiresS = grantedS(own, headers, askedS);
  if (expiresS === 0) return refused(`${registrar} answered 200 but keeps no binding: it granted 0 seconds.`);
  const doubt = own.length === 0 ? doubtOf(contacts, registrar) : null;
  return { kind: 'bound', expiresS, sipCode: status, rport, doubt };
}

/** Section 10.3, step 8: a 200 lists all bindings, so ours should be among them. */
function doubtOf(contacts: readonly string[], registrar: string): string {
  const listed = contacts.length === 0 ? 'no Contact at all' : 'only Contacts of others';
  return `${registrar} answered 200 but lists ${listed}: it might not send us calls.`;
}

/**
 * The entries that may be ours: the one that we sent, else those with our user, because registrars write the
 * address that they see. Bindings of other edges and earlier connections appear beside it with other ports.
 */
function ownContacts(contacts: readonly string[], ours: string, rport: number | null): readonly string[] {
  const same = contacts.find((contact) => sameContact(uriOf(contact), ours));
  if (same !== undefined) return [same];
  const mine = contacts.filter((contact) => userOf(uriOf(contact)) === userOf(ours));
  const seen = mine.filter((contact) => hostPortOf(uriOf(contact)).endsWith(`:${rport}`));
  return seen.length > 0 ? seen : mine;
}

/**
 * Section 10.2.4: the expiry in our own Contact, else Expires, else what we requested. Of several that may be
 * ours the earliest expiry counts, so that the binding does not end unnoticed; bindings being removed have 0.
 */
function grantedS(own: readonly string[], headers: HeaderFields, askedS: number): number {
  const granted = own.map(expiresOf).filter((seconds) => seconds !== null);
  const lasting = granted.filter((seconds) => seconds > 0);
  if (lasting.length > 0) return Math.min(...lasting);
  return granted[0] ?? secondsOf(headerOf(headers, 'expires')) ?? askedS;
}

function expiresOf(contact: string): number | null {
  const parameters = outsideQuotesAndBrackets(contact);
  return secondsOf(/;\s*expires\s*=\s*(\d+)/i.exec(parameters)?.[1]);
}

/** Hosts are compared case-insensitively, users case-sensitively (RFC 3261 section 19.1.4). */
function sameContact(one: string, other: string): boolean {
  return userOf(one) === userOf(other) && hostOf(one) === hostOf(other);
}

/** Normalized host and port of a Contact. Ours uses TLS, so the default port is 5061. */
function hostOf(contact: string): string {
  const [, host = '', port = '5061'] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(hostPortOf(contact)) ?? [];
  return `${plainHost(host)} ${Number(port)}`;
}

/** `rport` of a response's top Via: our port as the next hop sees it (RFC 3581 section 4). */
export function rportOf(headers: HeaderFields): number | null {
  const [top] = (headerOf(headers, 'via') ?? headerOf(headers, 'v') ?? '').split(',', 1);
  const port = /;\s*rport\s*=\s*(\d{1,5})/i.exec(top ?? '')?.[1];
  return port === undefined ? null : Number(port);
}

/** Leading seconds of a value such as `120 (maintenance);duration=60` (RFC 3261 section 20.33). */
function secondsOf(value: string | undefined): number | null {
  const digits = /^\s*(\d{1,10})(?!\d)/.exec(value ?? '')?.[1];
  return digits === undefined ? null : Math.min(Number(digits), mostS);
}
