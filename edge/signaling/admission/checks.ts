import { testKeyHeader } from '../../call/agent-test-calls.ts';
import { shareTaken } from '../../call/capacity.ts';
import { retryAfterS } from '../../call/ending.ts';
import { sessionBody } from '../session/session-body.ts';
import { answerSession, readSession } from '../session/session-timer.ts';
import { accept, headerOf, unsupportedTags } from '../srf/headers.ts';
import { normalizeNumber, uriOf, userOf } from '../srf/numbers.ts';
import { parseReplaces } from '../srf/replaces.ts';
import type { Check, IncomingInvite, Rejection } from './incoming-invite.ts';

const understandsExtensions: Check = ({ request }) => {
  const tags = unsupportedTags(headerOf(request.headers, 'require'));
  if (tags.length === 0) return null;
  return { reason: 'extension', status: 420, headers: { Unsupported: tags.join(', ') } };
};

/** RFC 3261 section 8.1.1.8: a dialog needs a Contact to which requests, above all BYE, can be sent. */
const hasContact: Check = ({ request }) => {
  const contact = headerOf(request.headers, 'contact');
  if (contact === undefined) return { reason: 'malformed', status: 400, phrase: 'Missing Contact' };
  return /^sips?:/i.test(uriOf(contact)) ? null : { reason: 'malformed', status: 400, phrase: 'Bad Contact' };
};

const carriesSdpOrNothing: Check = ({ request }) =>
  sessionBody(request).kind === 'other' ? { reason: 'body', status: 415, headers: { Accept: accept } } : null;

/** RFC 3261 section 8.2.3. */
const isNotEncoded: Check = ({ request }) => {
  const encoding = headerOf(request.headers, 'content-encoding')?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return null;
  return { reason: 'encoding', status: 415, headers: { 'Accept-Encoding': 'identity' } };
};

/** RFC 4028 section 9. */
const sessionIntervalIsLongEnough: Check = ({ request, deps }) => {
  const session = answerSession(readSession(request.headers), deps.environment.session);
  if (session.kind !== 'too_small') return null;
  return { reason: 'session_interval', status: 422, headers: { 'Min-SE': String(session.minS) } };
};

const isConfigured: Check = ({ routing }) =>
  routing === null
    ? { reason: 'no_configuration', status: 503, headers: { 'Retry-After': String(retryAfterS) } }
    : null;

/**
 * Runs before anything is known about the caller: a rejection with a record would need the storage that is
 * missing.
 */
const reportsCanBeStored: Check = ({ deps }) =>
  deps.calls.unrecordable !== null
    ? { reason: 'storage', status: 503, headers: { 'Retry-After': String(retryAfterS) } }
    : null;

/**
 * Finds the number. A registrar sends its calls to the Contact that we gave it, whose user is that of the
 * registration. An unknown number is not reported yet: only sources that may call one of our numbers learn which
 * exist.
 */
export const numberIsFound: Check = (invite) => {
  const { routing, dialled, source, request, deps } = invite;
  const direct = routing?.numbers.find(dialled);
  const to = normalizeNumber(userOf(uriOf(headerOf(request.headers, 'to') ?? '')) ?? '');
  const registered = routing?.sources.registered(dialled, source, to, direct, deps.isBoundAt);
  if (registered) {
    invite.number = registered.number;
    invite.trunk = registered.trunk;
    return null;
  }
  const number = direct ?? routing?.sources.registeredAnywhere(dialled);
  if (number) invite.number = number;
  return null;
};

/** A caller with an unexpected test key is rejected, whatever its address. */
const testKeyIsOurs: Check = (invite) => {
  const { request, deps, dialled, number } = invite;
  const key = headerOf(request.headers, testKeyHeader.toLowerCase());
  if (key === undefined) return null;
  const sipCallId = headerOf(request.headers, 'call-id') ?? '';
  const test = deps.agentTestCalls?.claim(key, { number: number?.number ?? dialled, sipCallId });
  const answers = test?.answers ?? number;
  if (!test || !answers)
    return { reason: 'test_key', status: 403, code: 'source_not_allowed', suspicious: true };
  invite.test = test;
  invite.number = answers;
  delete invite.trunk;
  return null;
};

export const sourceIsAllowed: Check = (invite) => {
  const { number, routing, source } = invite;
  if (!invite.trunk && !invite.test) {
    const admission = number && routing?.sources.admit(number, source);
    if (admission?.allowed) invite.trunk = admission.trunk;
    else {
      const rejection = withoutCredentials(invite);
      if (rejection) return rejection;
    }
  }
  invite.admitted = true;
  return null;
};

/**
 * A caller without credentials counts as a quarter of an attempt: every call of a PBX begins so, and its first calls
 * may come together.
 */
export const challengeWeight = 1 / 4;

/**
 * The credentials of a caller whose address may not call the number; null when they are right. As soon as any number
 * has credentials, all numbers are challenged, existing or not: the answer reveals nothing.
 */
