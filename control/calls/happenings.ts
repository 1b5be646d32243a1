/** What the events of organizations tell of calls (contract 17). */
import type { MeasuredCall, QualitySample } from '#shared/edge-protocol/measured.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { builtOnce, type CallRow, type Db, isAmong } from '../db/index.ts';
import type { EventType, Followed, Happening } from '../events/index.ts';
import { callColumns, type LoggedCall } from './log-store.ts';
import { qualitySample } from './measured-rules.ts';
import { callLogEntry } from './rules.ts';

/** A call as events show it. */
export type ToldCall = LoggedCall & Pick<CallRow, 'org_id' | 'number'>;

/** Columns of it. */
export const toldColumns = [...callColumns, 'org_id', 'number'] as const;

/** How far a call had come. */
type Stage = Pick<CallRow, 'answered_at' | 'ended_at' | 'status'>;

const findBefore = builtOnce((db, ids: readonly string[]) =>
  db
    .selectFrom('calls')
    .select(['id', 'org_id', 'parent_id', 'started_at', 'answered_at', 'ended_at', 'status'])
    .where(isAmong(db, 'id', ids)),
);

const findWhose = builtOnce((db, ids: readonly string[]) =>
  db
    .selectFrom('calls')
    .select(['id', 'org_id', 'number', 'trunk_id'])
    .where(isAmong(db, 'id', ids)),
);

/**
 * What the rows of calls tell, in their order, before they are stored: each stage that a call has newly reached is an event.
 * @param now ISO
 */
export async function happeningsOfCalls(
  db: Db,
  followed: Followed,
  rows: readonly CallRow[],
  now: string,
): Promise<Happening[]> {
  if (followed.isEmpty) return [];
  const own = rows.filter(({ org_id }) => followed.has(org_id));
  if (own.length === 0) return [];
  const stored = await findBefore(db, [...new Set(own.map(({ id }) => id))]);
  const known = new Map<string, (typeof stored)[number]>(stored.map((row) => [row.id, row]));
  return own.flatMap((row) => {
    const before = known.get(row.id);
    // The call of another organization keeps its row.
    if (before && before.org_id !== row.org_id) return [];
    const call = before ? { ...row, parent_id: before.parent_id, started_at: before.started_at } : row;
    known.set(row.id, call);
    return happeningsOf(call, before ?? null, now);
  });
}

/** @param before null: it is new */
export function happeningsOf(call: ToldCall & Stage, before: Stage | null, now: string): Happening[] {
  return stagesOf(call, before).map((type) => happening(type, call, now));
}

/** The end of calls that control has closed. */
export function endsOf(calls: readonly ToldCall[], now: string): Happening[] {
  return calls.map((call) => happening('call.ended', call, now));
}

function happening(type: EventType, call: ToldCall, at: string): Happening {
  return { orgId: call.org_id, type, at, subject: subjectOf(call), data: { call: callLogEntry(call) } };
}

function subjectOf({ id, number, trunk_id }: Pick<CallRow, 'id' | 'number' | 'trunk_id'>) {
  return { call_id: id, number, ...(trunk_id !== null && { trunk_id }) };
}

function stagesOf(call: Stage, before: Stage | null): EventType[] {
  const reached: EventType[] = [];
  if (before === null) reached.push('call.begun');
  if (call.status === 'ringing' && before?.status !== 'ringing') reached.push('call.ringing');
  if (call.answered_at !== null && (before?.answered_at ?? null) === null) reached.push('call.answered');
  if (call.ended_at !== null && (before?.ended_at ?? null) === null) reached.push('call.ended');
  return reached.length > 0 ? reached : ['call.updated'];
}

type Said = Extract<ReportBody, { type: 'transcript' }>;

/** The lines of conversations, when their calls are stored. @param now ISO */
export async function happeningsOfLines(
  db: Db,
  followed: Followed,
  said: readonly Said[],
  now: string,
): Promise<Happening[]> {
  if (said.length === 0) return [];
  const calls = new Map(
    (await findWhose(db, [...new Set(said.map(({ call_id }) => call_id))])).map((call) => [call.id, call]),
  );
  return said.flatMap(({ call_id, entries }) => {
    const call = calls.get(call_id);
    if (!call || !followed.has(call.org_id)) return [];
    const subject = subjectOf(call);
    return entries.filter(saysMore).map(
      ({ at: created_at, fact: _, ...line }): Happening => ({
        orgId: call.org_id,
        type: 'transcript.line',
        at: now,
        subject,
        data: { line: { ...line, created_at } },
      }),
    );
  });
}

/** A line that comes again with nothing but how far it was heard is no news. */
function saysMore({ fact, text }: Said['entries'][number]): boolean {
  return fact?.kind !== 'cut_off' || !text.startsWith(fact.said);
}

/** The newest quality sample of each call. @param now ISO */
export async function happeningsOfSamples(
  db: Db,
  measured: readonly MeasuredCall[],
  now: string,
): Promise<Happening[]> {
  const newest = new Map<string, QualitySample>();
  for (const { call_id, quality } of measured)
    for (const sample of quality.flatMap(({ samples }) => samples))
      if (sample[0] >= (newest.get(call_id)?.[0] ?? 0)) newest.set(call_id, sample);
  if (newest.size === 0) return [];
  const calls = await findWhose(db, [...newest.keys()]);
  return calls.flatMap((call) => {
    const sample = newest.get(call.id);
    if (!sample) return [];
    const data = { sample: qualitySample(sample) };
    return [{ orgId: call.org_id, type: 'quality.sample' as const, at: now, subject: subjectOf(call), data }];
  });
}
