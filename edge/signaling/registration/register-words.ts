/**
 * Why a registration failed, in one sentence for the owner of the PBX: what happened, and what to do.
 * `shared/connection-faults.ts` classifies connection faults, the table used for calls classifies statuses; only
 * the texts are specific to REGISTER. Pure.
 */

import {
  bare,
  type ConnectionFailure,
  connectionFailure,
  connectionProblem,
} from '#shared/connection-faults.ts';
import { counted } from '#shared/counted.ts';
import { meaningOf } from '#shared/sip-status.ts';
import { quoted } from '../../call/causes/cause-words.ts';
import type { CauseKind } from '../../call/causes/outbound-cause.ts';
import { parseChallenges, strongest } from '../srf/digest.ts';
import { NoEngine } from '../srf/engine-errors.ts';
import type { Outcome, Silence } from '../srf/exchange.ts';
import { type HeaderFields, headerOf } from '../srf/headers.ts';
import { redirectTargets, warningText } from '../srf/refusal.ts';
import { mostRefusals, refusalWindowMs } from './refusal-budget.ts';

/** No response from the registrar. */
export function silenceProblem(place: string, why: Silence): string {
  if (why.kind !== 'timeout') return connectionProblem(place, unreached(why));
  return `${place} did not respond to the REGISTER in time; check that a SIP registrar listens there and accepts requests from our addresses.`;
}

function unreached(why: Exclude<Silence, { kind: 'timeout' }>): ConnectionFailure {
  return why.kind === 'unreachable' ? why.failure : connectionFailure('unknown', new NoEngine().message);
}

type Answer = Extract<Outcome, { kind: 'answered' }>;
type Sentence = (place: string, headers: HeaderFields) => string;

const refused: Sentence = (place) => `${place} rejected the registration`;

/** For a REGISTER; a kind that only applies to calls is reported as a rejection. */
const sentences = {
  redirected: (place: string, headers: HeaderFields) => {
    const contacts = redirectTargets(headers);
    const where = contacts.length > 0 ? ` to ${contacts.join(', ')}` : '';
    return `${place} redirects the registration${where}; redirects are not followed; configure the host in the redirect`;
  },
  credentials_missing: (place: string) =>
    `${place} requires an unsupported authentication; it must offer SIP digest with SHA-256 or MD5`,
  credentials_refused: (place: string) =>
    `${place} rejected our user name and password; the account there must have the derived password, returned by attach and update (register_password_for_pbx)`,
  forbidden: (place: string) =>
    `${place} forbids this registration; check the account there, and that it may register from our addresses`,
  unknown_number: (place: string) =>
    `${place} does not know this user; check the user name of the account there`,
  overloaded: (place: string) => `${place} is out of service or overloaded`,
  server_failed: (place: string) => `${place} failed to handle the registration`,
  timeout: (place: string) => `${place} got no response from its own next hop`,
} satisfies Partial<Record<CauseKind, Sentence>>;

/** A final response other than 2xx for which there is no retry. */
export function refusalProblem(
  place: string,
  answer: Answer,
  retryAfterS: number | null,
  credentialsSent: boolean,
): string {
  const { status, headers, reason } = answer;
  const refusal = { reason, warning: warningText(headers), retryAfterS };
  return `${sentenceOf(status, credentialsSent)(place, headers)}${quoted(status, refusal)}.`;
}

function sentenceOf(status: number, credentialsSent: boolean): Sentence {
  if (status === 423) return (place) => `${place} rejects the interval as too brief and names no minimum`;
  // Registrars also answer a wrong password with 403 (RFC 3261 section 21.4.4 forbids a retry with it).
  if (status === 403 && credentialsSent) return sentences.credentials_refused;
  const kind = meaningOf(status);
  const known: Partial<Readonly<Record<CauseKind, Sentence>>> = sentences;
  return known[kind] ?? refused;
}

/**
 * Why a challenge was not answered, or not answered again.
 * @param answered whether credentials had been sent for this request
 */
export function challengeProblem(
  place: string,
  { status, headers, reason }: Pick<Answer, 'status' | 'headers' | 'reason'>,
  answered: boolean,
): string {
  const challenge = headerOf(headers, status === 401 ? 'www-authenticate' : 'proxy-authenticate') ?? '';
  const quote = quoted(status, { reason, warning: warningText(headers) });
  if (strongest(parseChallenges(challenge), null) === null)
    return `${sentences.credentials_missing(place)}${quote}.`;
  return answered
    ? `${sentences.credentials_refused(place)}${quote}.`
    : `${place} requires a weaker digest than before, which is not answered${quote}.`;
}

export function tooBriefProblem(place: string): string {
  return `${place} rejects every interval as too brief (423).`;
}

/** The connection over which the registrar would call is gone. @param why null: another one has replaced it */
export function flowProblem(place: string, why: Silence | null): string {
  if (why === null) return `The connection to ${place} was lost and reopened.`;
  const cause = why.kind === 'timeout' ? 'it no longer answers' : bare(unreached(why).text);
  return `The connection to ${place} was lost: ${cause}.`;
}

/** The budget of the organization at the registrar is used up. */
export function budgetProblem(place: string): string {
  const minutes = counted(refusalWindowMs / 60_000, 'minute');
  return (
    `${place} has rejected ${mostRefusals} registrations of this organization within ${minutes}. ` +
    'More could get the edge banned there for all organizations; correct user names and passwords.'
  );
}
