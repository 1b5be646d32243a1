/** Explains a failed attempt to the trunk's owner in one sentence: what happened, and what to do. Pure. */
import { defaultCodecs } from '#shared/codecs.ts';
import { bare, connectionProblem } from '#shared/connection-faults.ts';
import type { Termination } from '../ending.ts';
import type { DialRefusal } from '../ports/dialing.ts';
import type { AttemptOutcome, NextHop } from '../ports/routes.ts';
import type { MediaFault } from '../refused.ts';
import { type Cause, type CauseKind, causeOf, rang } from './outbound-cause.ts';

/** One INVITE and its outcome. */
export interface AttemptFacts {
  /** `host:port` as dialed. */
  readonly peer: string;
  /** Number, extension or SIP URI. */
  readonly to: string;
  readonly outcome: AttemptOutcome;
  /** null: no credentials are configured. */
  readonly credentials: { readonly realm: string | null } | null;
  /** In offer order. */
  readonly codecs: readonly string[];
}

export function attemptFacts(hop: NextHop, to: string, outcome: AttemptOutcome): AttemptFacts {
  const { target, route } = hop;
  const host = target.host.includes(':') && !target.host.startsWith('[') ? `[${target.host}]` : target.host;
  return {
    peer: `${host}:${target.port}`,
    to,
    outcome,
    credentials: route.credentials,
    codecs: route.codecs.length > 0 ? route.codecs : defaultCodecs,
  };
}

/** @returns null for an attempt that was answered or canceled by us */
export function attemptProblem(facts: AttemptFacts): string | null {
  const cause = causeOf(facts.outcome);
  return cause && problemOf(cause, facts);
}

/** The termination of an outbound call whose last attempt failed. */
export function terminationOfAttempt(facts: AttemptFacts): Termination {
  const { outcome } = facts;
  const cause = causeOf(outcome);
  if (!cause) return { code: 'no_answer', detail: null };
  const verdict = { code: cause.code, detail: problemOf(cause, facts) };
  if (outcome.kind !== 'final') return verdict;
  const { status, refusal } = outcome;
  return { ...verdict, sipStatus: status, ...(refusal ? { sipReason: refusal.reason } : {}) };
}

/** A host without a usable address. @param error why */
export function unresolvedProblem(peer: string, error: string): string {
  return `There is no usable address for ${peer}: ${bare(error)}.`;
}

/** The SDP of the 200 is unusable: codec, SRTP, or offer/answer rules. @param detail used without a fault */
export function answerProblem(
  fault: MediaFault | null,
  detail: string | null,
  attempt: AttemptFacts | null,
): string {
  const peer = attempt?.peer ?? 'The far end';
  const why = bare(fault?.text ?? detail ?? '');
  if (fault?.kind === 'no_codec')
    return `No common codec: ${peer} answered with none of the offered codecs${attempt ? `: ${attempt.codecs.join(', ')}` : ''}.`;
  return `${peer} answered with media that cannot be used: ${withSmallLetter(why)}.`;
}

/** Lower-cases the first letter for use inside a sentence; names such as SRTP keep theirs. */
export function withSmallLetter(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? `${text[0]?.toLowerCase()}${text.slice(1)}` : text;
}

function problemOf(cause: Cause, facts: AttemptFacts): string {
  const { peer, outcome } = facts;
  switch (outcome.kind) {
    case 'no_connection':
      return connectionProblem(peer, outcome.failure);
    case 'connection_lost':
      return `The connection to ${peer} was lost before the call was answered: ${bare(outcome.failure.text)}.`;
    case 'no_response':
      return `${peer} accepted the connection, but did not respond to the INVITE in time; check that a SIP server listens there and accepts calls from our addresses.`;
    default: {
      const refusal = outcome.kind === 'final' ? outcome.refusal : undefined;
      return `${sentences[cause.kind](facts)}${quoted(cause.sipCode, refusal)}.`;
    }
  }
}

