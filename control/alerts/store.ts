/** Alerts as stored. */
import type { Clock } from '#shared/clock.ts';
import { newId } from '#shared/ids.ts';
import type { AlertRow, Db, SipConfigurationRow } from '../db/index.ts';
import { changeAndRecord, type Happening, recordEvents } from '../events/index.ts';
import { queueEvent } from '../webhooks/index.ts';
import { alertEvent, eventType } from './notice-rules.ts';
import { queueNotices } from './notices-store.ts';
import type { AlertKind, Reading, TrunkAlertKind } from './rules.ts';

/** Resolved alerts are kept this long. */
const keptMs = 90 * 24 * 60 * 60 * 1000;

/** Of a configuration. */
export type TrunkAlert = AlertRow & { kind: TrunkAlertKind };

/** Open alerts of these configurations. */
export function openAlerts(db: Db, configurationIds: readonly string[]): Promise<TrunkAlert[]> {
  return db
    .selectFrom('alerts')
    .selectAll()
    .where('configuration_id', 'in', [...configurationIds])
    .where('kind', '<>', 'watch_drift')
    .where('resolved_at', 'is', null)
    .$narrowType<{ kind: TrunkAlertKind }>()
    .execute();
}

/** Raises an alert and queues its notices, in one transaction. False when one of its kind is open. */
export async function raiseAlert(
  db: Db,
  clock: Clock,
  row: SipConfigurationRow,
  reading: Reading,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const alert = newAlert(row, reading, new Date(clock.now()).toISOString());
    const inserted = await trx
      .insertInto('alerts')
      .values(alert)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if ((inserted.numInsertedOrUpdatedRows ?? 0n) === 0n) return false;
    await tell(trx, clock, row, alert);
    return true;
  });
}

function newAlert(row: SipConfigurationRow, reading: Reading, now: string): TrunkAlert {
  return {
    id: newId(),
    org_id: row.org_id,
    configuration_id: row.id,
    number: row.number,
    direction: row.direction,
    endpoint: row.sip_endpoint,
    kind: reading.kind,
    threshold: reading.threshold,
    value: reading.value,
    window_minutes: reading.windowMinutes,
    calm_evaluations: 0,
    raised_at: now,
    resolved_at: null,
  };
}

/** Resolves an alert and queues its notices, in one transaction. */
export async function resolveAlert(
  db: Db,
  clock: Clock,
  row: SipConfigurationRow,
  alert: TrunkAlert,
  reading: Reading,
): Promise<void> {
  const resolved_at = new Date(clock.now()).toISOString();
  await db.transaction().execute(async (trx) => {
    const ended = await trx
      .updateTable('alerts')
      .set({ resolved_at })
      .where('id', '=', alert.id)
      .where('resolved_at', 'is', null)
      .executeTakeFirst();
    if (ended.numUpdatedRows === 0n) return;
    // The notice shows the current measurement and threshold.
    const { value, threshold, windowMinutes: window_minutes } = reading;
    await tell(trx, clock, row, { ...alert, resolved_at, value, threshold, window_minutes });
  });
}

async function tell(db: Db, clock: Clock, row: SipConfigurationRow, alert: TrunkAlert): Promise<void> {
  const channels = await queueNotices(db, clock, row, alert);
  await queueEvent(db, clock, {
    orgId: alert.org_id,
    type: eventType(alert),
    url: channels.webhook,
    subjectId: alert.id,
    data: alertEvent(alert),
  });
  await recordEvents(db, [happening(alert, alert.resolved_at ?? alert.raised_at)]);
}

function happening(alert: TrunkAlert, at: string): Happening {
  const { configuration_id: trunk_id, id: alert_id, number, org_id: orgId } = alert;
  const subject = { alert_id, number, trunk_id };
  const type = alert.resolved_at === null ? 'alert.raised' : 'alert.resolved';
  return { orgId, type, at, subject, data: { alert: alertEvent(alert) } };
}

export async function setCalm(db: Db, id: string, calm: number): Promise<void> {
  await db.updateTable('alerts').set({ calm_evaluations: calm }).where('id', '=', id).execute();
}

/** Ends the open alerts of a configuration whose alerts were disabled; no notice is sent (contract 3.5). */
export function withdrawAlerts(db: Db, now: string, configurationId: string): Promise<void> {
  return changeAndRecord(db, async (trx) => {
    const ended = await trx
      .updateTable('alerts')
      .set({ resolved_at: now })
      .where('configuration_id', '=', configurationId)
      .where('kind', '<>', 'watch_drift')
      .where('resolved_at', 'is', null)
      .returningAll()
      .$narrowType<{ kind: TrunkAlertKind }>()
      .execute();
    return ended.map((alert) => happening(alert, now));
  });
}

/** Ends the open alerts of configurations that were deleted or no longer have alert settings. */
export function withdrawOrphans(db: Db, now: string): Promise<void> {
  return changeAndRecord(db, async (trx) => {
    const ended = await trx
      .updateTable('alerts')
      .set({ resolved_at: now })
      .where('kind', '<>', 'watch_drift')
      .where('resolved_at', 'is', null)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('sip_configurations')
              .select('id')
              .whereRef('sip_configurations.id', '=', 'alerts.configuration_id')
              .where('alert_config', 'is not', null),
          ),
        ),
      )
      .returningAll()
      .$narrowType<{ kind: TrunkAlertKind }>()
      .execute();
    return ended.map((alert) => happening(alert, now));
  });
}

export async function countOpen(db: Db): Promise<ReadonlyMap<AlertKind, number>> {
  const rows = await db
    .selectFrom('alerts')
    .select(['kind', ({ fn }) => fn.countAll<number>().as('count')])
    .where('resolved_at', 'is', null)
    .groupBy('kind')
    .execute();
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}

export interface AlertFilter {
  readonly number?: string;
  readonly kind?: AlertKind;
  readonly state?: 'open' | 'resolved';
  /** Only alerts after this one in list order. */
  readonly after?: Pick<AlertRow, 'raised_at' | 'id'>;
}

export function findAlert(db: Db, orgId: string, id: string): Promise<AlertRow | undefined> {
  return db
    .selectFrom('alerts')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Newest first: `raised_at`, then `id`, both descending. */
export function listAlerts(db: Db, orgId: string, filter: AlertFilter, limit: number): Promise<AlertRow[]> {
  let query = db.selectFrom('alerts').selectAll().where('org_id', '=', orgId);
  if (filter.number !== undefined) query = query.where('number', '=', filter.number);
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  if (filter.state !== undefined) {
    query = query.where('resolved_at', filter.state === 'open' ? 'is' : 'is not', null);
  }
  const { after } = filter;
  if (after) {
    query = query
      .where('raised_at', '<=', after.raised_at)
      .where((eb) => eb.or([eb('raised_at', '<', after.raised_at), eb('id', '<', after.id)]));
  }
  return query.orderBy('raised_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}

/** Returns how many rows were deleted. */
export async function pruneAlerts(db: Db, clock: Clock): Promise<number> {
  const result = await db
    .deleteFrom('alerts')
    .where('resolved_at', '<', new Date(clock.now() - keptMs).toISOString())
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}
