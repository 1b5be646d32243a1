/**
 * An incoming INVITE passes a list of checks ("verbs"), each of which accepts or rejects it. An INVITE that
 * passes all of them becomes a call.
 */
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { InboundTrunk, NumberConfig } from '#shared/edge-protocol/numbers.ts';
import type { LogThinning } from '#shared/log-thinning.ts';
import { plainAddress } from '#shared/networks.ts';
import type { TerminationCode } from '#shared/termination.ts';
import type { CallPlan } from '../../call/call-plan.ts';
import type { Calls } from '../../call/calls.ts';
import type { Termination } from '../../call/ending.ts';
import { retryAfterS } from '../../call/live-call.ts';
import type { LegFacts } from '../../call/ports/signaling.ts';
import { shareTaken } from '../../call/room.ts';
import { type TestVisit, type TestVisits, testKeyHeader } from '../../call/test-visits.ts';
import { inboundVariables } from '../invite/header-mapping.ts';
import { InboundLeg } from '../invite/inbound-leg.ts';
import type { DialogOwner, Dialogs } from '../session/dialogs.ts';
import { sessionBody } from '../session/session-body.ts';
import { type Environment, respond } from '../srf/environment.ts';
import { accept, headerOf, unsupportedTags } from '../srf/headers.ts';
import { type NumberIndex, normalizeNumber, uriOf, userOf } from '../srf/numbers.ts';
import { parseReplaces, type Replaces } from '../srf/replaces.ts';
import { answerSession, readSession } from '../srf/session-timer.ts';
import type { SrfRequest, SrfResponse } from '../srf/srf.ts';
import { forgetInvite } from '../srf/srf.ts';
import { entryDetail, type RefusedRecords } from './refused-records.ts';
import type { IsBoundAt, SourceIndex } from './sources.ts';
import type { Strangers } from './strangers.ts';

/** The configuration, in the form used to check an INVITE. */
export interface Routing {
  readonly config: EdgeConfig;
  readonly numbers: NumberIndex;
  readonly sources: SourceIndex;
}

/** The layer that takes the calls. */
export type CallTaker = Pick<Calls, 'refuse' | 'endAll' | 'draining' | 'closedFor' | 'unrecordable'> & {
  admit(...call: Parameters<Calls['admit']>): unknown;
};

export interface InboundDeps {
  readonly environment: Environment;
  readonly dialogs: Dialogs;
  readonly calls: CallTaker;
  readonly strangers: Strangers;
  readonly refusedRecords: RefusedRecords;
  readonly refusedLines: LogThinning;
  /** Calls of the edge to itself; absent: the edge makes none. */
  readonly testVisits?: TestVisits | undefined;
  /** null until the first configuration arrives. */
  readonly routing: () => Routing | null;
  readonly isBoundAt: IsBoundAt;
  /** Counts an INVITE that was rejected before it became a call. */
  readonly refused: (reason: string) => void;
}

/** Header that tells the embedded engine, which removes it, to block the source for some seconds. */
const blockHeader = 'X-Trunkline-Block';

/** An INVITE and the results of the checks so far. */
interface Visit {
  readonly request: SrfRequest;
  readonly source: string;
  readonly dialled: string;
  readonly deps: InboundDeps;
  readonly routing: Routing | null;
  number?: NumberConfig;
  trunk?: InboundTrunk | null;
  /** Whether the source may call the number. */
  admitted?: boolean;
  /** Set for a call of our own. */
  test?: TestVisit;
  /** Its parsed Replaces header. */
  replaces?: Replaces;
  /** The answered dialog that it names. */
  replaced?: DialogOwner | undefined;
}

/** Why an INVITE is rejected. With `code` it is recorded as a failed call to its number. */
interface Turned {
  readonly reason: string;
  readonly status: number;
  readonly phrase?: string;
  readonly headers?: Record<string, string>;
  readonly code?: TerminationCode;
  /** Additional detail for the record. */
  readonly detail?: string;
  /** Whether the attempt counts against the source. */
  readonly suspicious?: boolean;
}

type Verb = (visit: Visit) => Turned | null;

const understandsExtensions: Verb = ({ request }) => {
  const tags = unsupportedTags(headerOf(request.headers, 'require'));
  if (tags.length === 0) return null;
  return { reason: 'extension', status: 420, headers: { Unsupported: tags.join(', ') } };
};

/** RFC 3261 section 8.1.1.8: a dialog needs a Contact to which requests, above all BYE, can be sent. */
const hasContact: Verb = ({ request }) => {
  const contact = headerOf(request.headers, 'contact');
  if (contact === undefined) return { reason: 'malformed', status: 400, phrase: 'Missing Contact' };
  return /^sips?:/i.test(uriOf(contact)) ? null : { reason: 'malformed', status: 400, phrase: 'Bad Contact' };
};

const carriesSdpOrNothing: Verb = ({ request }) =>
  sessionBody(request).kind === 'other' ? { reason: 'body', status: 415, headers: { Accept: accept } } : null;

/** RFC 3261 section 8.2.3. */
const isNotEncoded: Verb = ({ request }) => {
  const encoding = headerOf(request.headers, 'content-encoding')?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return null;
  return { reason: 'encoding', status: 415, headers: { 'Accept-Encoding': 'identity' } };
};

/** RFC 4028 section 9. */
const asksLongEnoughSession: Verb = ({ request, deps }) => {
  const session = answerSession(readSession(request.headers), deps.environment.session);
  if (session.kind !== 'too_small') return null;
  return { reason: 'session_interval', status: 422, headers: { 'Min-SE': String(session.minS) } };
};

const isConfigured: Verb = ({ routing }) =>
  routing === null
    ? { reason: 'no_configuration', status: 503, headers: { 'Retry-After': String(retryAfterS) } }
    : null;

