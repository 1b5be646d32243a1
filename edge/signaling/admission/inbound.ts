import type { CodecName } from '#shared/codecs.ts';
import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import type { PhoneClaims } from '#shared/phone-session.ts';
import type { RefusalReason } from '#shared/refusals.ts';
import type { TerminationCode } from '#shared/termination.ts';
import type { CallPlan } from '../../call/call-plan.ts';
import { retryAfterS, type Termination } from '../../call/ending.ts';
import type { LegFacts, Refusal } from '../../call/ports/signaling.ts';
import { inboundVariables } from '../invite/header-mapping.ts';
import { InboundLeg } from '../invite/inbound-leg.ts';
import { sessionBody } from '../session/session-body.ts';
import { answerSession, readSession } from '../session/session-timer.ts';
import { respond } from '../srf/environment.ts';
import { headerOf } from '../srf/headers.ts';
import { normalizeNumber, uriOf, userOf } from '../srf/numbers.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';
import { forgetInvite } from '../srf/srf.ts';
import { inviteChecks, numberIsFound, replacesChecks, sourceIsAllowed } from './checks.ts';
import type { Check, InboundDeps, IncomingInvite, Rejection } from './incoming-invite.ts';
import { phoneChecks, phoneIsAuthorized } from './phone/phone-checks.ts';
import { entryDetail } from './refused-records.ts';
import { sourceOf } from './source-of.ts';

/** Checks a new INVITE and makes it a call, or answers it. Synchronous: a CANCEL may follow in the same chunk. */
export function receiveInvite(deps: InboundDeps, request: SrfRequest, response: SrfResponse): void {
  const routing = deps.routing();
  const invite: IncomingInvite = {
    request,
    ...sourceOf(request, routing),
    dialled: userOf(request.uri) ?? '',
    deps,
    routing,
  };
  for (const check of checksOf(invite)) {
    const rejection = check(invite);
    if (rejection) {
      reject(invite, response, rejection);
      return;
    }
  }
  const { number, replaced } = invite;
  if (replaced) replaced.replacedBy(legOf(invite, response));
  else if (number) admit(invite, number, response);
}

function checksOf({ request }: IncomingInvite): readonly Check[] {
  if (isBrowsers(request)) return phoneChecks;
  return headerOf(request.headers, 'replaces') === undefined ? inviteChecks : replacesChecks;
}

/** Whether a request came over a WebSocket, as only browsers send it. */
function isBrowsers({ protocol }: SrfRequest): boolean {
  return protocol === 'wss' || protocol === 'ws';
}

function admit(invite: IncomingInvite, number: NumberConfig, response: SrfResponse): void {
  const { deps, test } = invite;
  const plan = planOf(invite, number);
  const rejected = ({ status, cause }: Refusal) => {
    const reason = cause && reasonOf.get(cause.code);
    if (cause && reason) noteRefusal(invite, { reason, status, detail: cause.detail });
  };
  const leg = legOf(invite, response, {}, test ? undefined : rejected);
  if (!test) deps.calls.admit(leg, plan, codecsOf(invite));
  // No configuration admitted it, so none is counted; it uses the codecs of the number's callers.
  else deps.calls.admit(leg, test.plan(plan), number.inbound[0]?.codecs ?? [], test.changes);
}

/** In order of preference; none: the usual ones. A browser speaks to an agent in Opus, and over a trunk as trunks do. */
function codecsOf({ phone, trunk }: IncomingInvite): readonly CodecName[] {
  if (phone) return phone.to === undefined ? ['Opus', 'PCMU', 'PCMA'] : [];
  return trunk?.codecs ?? [];
}

