/** The last reported registration state of each record (contract 2.3). */
import type { LearnedRegistration } from '#shared/edge-protocol/fleet.ts';
import type { RegistrationState } from '#shared/edge-protocol/reports.ts';
import { builtOnce, type Db, excluded, type RegistrationRow, toJson } from '../db/index.ts';
import { recordEvents } from '../events/index.ts';
import { learnedRegistration } from './learned.ts';

/** The subject announced when the outcome of a register-now order is stored. */
export function registrationSubject(orderId: string): string {
  return `registration ${orderId}`;
}

/** By record id; records without a report are left out. */
export async function findRegistrations(
  db: Db,
  configurationIds: readonly string[],
): Promise<ReadonlyMap<string, RegistrationRow>> {
  if (configurationIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('registrations')
    .selectAll()
    .where('configuration_id', 'in', [...configurationIds])
    .execute();
  return new Map(rows.map((row) => [row.configuration_id, row]));
}

const findRecord = builtOnce((db, id: string) =>
  db.selectFrom('sip_configurations').select(['id', 'org_id', 'number']).where('id', '=', id),
);

const findEdge = builtOnce((db, id: string) =>
  db.selectFrom('edges').select(['id', 'sip_host', 'sip_port']).where('id', '=', id),
);

const saveRegistration = builtOnce((db, row: RegistrationRow) => {
  const { configuration_id: _, ...changes } = row;
  return db
    .insertInto('registrations')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('configuration_id')
        .doUpdateSet(excluded(changes))
        .where('registrations.at', '<=', row.at),
    );
});

/**
 * Stores a report; one about a record that was detached meanwhile is dropped. @throws RangeError for an invalid time
 * @returns what other edges should know; null when it was dropped
 */
export async function storeRegistration(
  db: Db,
  report: RegistrationState & { readonly trunk_id: string; readonly changed?: boolean },
  edgeId: string,
  now: string,
): Promise<LearnedRegistration | null> {
  const { trunk_id, state, registrar, at, expires_at, next_try_at = null, sip_code, last_error } = report;
  const { bound_at = null, refusal = null } = report;
  const row: RegistrationRow = {
    configuration_id: trunk_id,
    state,
    registrar,
    at: new Date(at).toISOString(),
    expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
    next_try_at: next_try_at === null ? null : new Date(next_try_at).toISOString(),
    sip_code,
    last_error,
    edge_id: edgeId,
    bound_at,
    refusal: refusal === null ? null : toJson(refusal),
  };
  const [record] = await findRecord(db, trunk_id);
  if (!record) return null;
  await saveRegistration(db, row);
  if (report.changed !== false) {
    const { configuration_id: _, refusal: _refusal, ...registration } = row;
    const subject = { trunk_id, number: record.number };
    const what = { type: 'registration.changed', at: now, subject, data: { registration } } as const;
    await recordEvents(db, [{ orgId: record.org_id, ...what }]);
  }
  const [edge] = await findEdge(db, edgeId);
  return edge ? learnedRegistration(row, edge) : null;
}
