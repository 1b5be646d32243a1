/** Phone sessions with which supervisors join calls, as rows: each is one supervisor of one call. */
import type { SupervisorView } from '#shared/api/supervisors.ts';
import { mostListedSupervisors } from '#shared/api/supervisors.ts';
import type { Clock } from '#shared/clock.ts';
import { ApiError } from '#shared/errors.ts';
import { phoneSupervisorUser } from '#shared/phone-session.ts';
import { mostSupervisors, type SupervisionMode } from '#shared/supervision.ts';
import { type Actor, recordChange } from '../audit/index.ts';
import { type CallRow, type Db, fromJson, isListed, type PhoneSessionRow, toJson } from '../db/index.ts';
import type { ConnectedEdge } from '../edge-link/index.ts';
import type { Happening } from '../events/index.ts';
import { isoTime } from '../organizations/index.ts';
import type { PhoneTarget } from './targets.ts';

type Session = Pick<
  PhoneSessionRow,
  'id' | 'caller' | 'supervises' | 'supervision' | 'last_call_id' | 'created_at' | 'expires_at' | 'revoked_at'
>;

/** A session, and what is known of its call. */
export interface SupervisorRow extends Session {
  readonly org_id: string;
  readonly answered_at: string | null;
  readonly ended_at: string | null;
}

/** @param edge that carries the call @param tone whether the parties hear that somebody comes */
export function supervisorTarget(
  callId: string,
  edge: ConnectedEdge,
  tone: boolean,
  { kind, key }: Actor,
): PhoneTarget {
  const supervision = toJson({ mode: 'listen' as const, tone, by: { kind, key } });
  const none = { called: null, pathway_id: null, pathway_version: null, persona_id: null };
  const columns = { ...none, number: phoneSupervisorUser, supervises: callId, supervision };
  return { columns, agent: null, region: null, edge };
}

const rows = (db: Db, callId: string) =>
  db
    .selectFrom('phone_sessions')
    .leftJoin('calls', 'calls.id', 'phone_sessions.last_call_id')
    .select([
      'phone_sessions.id',
      'phone_sessions.org_id',
      'phone_sessions.caller',
      'phone_sessions.supervises',
      'phone_sessions.supervision',
      'phone_sessions.last_call_id',
      'phone_sessions.created_at',
      'phone_sessions.expires_at',
      'phone_sessions.revoked_at',
      'calls.answered_at',
      'calls.ended_at',
    ])
    .where('phone_sessions.supervises', '=', callId);

/** Newest first. */
export function supervisorsOf(db: Db, orgId: string, callId: string): Promise<SupervisorRow[]> {
  return rows(db, callId)
    .where('phone_sessions.org_id', '=', orgId)
    .orderBy('phone_sessions.created_at', 'desc')
    .orderBy('phone_sessions.id', 'desc')
    .limit(mostListedSupervisors)
    .execute();
}

/** @throws ApiError SUPERVISOR_NOT_FOUND */
export async function requireSupervisor(
  db: Db,
  orgId: string,
  callId: string,
  id: string,
): Promise<SupervisorRow> {
  const row = await rows(db, callId)
    .where('phone_sessions.org_id', '=', orgId)
    .where('phone_sessions.id', '=', id)
    .executeTakeFirst();
  if (!row) throw ApiError.of('SUPERVISOR_NOT_FOUND');
  return row;
}

/** Whether a call is that of a supervisor. */
export async function isSupervisors(db: Db, { org_id, variables }: Pick<CallRow, 'org_id' | 'variables'>) {
  const { phone_session_id: id } = fromJson(variables);
  if (typeof id !== 'string') return false;
  const row = await db
    .selectFrom('phone_sessions')
    .select('supervises')
    .where('id', '=', id)
    .where('org_id', '=', org_id)
    .executeTakeFirst();
  return (row?.supervises ?? null) !== null;
}

/** Checks that a call can have one more. @throws ApiError QUOTA_EXCEEDED */
export async function supervisorRoom(db: Db, clock: Clock, orgId: string, callId: string): Promise<void> {
  const now = isoTime(clock);
  const all = await supervisorsOf(db, orgId, callId);
  const open = all.filter((row) => ['waiting', 'joined'].includes(stateOf(row, now)));
  if (open.length < mostSupervisors) return;
  const message = `The call has ${mostSupervisors} supervisors, with those that may still join; wait until one has left.`;
  throw ApiError.of('QUOTA_EXCEEDED', { quota: 'supervisors', limit: mostSupervisors }, message);
}

