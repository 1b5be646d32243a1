/**
 * The promotion gate: required scenarios must have passed on exactly the content to be promoted (contract 6.11).
 * Missing ones run in a batch; publications waiting for it are completed when it has ended.
 */

import { OneAtATime } from '#shared/one-at-a-time.ts';
import type { Db, TestScenarioRow } from '../../db/index.ts';
import { findPersonaVersion } from '../../personas/index.ts';
import type {
  BlockingScenario,
  PromotionGate,
  PromotionRequest,
  PromotionVerdict,
} from '../../promotion/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { startBatch } from '../runs/batches/start.ts';
import { testRunsSubject } from '../runs/plan.ts';
import type { TestRuns } from '../runs/start.ts';
import type { Subject } from '../scenarios/rules.ts';
import { settlePromotions } from './apply.ts';
import { blockedBy } from './rules.ts';
import { batchEnded, latestRuns, requiredScenarios, runningBatch } from './store.ts';

/** Most runs of the gate's batch, as of any other (contract 6.6). */
const mostRuns = 100;

interface Blocked {
  readonly row: TestScenarioRow;
  readonly blocking: BlockingScenario;
}

/** Checks the gate before every publication. Call once, before test runs are started. */
export function registerGate(services: TestingDeps, runs: Pick<TestRuns, 'onBatchCompleted'>): void {
  const gate = new TestGate(services);
  services.promotionGates.register(gate);
  runs.onBatchCompleted((batchId) => gate.settle(batchId));
}

class TestGate implements PromotionGate {
  readonly #services: TestingDeps;
  readonly #settling = new OneAtATime();

  constructor(services: TestingDeps) {
    this.#services = services;
  }

  async judge(request: PromotionRequest): Promise<PromotionVerdict> {
    const { announcements, database } = this.#services;
    const verdict = await database.db.transaction().execute((db) => this.#judge(db, request));
    if (!verdict.passed && verdict.batchId !== null) announcements.announce(testRunsSubject);
    return verdict;
  }

  /** In one transaction, so that two concurrent requests get one batch. */
  async #judge(db: Db, request: PromotionRequest): Promise<PromotionVerdict> {
    const blocked = await blockedScenarios(db, request);
    if (blocked.length === 0) return { passed: true };
    const batchId = request.startBatch ? await this.#batch(db, request, blocked) : null;
    return { passed: false, batchId, scenarios: blocked.map(({ blocking }) => blocking) };
  }

  async #batch(db: Db, { orgId, subject, contentHash }: PromotionRequest, blocked: readonly Blocked[]) {
    const scenarios = firstOf(blocked.map(({ row }) => row));
    const running = await runningBatch(db, orgId, contentHash, scenarios);
    if (running !== null) return running;
    const versionNumber =
      subject.kind === 'pathway'
        ? subject.version
        : (await findPersonaVersion(db, subject.versionId)).version_number;
    const { batchId } = await startBatch(this.#services, db, {
      orgId,
      // Each run has a seed of its own.
      scenarioIds: scenarios.flatMap(({ id, promotion_repeats }) =>
        Array<string>(promotion_repeats).fill(id),
      ),
      versionNumber,
      triggerSource: 'promotion',
      contentHash,
    });
    return batchId;
  }

  /** A rule engine may finish a batch before its publication is on the list. */
  async awaited(batchId: string): Promise<void> {
    if (await batchEnded(this.#services.database.db, batchId)) await this.settle(batchId);
  }

  /** Publishes what waited for an ended batch; a second call changes nothing. */
  async settle(batchId: string): Promise<void> {
    await this.#settling.run(batchId, async () => {
      await settlePromotions(this.#services, batchId);
    });
  }
}

/** As many scenarios as their runs fit into one batch. */
function firstOf(scenarios: readonly TestScenarioRow[]): TestScenarioRow[] {
  let room = mostRuns;
  return scenarios.filter(({ promotion_repeats }) => {
    room -= promotion_repeats;
    return room >= 0;
  });
}

async function blockedScenarios(
  db: Db,
  { contentHash, orgId, subject }: PromotionRequest,
): Promise<Blocked[]> {
  const tested: Subject =
    subject.kind === 'pathway'
      ? { kind: 'pathway', id: subject.pathwayId }
      : { kind: 'persona', id: subject.personaId };
  const blocked: Blocked[] = [];
  for (const row of await requiredScenarios(db, orgId, tested)) {
    const blocking = blockedBy(row, await latestRuns(db, row, contentHash));
    if (blocking) blocked.push({ row, blocking });
  }
  return blocked;
}
