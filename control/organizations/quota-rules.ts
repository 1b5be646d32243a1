/** How much an organization may store: without limits one could fill the database, and lists would be endless. */
import { sql } from 'kysely';
import { Counter, type Registry } from 'prom-client';
import { ApiError } from '#shared/errors.ts';
import type { Db, WidgetThreadRow } from '../db/index.ts';
import type { ControlConfig } from '../settings/index.ts';

/** The quotas on what is stored; the others are checked where work begins. */
type Quota = Exclude<
  keyof ControlConfig['quotas'],
  'runsAtOnce' | 'storedRuns' | 'toolRunsAtOnce' | 'outgoingCalls' | 'outgoingCallsPerMinute'
>;
export type QuotaSettings = Pick<ControlConfig['quotas'], Quota>;
type BegunThread = Pick<WidgetThreadRow, 'widget_id' | 'visitor_id' | 'client_hash'>;

/** The tables with a row quota per organization, with its name. */
const tables = {
  pathways: 'pathways',
  tools: 'tools',
  personas: 'personas',
  widgets: 'widgets',
  test_scenarios: 'scenarios',
  integration_resources: 'integrationResources',
  chats: 'chats',
} as const satisfies Readonly<Record<string, Quota>>;

/** How to free up each quota. */
const remedies: Readonly<Record<Quota, string>> = {
  pathways: 'delete a pathway',
  pathwayVersions: 'delete a version of the pathway',
  graphBytes: 'make graphs smaller, or delete pathways or versions; the quota is in bytes',
  tools: 'delete a tool',
  personas: 'delete a persona',
  widgets: 'delete a widget',
  numbers: 'detach numbers, or cancel a port request',
  openThreads: 'end a thread of the widget',
  openThreadsOfVisitor: 'end a thread of the visitor',
  openThreadsOfAddress: 'end a thread started from this address',
  scenarios: 'delete a scenario',
  integrationResources: 'disconnect a resource',
  chats: 'delete a chat',
  waitingRuns: 'wait until runs have started, or cancel a batch, a simulation set or a run',
};

export class Quotas {
  readonly #most: QuotaSettings;
  readonly #refused = new Counter({
    name: 'trunkline_control_quota_refused_total',
    help: 'Writes rejected because a quota is reached, by quota.',
    labelNames: ['quota'],
    registers: [],
  });

  constructor(most: QuotaSettings) {
    this.#most = most;
  }

  measure(registry: Registry): void {
    registry.registerMetric(this.#refused);
  }

  /** Runs a check of a limit that is not a setting, and counts its rejections with those of the quotas. */
  async counting(
    limit: 'sources' | 'keys' | 'phone_sessions' | 'supervisors' | 'test_agents',
    check: () => Promise<void>,
  ): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (error instanceof ApiError) this.#refused.inc({ quota: limit });
      throw error;
    }
  }

  /**
   * Checks that one more row of an organization fits. Call it in the transaction that writes. @throws ApiError
   * QUOTA_EXCEEDED
   */
  async room(db: Db, kind: keyof typeof tables, orgId: string): Promise<void> {
    const all = db.selectFrom(kind).select(sql<number>`count(*)`.as('count')).where('org_id', '=', orgId);
    const keepsDeleted = kind === 'personas' || kind === 'test_scenarios';
    const query = keepsDeleted ? all.where(sql.ref('deleted_at'), 'is', null) : all;
    this.#judge(tables[kind], (await query.executeTakeFirstOrThrow()).count + 1);
  }

  /** Checks that more waiting test runs fit. @param runs how many @throws ApiError QUOTA_EXCEEDED */
  async waitingRunRoom(db: Db, orgId: string, runs: number): Promise<void> {
    const { count } = await db
      .selectFrom('test_runs')
      .select(sql<number>`count(*)`.as('count'))
      // Written out, because a partial index is not used for a parameter.
      .where('status', '=', sql.lit<'PENDING'>('PENDING'))
      .where('org_id', '=', orgId)
      .executeTakeFirstOrThrow();
    this.#judge('waitingRuns', count + runs);
  }

  /** Checks that one more version of a pathway fits. @throws ApiError QUOTA_EXCEEDED */
  async versionRoom(db: Db, pathwayId: string): Promise<void> {
    const { count } = await db
      .selectFrom('pathway_versions')
      .select(sql<number>`count(*)`.as('count'))
      .where('pathway_id', '=', pathwayId)
      .executeTakeFirstOrThrow();
    this.#judge('pathwayVersions', count + 1);
  }

  /**
   * Checks that these numbers fit besides those that the organization holds or is porting. Numbers it already has are
   * not checked: a finished port is accepted whatever the quota.
   * @throws ApiError QUOTA_EXCEEDED
   */
  async numberRoom(db: Db, orgId: string, numbers: readonly string[]): Promise<void> {
    const held = db
      .selectFrom('numbers')
      .select('number')
      .where('org_id', '=', orgId)
      .where('archived_at', 'is', null)
      .union(
        db
          .selectFrom('port_numbers')
          .innerJoin('port_requests', 'port_requests.id', 'port_numbers.request_id')
          .select('port_numbers.number')
          .where('port_requests.org_id', '=', orgId)
          .where('port_numbers.open', '=', sql.lit<1>(1)),
      );
    const among = await db
      .selectFrom(held.as('held'))
      .select('number')
      .where('number', 'in', numbers)
      .execute();
    const known = new Set(among.map(({ number }) => number));
    const wanted = numbers.filter((number) => !known.has(number)).length;
    if (wanted === 0) return;
    const all = db.selectFrom(held.as('held')).select(sql<number>`count(*)`.as('had'));
    this.#judge('numbers', (await all.executeTakeFirstOrThrow()).had + wanted);
  }

  /** Checks that one more open thread of a widget fits. @param now ISO @throws ApiError QUOTA_EXCEEDED */
  async threadRoom(db: Db, thread: BegunThread, now: string): Promise<void> {
    const open = db
      .selectFrom('widget_threads')
      .select(sql<number>`count(*)`.as('count'))
      .where('ended_at', 'is', null)
      .where('ends_at', '>', now);
    const { client_hash, visitor_id, widget_id } = thread;
    const ofWidget = open.where('widget_id', '=', widget_id);
    if (client_hash !== null) {
      const ofClient = open.where('client_hash', '=', client_hash);
      this.#judge('openThreadsOfAddress', (await ofClient.executeTakeFirstOrThrow()).count + 1);
    }
    if (visitor_id !== null) {
      const ofVisitor = ofWidget.where('visitor_id', '=', visitor_id);
      this.#judge('openThreadsOfVisitor', (await ofVisitor.executeTakeFirstOrThrow()).count + 1);
    }
    this.#judge('openThreads', (await ofWidget.executeTakeFirstOrThrow()).count + 1);
  }

  /**
   * Checks that graphs of an organization may grow, live ones and versions together.
   * @param growth bytes; only growth is checked @throws ApiError QUOTA_EXCEEDED
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
    const message = `The organization has reached its quota of ${limit} (${quota}): ${remedies[quota]}, or ask the operator for more.`;
    throw ApiError.of('QUOTA_EXCEEDED', { quota, limit }, message);
  }
}

/** Size of a stored graph. */
export function graphBytes(graph: { readonly nodes: string; readonly edges: string }): number {
  return Buffer.byteLength(graph.nodes) + Buffer.byteLength(graph.edges);
}
