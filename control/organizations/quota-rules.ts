/** How much an organization may keep: without a bound one of them could fill the database, and lists would never end. */
import { sql } from 'kysely';
import { Counter, type Registry } from 'prom-client';
import { ApiError } from '#shared/errors.ts';
import type { Db } from '../db/tables.ts';

export interface QuotaSettings {
  readonly pathways: number;
  readonly pathwayVersions: number;
  readonly graphBytes: number;
  readonly tools: number;
  readonly personas: number;
  readonly widgets: number;
  readonly openThreads: number;
}

type Quota = keyof QuotaSettings;

export class Quotas {
  readonly #most: QuotaSettings;
  readonly #refused = new Counter({
    name: 'trunkline_control_quota_refused_total',
    help: 'Writes that were refused because an organization keeps as much as it may, by quota.',
    labelNames: ['quota'],
    registers: [],
  });

  constructor(most: QuotaSettings) {
    this.#most = most;
  }

  measure(registry: Registry): void {
    registry.registerMetric(this.#refused);
  }

  /** Room for one more row of an organization. Call it in the transaction that writes. @throws ApiError QUOTA_EXCEEDED */
  async room(db: Db, kind: 'pathways' | 'tools' | 'personas' | 'widgets', orgId: string): Promise<void> {
    const all = db.selectFrom(kind).select(sql<number>`count(*)`.as('count')).where('org_id', '=', orgId);
    const query = kind === 'personas' ? all.where(sql.ref('deleted_at'), 'is', null) : all;
    this.#judge(kind, (await query.executeTakeFirstOrThrow()).count + 1);
  }

  /** Room for one more version of a pathway. @throws ApiError QUOTA_EXCEEDED */
  async versionRoom(db: Db, pathwayId: string): Promise<void> {
    const { count } = await db
      .selectFrom('pathway_versions')
      .select(sql<number>`count(*)`.as('count'))
      .where('pathway_id', '=', pathwayId)
      .executeTakeFirstOrThrow();
    this.#judge('pathwayVersions', count + 1);
  }

  /** Room for one more open thread of a widget. @param now ISO @throws ApiError QUOTA_EXCEEDED */
  async threadRoom(db: Db, widgetId: string, now: string): Promise<void> {
    const { count } = await db
      .selectFrom('widget_threads')
      .select(sql<number>`count(*)`.as('count'))
      .where('widget_id', '=', widgetId)
      .where('ended_at', 'is', null)
      .where('ends_at', '>', now)
      .executeTakeFirstOrThrow();
    this.#judge('openThreads', count + 1);
  }

  /**
   * Room for graphs of an organization to grow, live ones and versions together.
   * @param growth bytes; what does not grow is not judged @throws ApiError QUOTA_EXCEEDED
   */
  async graphRoom(db: Db, orgId: string, growth: number): Promise<void> {
    if (growth <= 0) return;
    // octet_length reads the length that SQLite stores, not the text.
    const { rows } = await sql<{ bytes: number | null }>`select
      (select sum(octet_length(nodes) + octet_length(edges)) from pathways where org_id = ${orgId}) +
      coalesce((select sum(octet_length(v.nodes) + octet_length(v.edges)) from pathway_versions v
        where v.pathway_id in (select id from pathways where org_id = ${orgId})), 0) as bytes`.execute(db);
    this.#judge('graphBytes', (rows[0]?.bytes ?? 0) + growth);
  }

  #judge(quota: Quota, wanted: number): void {
    const limit = this.#most[quota];
    if (wanted <= limit) return;
    this.#refused.inc({ quota });
    throw ApiError.of('QUOTA_EXCEEDED', { quota, limit });
  }
}

/** Of a stored graph. */
export function graphBytes(graph: { readonly nodes: string; readonly edges: string }): number {
  return Buffer.byteLength(graph.nodes) + Buffer.byteLength(graph.edges);
}