function withoutCredentials(invite: IncomingInvite): Rejection | null {
  const { number, routing, source, request, deps } = invite;
  const key = routing?.sources.nonceKey ?? null;
  if (key === null) return notAllowed(invite);
  invite.verdict ??= deps.digest.judge({
    method: request.method,
    authorization: headerOf(request.headers, 'authorization'),
    userAgent: headerOf(request.headers, 'user-agent'),
    source,
    trunks: number?.inbound ?? [],
    key,
  });
  const { verdict } = invite;
  switch (verdict.kind) {
    case 'passed':
      invite.trunk = verdict.trunk;
      return null;
    case 'challenge':
      return {
        reason: verdict.stale ? 'stale_nonce' : 'challenged',
        status: 401,
        headers: { 'WWW-Authenticate': verdict.header },
        suspicious: true,
        weight: deps.digest.sources.has(source) ? 0 : challengeWeight,
      };
    case 'malformed':
      return { reason: 'malformed', status: 400, phrase: 'Malformed Authorization', suspicious: true };
    case 'wrong':
      return {
        ...notAllowed(invite),
        ...(number && { reported: 'wrong_credentials' }),
        detail: 'User name or password of the call are wrong.',
      };
  }
}

/**
 * The answer to a source that may not call the number. It never reveals whether the number exists: a stranger
 * gets 403 for every number. A source that some organization names gets 403 for that organization's numbers, and
 * 404 for all others, whether or not they exist. The record may differ, the response may not.
 */
function notAllowed({ number, routing, source }: IncomingInvite): Rejection {
  const isOwn = number && routing?.sources.isOfOrganization(number.org_id, source);
  const status = routing?.sources.knows(source) && !isOwn ? 404 : 403;
  if (!number) return { reason: 'number_unknown', status, suspicious: true };
  return { reason: 'source_not_allowed', status, code: 'source_not_allowed', suspicious: true };
}

const edgeAcceptsCalls: Check = ({ deps, number, proxied }) => {
  const closed = number ? deps.calls.closedFor(number.org_id) : null;
  // The proxy sends the call to another edge, whose record is the call's.
  if (closed === 'draining' && proxied) return { reason: closed, status: 503 };
  if (closed === 'organization_share')
    return { reason: closed, status: 503, code: 'capacity', detail: shareTaken };
  return closed === null ? null : { reason: closed, status: 503, code: closed };
};

/** A phone session that calls out needs none, nor does a supervisor. */
const numberHasAgent: Check = ({ number, phone }) =>
  number?.agent || phone?.to !== undefined || phone?.supervise !== undefined
    ? null
    : { reason: 'no_agent', status: 480, code: 'no_agent' };

/** What any new call needs, before it is looked who calls. */
export const requestChecks: readonly Check[] = [
  understandsExtensions,
  hasContact,
  isNotEncoded,
  carriesSdpOrNothing,
  sessionIntervalIsLongEnough,
  isConfigured,
  reportsCanBeStored,
];

/** What one that may call the number needs. */
export const callChecks: readonly Check[] = [edgeAcceptsCalls, numberHasAgent];

export const inviteChecks: readonly Check[] = [
  ...requestChecks,
  numberIsFound,
  testKeyIsOurs,
  sourceIsAllowed,
  ...callChecks,
];

// ---------------------------------------------------------------- INVITE with Replaces (RFC 3891 section 3)

const replacesIsWellFormed: Check = (invite) => {
  const replaces = parseReplaces(headerOf(invite.request.headers, 'replaces') ?? '');
  if (!replaces) return { reason: 'malformed', status: 400, phrase: 'Malformed Replaces' };
  invite.replaces = replaces;
  invite.replaced = invite.deps.dialogs.named(replaces);
  return null;
};

/** Whether the caller can still authenticate. */
function isChallenge({ status }: Rejection): boolean {
  return status === 401;
}

/**
 * The request is addressed to our Contact, so the number is that of the call it names; a registrar is
 * additionally recognized by the Contact's user. A source that may not call the number gets the same answer as if
 * the call did not exist.
 */
const mayReplace: Check = (invite) => {
  const { routing, replaced, source } = invite;
  numberIsFound(invite);
  const number = replaced ? routing?.numbers.find(replaced.account.number) : invite.number;
  if (number) {
    if (number.number !== invite.number?.number) delete invite.trunk;
    invite.number = number;
    const rejection = sourceIsAllowed(invite);
    if (!rejection || isChallenge(rejection) || !routing?.sources.knows(source)) return rejection;
  }
  if (routing?.sources.knows(source)) return replaced ? noSuchDialog : null;
  if (!replaced && !number && invite.deps.digest.sources.has(source)) {
    // It has authenticated from there: the call that it names may have just ended, and with it the number is not known.
    invite.admitted = true;
    return null;
  }
  const rejection = withoutCredentials(invite);
  if (rejection && isChallenge(rejection)) return rejection;
  return { reason: 'source_not_allowed', status: 403, suspicious: true };
};

const noSuchDialog: Rejection = { reason: 'replaces', status: 481 };

const dialogCanBeReplaced: Check = ({ replaces, replaced }) => {
  // An ended call is forgotten, and an unanswered one cannot be replaced.
  if (!replaced) return noSuchDialog;
  if (replaced.leaving) return { reason: 'replaces', status: 603 };
  return replaces?.earlyOnly ? { reason: 'replaces', status: 486 } : null;
};

/** Capacity and agent are not checked: the call already exists. */
export const replacesChecks: readonly Check[] = [
  understandsExtensions,
  hasContact,
  isNotEncoded,
  carriesSdpOrNothing,
  sessionIntervalIsLongEnough,
  isConfigured,
  replacesIsWellFormed,
  mayReplace,
  dialogCanBeReplaced,
];
