import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import { plainAddress } from '#shared/networks.ts';
import type { CallPlan } from '../../call/call-plan.ts';
import { retryAfterS, type Termination } from '../../call/ending.ts';
import type { LegFacts } from '../../call/ports/signaling.ts';
import { inboundVariables } from '../invite/header-mapping.ts';
import { InboundLeg } from '../invite/inbound-leg.ts';
import { sessionBody } from '../session/session-body.ts';
import { respond } from '../srf/environment.ts';
import { headerOf } from '../srf/headers.ts';
import { normalizeNumber, uriOf, userOf } from '../srf/numbers.ts';
import { answerSession, readSession } from '../srf/session-timer.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';
import { forgetInvite } from '../srf/srf.ts';
import { entryDetail } from './refused-records.ts';
import { numberIsFound, replacingVerbs, sourceIsAllowed, verbs } from './verbs.ts';
import type { InboundDeps, Turned, Visit } from './visit.ts';

/** Checks a new INVITE and makes it a call, or answers it. Synchronous: a CANCEL may follow in the same chunk. */
export function receiveInvite(deps: InboundDeps, request: SrfRequest, response: SrfResponse): void {
  const visit: Visit = {
    request,
    source: plainAddress(request.source_address),
    dialled: userOf(request.uri) ?? '',
    deps,
    routing: deps.routing(),
  };
  const replacing = headerOf(request.headers, 'replaces') !== undefined;
  for (const verb of replacing ? replacingVerbs : verbs) {
    const turned = verb(visit);
    if (turned) {
      turnAway(visit, response, turned);
      return;
    }
  }
  const { number, replaced } = visit;
  if (replaced) replaced.replacedBy(legOf(visit, response));
  else if (number) admit(visit, number, response);
}

function admit(visit: Visit, number: NumberConfig, response: SrfResponse): void {
  const { deps, test, trunk } = visit;
  const plan = planOf(visit, number);
  const leg = legOf(visit, response);
  if (!test) deps.calls.admit(leg, plan, trunk?.codecs ?? []);
  // No configuration admitted it, so none is counted; it uses the codecs of the number's callers.
  else deps.calls.admit(leg, test.plan(plan), number.inbound[0]?.codecs ?? [], test.changes);
}

function turnAway(visit: Visit, response: SrfResponse, turned: Turned): void {
  const { deps, request, number } = visit;
  const counts = isTry(visit, turned);
  // Checked before this attempt is counted: the attempt that triggers the block is still answered.
  const silent = isSilenced(visit);
  const block = counts && !silent ? countTry(visit) : {};
  deps.refused(silent ? 'silenced' : turned.reason);
  logRefusal(visit, turned, silent);
  if (silent) {
    forgetInvite(request);
    return;
  }
  const termination = terminationOf(visit, turned);
  if (number && termination) {
    deps.calls.refuse(legOf(visit, response, block), planOf(visit, number), termination);
    return;
  }
  const phrase = turned.phrase === undefined ? {} : { reason: turned.phrase };
  const retry = turned.status === 503 ? { 'Retry-After': String(retryAfterS) } : {};
  const headers = { ...retry, ...turned.headers, ...block };
  respond(deps.environment, response, turned.status, { headers, ...phrase });
}

/**
 * Whether a rejection counts against the source. A malformed request counts if the source may not call the number
 * anyway: otherwise a stranger could keep sending requests that fail before that check. A 503 is our own fault.
 */
function isTry(visit: Visit, turned: Turned): boolean {
  if (turned.suspicious || visit.admitted) return turned.suspicious === true;
  if (turned.status === 503) return false;
  numberIsFound(visit);
  return sourceIsAllowed(visit) !== null;
}

function logRefusal({ deps, request, source, dialled, trunk }: Visit, turned: Turned, silent: boolean): void {
  const { log, clock } = deps.environment;
  const line = deps.refusedLines.tell(source, clock.elapsed());
  if (!line) return;
  log.info(
    {
      sip_call_id: headerOf(request.headers, 'call-id'),
      source_ip: source,
      dialled,
      trunk_id: trunk?.id ?? null,
      sip_status: silent ? null : turned.status,
      reason: turned.reason,
      left_out: line.leftOut,
    },
    'INVITE rejected',
  );
}

/** The entry for the number's call log; null for none. */
function terminationOf({ deps, number, source, admitted }: Visit, turned: Turned): Termination | null {
  if (!number || !turned.code || deps.calls.unrecordable !== null) return null;
  const { refusedRecords } = deps;
  const entry = admitted
    ? refusedRecords.ofOwn(number.org_id)
    : refusedRecords.ofStranger(source, number.org_id);
  if (entry)
    return {
      code: turned.code,
      detail: entryDetail(entry) ?? turned.detail ?? null,
      sipStatus: turned.status,
    };
  deps.refused('not_listed');
  return null;
}

/** Whether a source with too many attempts gets no answer to what it may not do. What it may do still works. */
function isSilenced({ deps, source, routing, admitted }: Visit): boolean {
  return !admitted && deps.strangers.isBlocked(source) && !routing?.sources.knows(source);
}

/**
 * Counts a suspicious attempt by a source that no trunk names.
 * @param weight how many attempts it counts for
 * @returns the header that blocks the source, when it is due
 */
export function countTry(
  visit: Pick<Visit, 'deps' | 'source' | 'routing'>,
  weight = 1,
): Record<string, string> {
  const seconds = blockDue(visit, weight);
  return seconds === 0 ? {} : { [privateHeaders.block]: String(seconds) };
}

/** The same. @returns seconds to block the source now, 0 for no block */
export function blockDue(
  { deps, source, routing }: Pick<Visit, 'deps' | 'source' | 'routing'>,
  weight: number,
): number {
  if (routing?.sources.knows(source)) return 0;
  const seconds = deps.strangers.tried(source, weight);
  if (seconds === 0) return 0;
  deps.refused('blocked');
  // Calls admitted by a very wide network must get through: only the source's other requests go unanswered.
  const isListed = routing?.sources.lists(source) ?? false;
  deps.environment.log.warn(
    { source_ip: source, seconds },
    'unknown source blocked after too many failed attempts',
  );
  return isListed ? 0 : seconds;
}

function legOf(visit: Visit, response: SrfResponse, refusalHeaders: Record<string, string> = {}): InboundLeg {
  const { request, deps } = visit;
  return new InboundLeg({
    environment: deps.environment,
    dialogs: deps.dialogs,
    request,
    response,
    facts: factsOf(visit),
    session: answerSession(readSession(request.headers), deps.environment.session),
    refusalHeaders,
  });
}

function factsOf({ request, source, dialled, number }: Visit): LegFacts {
  const body = sessionBody(request);
  return {
    sipCallId: headerOf(request.headers, 'call-id') ?? '',
    direction: 'inbound',
    from: callerOf(headerOf(request.headers, 'from') ?? ''),
    to: number?.number ?? dialled,
    sourceIp: source,
    offer: body.kind === 'sdp' ? body.sdp : null,
  };
}

/** The caller in E.164 if possible, else its user part, else its whole URI. */
function callerOf(from: string): string {
  const uri = uriOf(from);
  const user = userOf(uri);
  return user === null ? uri : normalizeNumber(user);
}

function planOf({ request, trunk }: Visit, number: NumberConfig): CallPlan {
  return {
    orgId: number.org_id,
    number: number.number,
    trunkId: trunk?.id ?? null,
    agent: number.agent,
    variables: inboundVariables(request.headers, trunk?.headers ?? []),
  };
}
