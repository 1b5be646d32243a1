/** What is wrong when an INVITE of a test call gets no answer: one sentence for whoever owns the trunk. Pure. */

import type { DialRefusal } from '../../call/ports/dialing.ts';
import type { AttemptOutcome } from '../../call/ports/routes.ts';

/** One INVITE, and what came of it. */
export interface AttemptFacts {
  /** `host:port` as dialled. */
  readonly place: string;
  /** Number or extension. */
  readonly to: string;
  readonly outcome: AttemptOutcome;
  /** The final response, when one came. */
  readonly refusal: Pick<DialRefusal, 'status' | 'reason' | 'warning'> | null;
  /** null: the configuration has none. */
  readonly credentials: { readonly realm: string | null } | null;
  /** In the order of the offer. */
  readonly codecs: readonly string[];
}

/** @returns null for an attempt that was answered or given up */
export function attemptProblem(facts: AttemptFacts): string | null {
  const { place, outcome } = facts;
  switch (outcome.kind) {
    case 'no_connection':
      return connectionProblem(place, outcome.error);
    case 'connection_lost':
      return `The connection to ${place} broke before the call was answered: ${bare(outcome.error)}.`;
    case 'no_response':
      return `${place} took the connection, but did not respond to the INVITE in time; check that a SIP server listens there and takes calls from our addresses.`;
    case 'canceled':
      return null;
    case 'final':
      return outcome.status < 300 ? null : refusalProblem(facts, outcome);
  }
}

/** A host for which there is nothing to connect to. @param error why */
export function unresolvedProblem(place: string, error: string): string {
  return `There is no usable address for ${place}: ${bare(error.replace(/^unreachable: /, ''))}.`;
}

// ---------------------------------------------------------------- connections

type Explain = (place: string, error: string) => string;

/** What the engine says of a connection that cannot be had, in the order in which it is looked for. */
const connectionProblems: readonly (readonly [RegExp, Explain])[] = [
  [/our certificates cannot be used/i, (_, error) => `The edge's own certificate is at fault: ${error}.`],
  [/certificate has expired/i, (place) => `The certificate of ${place} has expired; renew it.`],
  [/certificate is not yet valid/i, (place) => `The certificate of ${place} is not valid yet.`],
  [
    /does not match certificate|not in the cert's|hostname mismatch/i,
    (place, error) =>
      `The certificate of ${place} is for another host (${after(error, /altnames: /).replace(/:$/, '')}); it must name the host that is dialled.`,
  ],
  [
    /certificate refused/i,
    (place, error) =>
      `The certificate of ${place} is not from an authority that we trust (${after(error, /certificate refused: /)}); install one with its intermediate certificates.`,
  ],
  [
    /name resolution failed|has no address/i,
    (place, error) => `There is no usable address for ${place}: ${error}.`,
  ],
  [
    /connection refused/i,
    (place) => `Nothing listens at ${place}: the connection was refused; check host, port and firewall.`,
  ],
  [
    /not done within|no answer to TCP connect/i,
    (place) => `${place} took no connection in time; check host, port and firewall.`,
  ],
  // RFC 8446 section 4.4.2.4: with TLS 1.3 the far end says so after the handshake, as the connection breaks.
  [
    /alert certificate required/i,
    (place) =>
      `${place} asks for a certificate of ours, and there is none for that host; put one into the folder TLS_CLIENT_CERTS of the edge.`,
  ],
  [
    /alert (?:bad certificate|unsupported certificate|certificate (?:revoked|expired|unknown)|unknown ca)/i,
    (place, error) =>
      `${place} does not accept the certificate that we show it (${after(error, /^.*\balert /)}); replace the one in the folder TLS_CLIENT_CERTS of the edge.`,
  ],
  [
    /connection lost/i,
    (place, error) => `The connection to ${place} broke as we called: ${after(error, /connection lost: /)}.`,
  ],
  [/unreachable \(/i, (place) => `No network route leads to ${place}; check the address.`],
  [
    /TLS handshake failed|during the handshake/i,
    (place, error) =>
      `${place} does not speak TLS as we do (${after(error, /TLS handshake failed: /)}); check that the port is the one for SIP over TLS, and TLS 1.2 or newer.`,
  ],
];

/** Advice that Node adds for whoever runs the program. */
const adviceOfNode = /; if the root CA is installed locally.*$/;

function connectionProblem(place: string, error: string): string {
  const text = bare(error.replace(adviceOfNode, ''));
  const found = connectionProblems.find(([pattern]) => pattern.test(text));
  return found ? found[1](place, text) : `${place} cannot be reached: ${text}.`;
}

// ---------------------------------------------------------------- refusals

type FinalOutcome = Extract<AttemptOutcome, { kind: 'final' }>;

/** A sentence, before the response is quoted behind it. */
type Refused = (facts: AttemptFacts, outcome: FinalOutcome) => string;

const unknownNumber: Refused = ({ place, to }) => `${place} does not know the number or extension ${to}`;
const noCommonCodec: Refused = ({ place, codecs }) =>
  `${place} accepts none of the media that we offer (SRTP with ${codecs.join(', ')}); enable SRTP and one of these codecs`;
const busy: Refused = ({ to }) => `${to} is busy`;
const notAuthorized: Refused = ({ place, credentials }, { credentialsSent }) => {
  if (credentialsSent) return `${place} does not accept our user name and password; check both`;
  if (credentials === null)
    return `${place} asks for a user name and password, and the configuration has none`;
  return credentials.realm === null
    ? `${place} asks for credentials by a digest that we cannot answer; it must offer SHA-256 or MD5`
    : `${place} asks for credentials of another realm than "${credentials.realm}", which the configuration has`;
};

/** SIP status to what it means for a trunk. */
const refusals: Readonly<Record<number, Refused>> = {
  401: notAuthorized,
  403: ({ place, to }) =>
    `${place} refuses our call; allow our addresses and the calling number there, and calls to ${to}`,
  404: unknownNumber,
  407: notAuthorized,
  408: ({ place, to }, { ringing }) =>
    ringing ? `${to} did not answer` : `${place} got no answer from behind it`,
  415: noCommonCodec,
  480: ({ to }) => `${to} cannot be reached at the far end now, or did not answer`,
  484: unknownNumber,
  486: busy,
  488: noCommonCodec,
  503: ({ place }) => `${place} is out of service or overloaded`,
  600: busy,
  603: ({ to }) => `${to} declined the call`,
  604: unknownNumber,
  606: noCommonCodec,
};

function refusalProblem(facts: AttemptFacts, outcome: FinalOutcome): string {
  const sentence = refusals[outcome.status]?.(facts, outcome) ?? otherRefusal(facts.place, outcome.status);
  const { reason = '', warning = null } = facts.refusal ?? {};
  const response = [outcome.status, bare(reason)].filter((part) => part !== '').join(' ');
  return `${sentence} (${response}${warning ? `: ${bare(warning)}` : ''}).`;
}

function otherRefusal(place: string, status: number): string {
  if (status < 400)
    return `${place} redirects the call, which we do not follow; configure the host that it names`;
  return status >= 500 && status < 600 ? `${place} failed to handle the call` : `${place} refused the call`;
}

// ---------------------------------------------------------------- text

/** Without the full stop, so that it can stand within a sentence. */
export function bare(text: string): string {
  return text.trim().replace(/\.+$/, '');
}

/** What stands behind a mark in the text; all of it when it has none. */
function after(text: string, mark: RegExp): string {
  const found = mark.exec(text);
  return found ? text.slice(found.index + found[0].length) : text;
}
