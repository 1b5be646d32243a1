/** Starts and cancels sessions (contract 6.8). */
import { randomInt } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import type { TornadoStart } from '#shared/api/agent-testing/tornado.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import type { Actor } from '../../audit/index.ts';
import {
  type BackgroundWork,
  type Db,
  fromJson,
  type PathwayRow,
  type TestTornadoSessionRow,
  toJson,
} from '../../db/index.ts';
import { isoTime } from '../../organizations/index.ts';
import { requirePathway, requireVersion } from '../../pathways/index.ts';
import type { RawGraph } from '../analysis/edits.ts';
import { recordTestingChange } from '../common/audit.ts';
import type { TestingDeps } from '../common/deps.ts';
import { requireSession } from '../records/tornado-sessions.ts';
import { checkWebhook, testRunsSubject } from '../runs/plan.ts';
import type { TestRuns } from '../runs/start.ts';
import { requireSubject } from '../scenarios/store.ts';
import { beginIteration } from './go-on.ts';
import { tornadoMetrics } from './metrics.ts';
import { type Planner, plannerOf } from './planner.ts';
import { Sessions } from './sessions.ts';
import type { SessionState } from './state.ts';
import { findActive, insertSession, requestCancel } from './store.ts';

const mostScenarios = 50;
const seeds = 2 ** 31;

export interface Tornado {
  /** @throws ApiError as in the contract */
  start(orgId: string, body: TornadoStart, by: Actor): Promise<TestTornadoSessionRow>;
  /** @throws ApiError TORNADO_NOT_FOUND, TORNADO_NOT_ACTIVE */
  cancel(orgId: string, id: string, by: Actor): Promise<void>;
  /** Runs sessions, also those of a process that ended, while this replica has their lease. */
  resume(): Promise<void>;
  /** Takes no more steps. */
  hold(): void;
  close(): Promise<void>;
}

/** Resume it before test runs are started, and close it before they are closed. */
export function createTornado(
  services: TestingDeps,
  runs: Pick<TestRuns, 'onBatchCompleted' | 'stopped'>,
  log: FastifyBaseLogger,
  registry: Registry,
  planner: Planner = plannerOf(services.models.judge),
): Tornado {
  const { announcements, clock, database, replica } = services;
  const metrics = tornadoMetrics(registry, () => sessions?.active ?? 0);
  /** null: another replica runs the sessions. */
  let sessions: Sessions | null = null;
  let resumed: Promise<void> = Promise.resolve();
  let work: BackgroundWork | null = null;
  const begun = () => {
    const mine = new Sessions({ services, log, planner, metrics, stopped: (ids) => runs.stopped(ids) });
    sessions = mine;
    resumed = mine.resume();
    // The failure also goes to the caller of `resume`.
    resumed.catch((error: unknown) => log.error({ err: error }, 'tornado sessions could not be resumed'));
    return {
      hold: () => mine.hold(),
      close: async () => {
        await mine.close();
        if (sessions === mine) sessions = null;
      },
    };
  };
  runs.onBatchCompleted(async (batchId) => sessions?.batchCompleted(batchId));
  return {
    start: async (orgId, body, by) => {
      checkWebhook(services, body.webhook_url);
      const session = await database.db.transaction().execute(async (db) => {
        const begun = await begin(services, db, orgId, body);
        await recordTestingChange(db, services, by, { orgId, subject: begun.id, action: 'tornado_start' });
        return begun;
      });
      announcements.announce(testRunsSubject);
      sessions?.watch(session);
      return session;
    },
    cancel: async (orgId, id, by) => {
      const { status } = await requireSession(database.db, orgId, id);
      if (status !== 'RUNNING') throw ApiError.of('TORNADO_NOT_ACTIVE');
      const isRequested = await database.db.transaction().execute(async (db) => {
        const running = await requestCancel(db, id, isoTime(clock));
        const change = { orgId, subject: id, action: 'tornado_cancel' as const };
        if (running) await recordTestingChange(db, services, by, change);
        return running;
      });
      // It has ended meanwhile.
      if (!isRequested) throw ApiError.of('TORNADO_NOT_ACTIVE');
      await sessions?.cancelled(id);
    },
    resume: async () => {
      work = replica.whileHeld('tornado', begun);
      await replica.settled();
      await resumed;
    },
    hold: () => work?.hold(),
    close: async () => work?.close(),
  };
}

async function begin(
  services: TestingDeps,
  db: Db,
  orgId: string,
  body: TornadoStart,
): Promise<TestTornadoSessionRow> {
  const { max_iterations = 5, pathway_id, persona_id = null, timeout_ms = 900_000, webhook_url } = body;
  const pathway = await requirePathway(db, orgId, pathway_id);
  if (persona_id !== null) await requireSubject(db, orgId, { kind: 'persona', id: persona_id });
  const version = body.version_number ?? pathway.production_version ?? 0;
  const base = await graphOf(db, pathway, version);
  const active = await findActive(db, orgId, 'pathway_id', pathway_id);
  if (active) throw ApiError.of('TORNADO_ALREADY_ACTIVE', { session_id: active.id });
  const scenarios = await chosenScenarios(db, orgId, pathway_id, body.scenario_ids);
  const state: SessionState = {
    base,
    forks: [{ version, fixes: [] }],
    outcomes: [],
    tried: [],
    numbered: 0,
    unfixable: [],
  };
  const session: TestTornadoSessionRow = {
    id: newId(),
    org_id: orgId,
    pathway_id,
    persona_id,
    status: 'RUNNING',
    scenario_ids: toJson(scenarios),
    unfixable_ids: toJson([]),
    base_version: version,
    forked_version: null,
    current_iteration: 1,
    max_iterations,
    timeout_ms,
    seed: body.seed ?? randomInt(seeds),
    passed_scenarios: 0,
    failed_scenarios: 0,
    webhook_url: webhook_url ?? null,
    error_message: null,
    state: toJson(state),
    fixes: null,
    base_hash: null,
    worker: null,
    lease_until: null,
    cancel_requested_at: null,
    created_at: isoTime(services.clock),
    completed_at: null,
  };
  await insertSession(db, session);
  await beginIteration(services, db, session, version);
  return session;
}

export async function graphOf(db: Db, pathway: PathwayRow, version: number): Promise<RawGraph> {
  const { edges, nodes } = version === 0 ? pathway : await requireVersion(db, pathway.id, version);
  return { nodes: fromJson(nodes), edges: fromJson(edges) };
}

/** The given ones in order, else all enabled ones, oldest first. */
async function chosenScenarios(
  db: Db,
  orgId: string,
  pathwayId: string,
  named: readonly string[] | undefined,
): Promise<string[]> {
  const rows = await db
    .selectFrom('test_scenarios')
    .select(['id', 'enabled'])
    .where('org_id', '=', orgId)
    .where('pathway_id', '=', pathwayId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  if (named) {
    const known = new Set(rows.map(({ id }) => id));
    const unknown = named.filter((id) => !known.has(id));
    if (unknown.length > 0) throw ApiError.of('SCENARIO_NOT_FOUND', { scenario_ids: unknown });
    return [...named];
  }
  const enabled = rows.filter((row) => row.enabled === 1).map(({ id }) => id);
  if (enabled.length === 0) throw ApiError.of('NO_SCENARIOS');
  if (enabled.length > mostScenarios) throw ApiError.of('TOO_MANY_SCENARIOS');
  return enabled;
}
