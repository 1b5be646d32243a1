/** The last reported registration state of each record (contract 2.3). */
import type SqliteFile from 'better-sqlite3';
import type { RegistrationState } from '#shared/edge-protocol/reports.ts';
import type { Db, RegistrationRow } from '../db/index.ts';

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

/** Returns a function that stores a report; it throws RangeError for an invalid time. */
export function prepareRegistration(
  connection: SqliteFile.Database,
): (report: RegistrationState & { readonly trunk_id: string }) => void {
  // A report about a record that was detached meanwhile is dropped.
  const save = connection.prepare<[RegistrationRow]>(
    `insert into registrations (configuration_id, state, registrar, at, expires_at, next_try_at, sip_code, last_error)
     select @configuration_id, @state, @registrar, @at, @expires_at, @next_try_at, @sip_code, @last_error
     where exists (select 1 from sip_configurations where id = @configuration_id)
     on conflict (configuration_id) do update set state = excluded.state, registrar = excluded.registrar,
       at = excluded.at, expires_at = excluded.expires_at, next_try_at = excluded.next_try_at,
       sip_code = excluded.sip_code, last_error = excluded.last_error
     where excluded.at >= registrations.at`,
  );
  return ({ trunk_id, state, registrar, at, expires_at, next_try_at = null, sip_code, last_error }) => {
    save.run({
      configuration_id: trunk_id,
      state,
      registrar,
      at: new Date(at).toISOString(),
      expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
      next_try_at: next_try_at === null ? null : new Date(next_try_at).toISOString(),
      sip_code,
      last_error,
    });
  };
}
