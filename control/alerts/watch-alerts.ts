/**
 * Alerts of watches over production calls (contract 6.17). The watch itself raises and resolves them, in the transaction
 * in which its alarm changes, and sends its own event to the organization's URL.
 */
import { newId } from '#shared/ids.ts';
import type { AlertRow, Db } from '../db/index.ts';
import { recordEvents } from '../events/index.ts';

/** What a watch has found. */
export interface WatchDrift {
  readonly orgId: string;
  readonly watchId: string;
  /** E.164; null: of all numbers */
  readonly number: string | null;
  /** Share of the calls of the version in use that passed, 0 to 1, and that of the last good version. */
  readonly passed: number;
  readonly goodPassed: number;
  /** ISO */
  readonly raisedAt: string;
}

/** Nothing happens while it is open already. */
export async function raiseDrift(db: Db, drift: WatchDrift): Promise<void> {
  const alert: AlertRow = {
    id: newId(),
    org_id: drift.orgId,
    configuration_id: drift.watchId,
    number: drift.number ?? '',
    direction: 'inbound',
    endpoint: null,
    kind: 'watch_drift',
    threshold: percent(drift.goodPassed),
    value: percent(drift.passed),
    window_minutes: null,
    calm_evaluations: 0,
    raised_at: drift.raisedAt,
    resolved_at: null,
  };
  const { numInsertedOrUpdatedRows: stored = 0n } = await db
    .insertInto('alerts')
    .values(alert)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (stored > 0n) await tell(db, alert);
}

/** @param now ISO */
export async function resolveDrift(db: Db, watchId: string, now: string): Promise<void> {
  const ended = await db
    .updateTable('alerts')
    .set({ resolved_at: now })
    .where('configuration_id', '=', watchId)
    .where('kind', '=', 'watch_drift')
    .where('resolved_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (ended) await tell(db, ended);
}

function percent(share: number): number {
  return Math.round(share * 1000) / 10;
}

async function tell(db: Db, row: AlertRow): Promise<void> {
  const { id: alert_id, kind, org_id: orgId, raised_at, resolved_at, threshold, value } = row;
  const isOpen = resolved_at === null;
  const alert = {
    alert_id,
    kind,
    state: isOpen ? 'alert.raised' : 'alert.resolved',
    watch_id: row.configuration_id,
    threshold,
    value,
    raised_at,
    resolved_at,
  };
  await recordEvents(db, [
    {
      orgId,
      type: isOpen ? 'alert.raised' : 'alert.resolved',
      at: resolved_at ?? raised_at,
      subject: { alert_id, ...(row.number !== '' && { number: row.number }) },
      data: { alert },
    },
  ]);
}