function stateOf(row: SupervisorRow, now: string): SupervisorView['state'] {
  if (row.ended_at !== null) return 'left';
  if (row.answered_at !== null) return 'joined';
  if (row.revoked_at !== null) return 'left';
  return row.expires_at <= now && row.last_call_id === null ? 'expired' : 'waiting';
}

export function supervisorView(row: SupervisorRow, now: string): SupervisorView {
  const { id, caller, last_call_id, created_at, expires_at } = row;
  return {
    id,
    call_id: row.supervises ?? '',
    leg_call_id: last_call_id,
    caller,
    mode: modeOf(row),
    state: stateOf(row, now),
    created_at,
    expires_at,
    joined_at: row.answered_at,
    left_at: row.answered_at === null ? null : row.ended_at,
  };
}

export function modeOf({ supervision }: Pick<PhoneSessionRow, 'supervision'>): SupervisionMode {
  return supervision === null ? 'listen' : fromJson(supervision).mode;
}

export async function setMode(db: Db, row: SupervisorRow, mode: SupervisionMode): Promise<SupervisorRow> {
  if (row.supervision === null) throw new Error(`phone session ${row.id} is not a supervisor's`);
  const supervision = toJson({ ...fromJson(row.supervision), mode });
  await db.updateTable('phone_sessions').set({ supervision }).where('id', '=', row.id).execute();
  return { ...row, supervision };
}

/** Of the log of changes. */
export function supervisionChange(row: Pick<PhoneSessionRow, 'org_id' | 'supervises'>, action: string) {
  return { orgId: row.org_id, area: 'supervision', subject: row.supervises ?? '', action };
}

export function supervisionHappening(
  row: SupervisorRow,
  type: 'supervision.joined' | 'supervision.changed' | 'supervision.left',
  now: string,
): Happening {
  const data = { supervisor: supervisorView(row, now) };
  return { orgId: row.org_id, type, at: now, subject: { call_id: row.supervises ?? '' }, data };
}

interface ReportedLeg {
  readonly sessionId: string;
  readonly row: Pick<CallRow, 'id' | 'org_id' | 'answered_at' | 'ended_at'>;
}

/**
 * What reports of calls say about supervisors, before the calls are stored: who has joined and who has left. Both are
 * recorded as changes by those who made the sessions.
 */
export async function reportSupervisors(
  db: Db,
  legs: readonly ReportedLeg[],
  now: string,
): Promise<Happening[]> {
  if (legs.length === 0) return [];
  const found = await db
    .selectFrom('phone_sessions')
    .selectAll()
    .where(isListed(db, 'id', [...new Set(legs.map(({ sessionId }) => sessionId))]))
    .where('supervises', 'is not', null)
    .execute();
  if (found.length === 0) return [];
  const sessions = new Map(found.map((session) => [session.id, session]));
  const stored = await db
    .selectFrom('calls')
    .select(['id', 'answered_at', 'ended_at'])
    .where(isListed(db, 'id', [...new Set(legs.map(({ row }) => row.id))]))
    .execute();
  const before = new Map(stored.map((row) => [row.id, row]));
  const clock = { now: () => Date.parse(now) };
  const happenings: Happening[] = [];
  for (const { sessionId, row } of legs) {
    const session = sessions.get(sessionId);
    if (!session || session.supervision === null || session.org_id !== row.org_id) continue;
    const { id, answered_at, ended_at } = row;
    const known = before.get(id);
    before.set(id, { id, answered_at, ended_at });
    const steps = [
      ...(answered_at !== null && (known?.answered_at ?? null) === null ? (['joined'] as const) : []),
      ...(answered_at !== null && ended_at !== null && (known?.ended_at ?? null) === null
        ? (['left'] as const)
        : []),
    ];
    const { by } = fromJson(session.supervision);
    for (const step of steps) {
      const change = supervisionChange(session, step === 'joined' ? 'join' : 'leave');
      await recordChange(db, clock, { ...by, requestId: null }, change);
      const seen = { ...session, last_call_id: id, answered_at, ended_at: step === 'left' ? ended_at : null };
      happenings.push(supervisionHappening(seen, `supervision.${step}`, now));
    }
  }
  return happenings;
}
