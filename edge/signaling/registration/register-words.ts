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
export function silenceProblem(registrar: string, why: Silence): string {
  if (why.kind !== 'timeout') return connectionProblem(registrar, unreached(why));
  return `${registrar} did not respond to the REGISTER in time; check that a SIP registrar listens there and accepts requests from our addresses.`;
}

function unreached(why: Exclude<Silence, { kind: 'timeout' }>): ConnectionFailure {
  return why.kind === 'unreachable' ? why.failure : connectionFailure('unknown', new NoEngine().message);
}

type Answer = Extract<Outcome, { kind: 'answered' }>;
type Sentence = (registrar: string, headers: HeaderFields) => string;

const refused: Sentence = (registrar) => `${registrar} rejected the registration`;

/** For a REGISTER; a kind that only applies to calls is reported as a rejection. */
const sentences = {
  redirected: (registrar: string, headers: HeaderFields) => {
    const contacts = redirectTargets(headers);
    const where = contacts.length > 0 ? ` to ${contacts.join(', ')}` : '';
    return `${registrar} redirects the registration${where}; redirects are not followed; configure the host in the redirect`;
  },
  credentials_missing: (registrar: string) =>
    `${registrar} requires an unsupported authentication; it must offer SIP digest with SHA-256 or MD5`,
  credentials_refused: (registrar: string) =>
    `${registrar} rejected our user name and password; the account there must have the derived password, returned by attach and update (register_password_for_pbx)`,
  forbidden: (registrar: string) =>
    `${registrar} forbids this registration; check the account there, and that it may register from our addresses`,
  unknown_number: (registrar: string) =>
    `${registrar} does not know this user; check the user name of the account there`,
  overloaded: (registrar: string) => `${registrar} is out of service or overloaded`,
  server_failed: (registrar: string) => `${registrar} failed to handle the registration`,
  timeout: (registrar: string) => `${registrar} got no response from its own next hop`,
} satisfies Partial<Record<CauseKind, Sentence>>;

/** A final response other than 2xx for which there is no retry. */
export function refusalProblem(
  registrar: string,
  answer: Answer,
  retryAfterS: number | null,
  credentialsSent: boolean,
): string {
  const { status, headers, reason } = answer;
  const refusal = { reason, warning: warningText(headers), retryAfterS };
  return `${sentenceOf(status, credentialsSent)(registrar, headers)}${quoted(status, refusal)}.`;
}

function sentenceOf(status: number, credentialsSent: boolean): Sentence {
  if (status === 423)
    return (registrar) => `${registrar} rejects the interval as too brief and names no minimum`;
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
  registrar: string,
  { status, headers, reason }: Pick<Answer, 'status' | 'headers' | 'reason'>,
  answered: boolean,
): string {
  const challenge = headerOf(headers, status === 401 ? 'www-authenticate' : 'proxy-authenticate') ?? '';
  const quote = quoted(status, { reason, warning: warningText(headers) });
  if (strongest(parseChallenges(challenge), null) === null)
    return `${sentences.credentials_missing(registrar)}${quote}.`;
  return answered
    ? `${sentences.credentials_refused(registrar)}${quote}.`
    : `${registrar} requires a weaker digest than before, which is not answered${quote}.`;
}

export function tooBriefProblem(registrar: string): string {
  return `${registrar} rejects every interval as too brief (423).`;
}

/** The connection over which the registrar would call is gone. @param why null: another one has replaced it */
export function flowProblem(registrar: string, why: Silence | null): string {
  if (why === null) return `The connection to ${registrar} was lost and reopened.`;
  const cause = why.kind === 'timeout' ? 'it no longer answers' : bare(unreached(why).text);
  return `The connection to ${registrar} was lost: ${cause}.`;
}

/** The budget of the organization at the registrar is used up. */
export function budgetProblem(registrar: string): string {
  const minutes = counted(refusalWindowMs / 60_000, 'minute');
  return (
    `${registrar} has rejected ${mostRefusals} registrations of this organization within ${minutes}. ` +
    'More could get the edge banned there for all organizations; correct user names and passwords.'
  );
}