function reject(invite: IncomingInvite, response: SrfResponse, rejection: Rejection): void {
  const { deps, request, number } = invite;
  const weight = weightOf(invite, rejection);
  // Checked before this attempt is counted: the attempt that triggers the block is still answered.
  const silent = isSilenced(invite) && rejection.weight !== 0;
  const block = weight > 0 && !silent ? countAttempt(invite, weight) : {};
  deps.refused(silent ? 'silenced' : rejection.reason);
  // Each call of a PBX in use begins with a challenge.
  if (rejection.weight !== 0) {
    logRefusal(invite, rejection, silent);
    noteRejection(invite, rejection, silent);
  }
  if (silent) {
    forgetInvite(request);
    return;
  }
  const termination = terminationOf(invite, rejection);
  if (number && termination) {
    deps.calls.refuse(legOf(invite, response, block), planOf(invite, number), termination);
    return;
  }
  const phrase = rejection.phrase === undefined ? {} : { reason: rejection.phrase };
  const retry = rejection.status === 503 ? { 'Retry-After': String(retryAfterS) } : {};
  const headers = { ...retry, ...rejection.headers, ...block };
  respond(deps.environment, response, rejection.status, { headers, ...phrase });
}

/**
 * How many attempts a rejection counts for against the source. A malformed request counts if the source may not call the
 * number anyway: otherwise a stranger could keep sending requests that fail before that check. A 503 is our own fault.
 */
function weightOf(invite: IncomingInvite, { suspicious = false, weight = 1, status }: Rejection): number {
  if (suspicious || invite.admitted) return suspicious ? weight : 0;
  if (status === 503) return 0;
  if (!isBrowsers(invite.request)) numberIsFound(invite);
  const stranger = (isBrowsers(invite.request) ? phoneIsAuthorized : sourceIsAllowed)(invite);
  return stranger ? (stranger.weight ?? 1) : 0;
}

function logRefusal(
  { deps, request, source, dialled, trunk }: IncomingInvite,
  rejection: Rejection,
  silent: boolean,
): void {
  const { log, clock } = deps.environment;
  const line = deps.refusedLines.next(source, clock.elapsed());
  if (!line) return;
  log.info(
    {
      sip_call_id: headerOf(request.headers, 'call-id'),
      source_ip: source,
      dialled,
      trunk_id: trunk?.id ?? null,
      sip_status: silent ? null : rejection.status,
      reason: rejection.reason,
      left_out: line.leftOut,
    },
    'INVITE rejected',
  );
}

function noteRejection(
  invite: IncomingInvite,
  { reason, reported, status, detail, phrase }: Rejection,
  silent: boolean,
): void {
  // The same INVITE comes again at once, with a nonce that is not old.
  if (reason === 'stale_nonce') return;
  const words = detail ?? phrase ?? null;
  noteRefusal(invite, { reason: reported ?? reason, status, detail: words }, silent);
}

interface Noted {
  readonly reason: RefusalReason;
  readonly status: number;
  readonly detail: string | null;
}

/** For the report of refused calls. */
function noteRefusal(invite: IncomingInvite, { reason, status, detail }: Noted, unanswered = false): void {
  const { deps, request, number, source, dialled, routing } = invite;
  const { headers } = request;
  deps.refusedInvites?.note({
    orgId: number?.org_id ?? null,
    number: number?.number ?? null,
    source,
    known: routing?.sources.knows(source) ?? false,
    reason,
    sipStatus: status,
    unanswered,
    detail,
    from: callerOf(headerOf(headers, 'from') ?? ''),
    dialled,
    userAgent: headerOf(headers, 'user-agent'),
    sipCallId: headerOf(headers, 'call-id'),
  });
}

/** Why a call that was admitted got no answer of its agent. */
const reasonOf: ReadonlyMap<TerminationCode, RefusalReason> = new Map([
  ['media_refused', 'media_refused'],
  ['agent_unavailable', 'agent_unavailable'],
  ['no_media_port', 'no_media_port'],
  ['media_lost', 'failed'],
  ['internal_error', 'failed'],
]);

/** The entry for the number's call log; null for none. */
function terminationOf(
  { deps, number, source, admitted }: IncomingInvite,
  rejection: Rejection,
): Termination | null {
  if (!number || !rejection.code || deps.calls.unrecordable !== null) return null;
  const { refusedRecords } = deps;
  const entry = admitted
    ? refusedRecords.ofOwn(number.org_id)
    : refusedRecords.ofStranger(source, number.org_id);
  if (entry)
    return {
      code: rejection.code,
      detail: entryDetail(entry) ?? rejection.detail ?? null,
      sipStatus: rejection.status,
    };
  deps.refused('not_listed');
  return null;
}