/** The parts of a response that are quoted. */
type Quoted = Partial<Pick<DialRefusal, 'reason' | 'warning' | 'retryAfterS' | 'q850'>>;

/** The response, quoted after the sentence that explains it. */
export function quoted(status: number | null, refusal: Quoted | undefined): string {
  const { reason = '', warning = null, retryAfterS = null, q850 = null } = refusal ?? {};
  const response = [status ?? '', bare(reason)].filter((part) => part !== '').join(' ');
  const parts = [
    `${response}${warning ? `: ${bare(warning)}` : ''}`,
    ...(q850 === null ? [] : [`Q.850 cause ${q850}`]),
    ...(retryAfterS === null ? [] : [`try again after ${retryAfterS} s`]),
  ];
  return ` (${parts.join('; ')})`;
}

type Sentence = (facts: AttemptFacts) => string;

/** One sentence per kind; the quoted response follows it. */
const sentences: Readonly<Record<CauseKind, Sentence>> = {
  redirected: ({ peer, outcome }) => {
    const contacts = outcome.kind === 'final' ? (outcome.refusal?.contacts ?? []) : [];
    const where = contacts.length > 0 ? ` to ${contacts.join(', ')}` : '';
    return `${peer} redirects the call${where}; redirects are not followed; configure the host in the redirect`;
  },
  credentials_missing: ({ peer, credentials, outcome }) => {
    if (outcome.kind === 'final' && outcome.refusal?.challenged === false)
      return `${peer} requires authentication, but its response has no usable challenge`;
    if (credentials === null) return `${peer} requires a user name and password, but none are configured`;
    return credentials.realm === null
      ? `${peer} uses an unsupported digest algorithm; it must offer SHA-256 or MD5`
      : `${peer} requires credentials for another realm than the configured "${credentials.realm}"`;
  },
  credentials_refused: ({ peer, to, outcome }) =>
    outcome.kind === 'final' && outcome.status === 403
      ? `${peer} rejected the call after authentication; check user name and password, and that the account may call ${to}`
      : `${peer} rejected our user name and password; check both`,
  forbidden: ({ peer, to }) =>
    `${peer} rejected the call; allow our addresses, the calling number and calls to ${to} there`,
  payment: ({ peer }) => `${peer} requires payment for the call; check the balance of the account there`,
  identity: ({ peer }) =>
    `${peer} does not accept the calling number or its signature; check that the number may be used there`,
  blocked: ({ peer }) =>
    `${peer} blocked the call as unwanted; ask the carrier why the calling number is blocked`,
  unknown_number: ({ peer, to }) => `${peer} does not know the number or extension ${to}`,
  busy: ({ to }) => `${to} is busy`,
  unavailable: ({ to, outcome }) =>
    outcome.kind === 'final' && outcome.status === 408 && rang(outcome.phase)
      ? `${to} did not answer`
      : `${to} is temporarily unavailable, or did not answer`,
  declined: ({ to }) => `${to} declined the call`,
  media: ({ peer, codecs }) =>
    `${peer} accepts none of the offered media (SRTP with ${codecs.join(', ')}); enable SRTP and one of these codecs`,
  loop: ({ peer }) => `${peer} routes the call in a loop; check the routes there`,
  protocol: ({ peer }) => `${peer} rejected the call`,
  overloaded: ({ peer }) => `${peer} is out of service or overloaded`,
  out_of_service: ({ peer, to }) => `${peer} failed to complete the call after ${to} rang`,
  server_failed: ({ peer }) => `${peer} failed to handle the call`,
  timeout: ({ peer }) => `${peer} got no response from its own next hop`,
  not_connected: ({ peer }) => `${peer} cannot be reached`,
  connection_broke: ({ peer }) => `The connection to ${peer} was lost before the call was answered`,
  no_response: ({ peer }) => `${peer} did not respond in time`,
};