/**
 * Runs before anything is known about the caller: a rejection with a record would need the storage that is
 * missing.
 */
const reportsAreKept: Verb = ({ deps }) =>
  deps.calls.unrecordable !== null
    ? { reason: 'storage', status: 503, headers: { 'Retry-After': String(retryAfterS) } }
    : null;

/**
 * Finds the number. A registrar sends its calls to the Contact that we gave it, whose user is that of the
 * registration. An unknown number is not reported yet: only sources that may call one of our numbers learn which
 * exist.
 */
const numberIsFound: Verb = (visit) => {
  const { routing, dialled, source, request, deps } = visit;
  const direct = routing?.numbers.find(dialled);
  const to = normalizeNumber(userOf(uriOf(headerOf(request.headers, 'to') ?? '')) ?? '');
  const registered = routing?.sources.registered(dialled, source, to, direct, deps.isBoundAt);
  if (registered) {
    visit.number = registered.number;
    visit.trunk = registered.trunk;
    return null;
  }
  const number = direct ?? routing?.sources.registeredAnywhere(dialled);
  if (number) visit.number = number;
  return null;
};

/** A caller with an unexpected test key is rejected, whatever its address. */
const testKeyIsOurs: Verb = (visit) => {
  const { request, deps, number } = visit;
  const key = headerOf(request.headers, testKeyHeader.toLowerCase());
  if (key === undefined) return null;
  const sipCallId = headerOf(request.headers, 'call-id') ?? '';
  const test = number && deps.testVisits?.claim(key, { number: number.number, sipCallId });
  if (!test) return { reason: 'test_key', status: 403, code: 'source_not_allowed', suspicious: true };
  visit.test = test;
  delete visit.trunk;
  return null;
};

const sourceIsAllowed: Verb = (visit) => {
  const { number, routing, source } = visit;
  if (!visit.trunk && !visit.test) {
    const admission = number && routing?.sources.admit(number, source);
    if (!admission?.allowed) return notAllowed(visit);
    visit.trunk = admission.trunk;
  }
  visit.admitted = true;
  return null;
};

/**
 * The answer to a source that may not call the number. It never reveals whether the number exists: a stranger
 * gets 403 for every number. A source that some organization names gets 403 for that organization's numbers, and
 * 404 for all others, whether or not they exist. The record may differ, the response may not.
 */
function notAllowed({ number, routing, source }: Visit): Turned {
  const isOwn = number && routing?.sources.isOfOrganization(number.org_id, source);
  const status = routing?.sources.knows(source) && !isOwn ? 404 : 403;
  if (!number) return { reason: 'number_unknown', status, suspicious: true };
  return { reason: 'source_not_allowed', status, code: 'source_not_allowed', suspicious: true };
}

const edgeTakesCalls: Verb = ({ deps, number }) => {
  const closed = number ? deps.calls.closedFor(number.org_id) : null;
  if (closed === 'organization_share')
    return { reason: closed, status: 503, code: 'capacity', detail: shareTaken };
  return closed === null ? null : { reason: closed, status: 503, code: closed };
};

const numberHasAgent: Verb = ({ number }) =>
  number?.agent ? null : { reason: 'no_agent', status: 480, code: 'no_agent' };

const verbs: readonly Verb[] = [
  understandsExtensions,
  hasContact,
  isNotEncoded,
  carriesSdpOrNothing,
  asksLongEnoughSession,
  isConfigured,
  reportsAreKept,
  numberIsFound,
  testKeyIsOurs,
  sourceIsAllowed,
  edgeTakesCalls,
  numberHasAgent,
];

// ---------------------------------------------------------------- INVITE with Replaces (RFC 3891 section 3)

const namesOneDialog: Verb = (visit) => {
  const replaces = parseReplaces(headerOf(visit.request.headers, 'replaces') ?? '');
  if (!replaces) return { reason: 'malformed', status: 400, phrase: 'Malformed Replaces' };
  visit.replaces = replaces;
  visit.replaced = visit.deps.dialogs.named(replaces);
  return null;
};

/**
 * The request is addressed to our Contact, so the number is that of the call it names; a registrar is
 * additionally recognized by the Contact's user. A source that may not call the number gets the same answer as if
 * the call did not exist.
 */
const mayReplace: Verb = (visit) => {
  const { routing, replaced, source } = visit;
  numberIsFound(visit);
  const number = replaced ? routing?.numbers.find(replaced.number) : visit.number;
  if (number) {
    if (number.number !== visit.number?.number) delete visit.trunk;
    visit.number = number;
    const turned = sourceIsAllowed(visit);
    if (!turned || !routing?.sources.knows(source)) return turned;
  }
  if (routing?.sources.knows(source)) return replaced ? noSuchDialog : null;
  return { reason: 'source_not_allowed', status: 403, suspicious: true };
};

const noSuchDialog: Turned = { reason: 'replaces', status: 481 };

const dialogCanBeReplaced: Verb = ({ replaces, replaced }) => {
  // An ended call is forgotten, and an unanswered one cannot be replaced.
  if (!replaced) return noSuchDialog;
  if (replaced.leaving) return { reason: 'replaces', status: 603 };
  return replaces?.earlyOnly ? { reason: 'replaces', status: 486 } : null;
};

/** Capacity and agent are not checked: the call already exists. */
const replacingVerbs: readonly Verb[] = [
  understandsExtensions,
  hasContact,
  isNotEncoded,
  carriesSdpOrNothing,
  asksLongEnoughSession,
  isConfigured,
  namesOneDialog,
  mayReplace,
  dialogCanBeReplaced,
];

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
    'INVITE refused',
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
  return seconds === 0 ? {} : { [blockHeader]: String(seconds) };
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
    'a source without trunk tried too often and is blocked',
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