/**
 * Whether a source with too many attempts gets no answer to what it may not do. What it may do still works. A proxy is
 * always answered: it would take an edge that does not answer for a dead one.
 */
function isSilenced({ deps, source, proxied, routing, admitted }: IncomingInvite): boolean {
  return !admitted && !proxied && deps.strangers.isBlocked(source) && !routing?.sources.knows(source);
}

/**
 * Counts a suspicious attempt by a source that no trunk names.
 * @param weight how many attempts it counts for
 * @returns the header that blocks the source, when it is due
 */
export function countAttempt(invite: Counted, weight = 1): Record<string, string> {
  const seconds = blockDue(invite, weight);
  return seconds === 0 ? {} : { [privateHeaders.block]: String(seconds) };
}

type Counted = Pick<IncomingInvite, 'deps' | 'source' | 'proxied' | 'routing'>;

/** The same. @returns seconds to block the source now, 0 for no block */
export function blockDue({ deps, source, proxied, routing }: Counted, weight: number): number {
  if (routing?.sources.knows(source)) return 0;
  const seconds = deps.strangers.tried(source, weight);
  if (seconds === 0) return 0;
  deps.refused('blocked');
  // Calls admitted by a very wide network or by credentials must get through: only the source's other requests go
  // unanswered. The engine would block the proxy, not the source behind it.
  const isListed = (routing?.sources.lists(source) ?? false) || deps.digest.sources.has(source);
  deps.environment.log.warn(
    { source_ip: source, seconds },
    'unknown source blocked after too many failed attempts',
  );
  return isListed || proxied ? 0 : seconds;
}

function legOf(
  invite: IncomingInvite,
  response: SrfResponse,
  refusalHeaders: Record<string, string> = {},
  rejected?: (refusal: Refusal) => void,
): InboundLeg {
  const { request, deps } = invite;
  return new InboundLeg({
    environment: deps.environment,
    dialogs: deps.dialogs,
    request,
    response,
    facts: factsOf(invite),
    session: answerSession(readSession(request.headers), deps.environment.session),
    refusalHeaders,
    ...(rejected && { rejected }),
    number: invite.number?.number ?? invite.dialled,
    trunkId: invite.trunk?.id ?? null,
    mappings: invite.trunk?.headers ?? [],
  });
}

function factsOf({ request, source, dialled, number, phone }: IncomingInvite): LegFacts {
  const body = sessionBody(request);
  return {
    sipCallId: headerOf(request.headers, 'call-id') ?? '',
    direction: 'inbound',
    from: phone?.caller ?? callerOf(headerOf(request.headers, 'from') ?? ''),
    to: phone?.to ?? number?.number ?? dialled,
    sourceIp: source,
    offer: body.kind === 'sdp' ? body.sdp : null,
    ...(phone && { browser: true }),
  };
}

/** The caller in E.164 if possible, else its user part, else its whole URI. */
function callerOf(from: string): string {
  const uri = uriOf(from);
  const user = userOf(uri);
  return user === null ? uri : normalizeNumber(user);
}

/** The leg of a supervisor is carried in the place of the call that it joins. */
function supervisionOf({ id: sessionId, supervise: callId, tone }: PhoneClaims) {
  if (callId === undefined) return {};
  return { parentId: callId, supervises: { callId, sessionId, tone: tone === true } };
}

function planOf({ request, trunk, phone }: IncomingInvite, number: NumberConfig): CallPlan {
  return {
    orgId: number.org_id,
    number: number.number,
    trunkId: trunk?.id ?? null,
    agent: phone?.to === undefined ? number.agent : null,
    ...(phone?.to !== undefined && { dial: phone.to }),
    ...(phone && supervisionOf(phone)),
    variables: {
      ...inboundVariables(request.headers, trunk?.headers ?? []),
      ...(phone && { phone_session_id: phone.id }),
    },
  };
}
