/** Creates, changes and deletes scenarios (contract 6.1). */
import type { Scenario, ScenarioCreate, ScenarioUpdate } from '#shared/api/agent-testing/scenarios.ts';
import { newId } from '#shared/ids.ts';
import { type Actor, changedFields } from '../../audit/index.ts';
import type { TestScenarioRow } from '../../db/index.ts';
import { isoTime } from '../../organizations/index.ts';
import { recordTestingChange } from '../common/audit.ts';
import type { TestingDeps } from '../common/deps.ts';
import { checkWrittenCaller } from '../noises/caller-check.ts';
import {
  assertionRows,
  changedContent,
  checkMessages,
  newContent,
  readAnySubject,
  scenarioView,
} from './rules.ts';
import {
  insertScenario,
  listAssertions,
  replaceAssertions,
  requireFreeName,
  requireScenario,
  requireSubject,
  updateScenario,
} from './store.ts';

type Parts = Pick<TestingDeps, 'database' | 'clock' | 'edges'>;

/**
 * @throws ApiError INVALID_PARAMETER, PATHWAY_NOT_FOUND, PERSONA_NOT_FOUND, TEST_AGENT_NOT_FOUND, SCENARIO_NAME_TAKEN,
 * QUOTA_EXCEEDED
 */
export async function createScenario(
  { database, clock, edges, quotas }: Parts & Pick<TestingDeps, 'quotas'>,
  orgId: string,
  body: ScenarioCreate,
  by: Actor,
): Promise<Scenario> {
  const subject = readAnySubject(body);
  const id = newId();
  const now = isoTime(clock);
  const row: TestScenarioRow = {
    id,
    org_id: orgId,
    pathway_id: subject.kind === 'pathway' ? subject.id : null,
    persona_id: subject.kind === 'persona' ? subject.id : null,
    agent_id: subject.kind === 'agent' ? subject.id : null,
    ...newContent(body),
    created_at: now,
    updated_at: now,
    deleted_at: null,
  };
  const assertions = assertionRows(id, body.assertions ?? [], new Set(), newId);
  return database.db.transaction().execute(async (db) => {
    await requireSubject(db, orgId, subject);
    await checkWrittenCaller({ edges, db, orgId }, body.metadata ?? null);
    await quotas.room(db, 'test_scenarios', orgId);
    await requireFreeName(db, row);
    await insertScenario(db, row, assertions);
    await recordTestingChange(db, { clock }, by, { orgId, subject: id, action: 'scenario_create' });
    return scenarioView(row, await listAssertions(db, id));
  });
}

/** @throws ApiError INVALID_PARAMETER, SCENARIO_NOT_FOUND, SCENARIO_NAME_TAKEN */
export function changeScenario(
  { database, clock, edges }: Parts,
  orgId: string,
  id: string,
  body: ScenarioUpdate,
  by: Actor,
): Promise<Scenario> {
  return database.db.transaction().execute(async (db) => {
    const stored = await requireScenario(db, orgId, id);
    await checkWrittenCaller({ edges, db, orgId }, body.metadata ?? null);
    const change = { ...changedContent(body), updated_at: isoTime(clock) };
    const row = { ...stored, ...change };
    checkMessages(row);
    if (body.assertions) {
      const known = new Set((await listAssertions(db, id)).map((assertion) => assertion.id));
      await replaceAssertions(db, id, assertionRows(id, body.assertions, known, newId));
    }
    await requireFreeName(db, row);
    await updateScenario(db, id, change);
    const fields = [...changedFields(stored, row), ...(body.assertions ? ['assertions'] : [])].sort();
    await recordTestingChange(db, { clock }, by, { orgId, subject: id, action: 'scenario_update', fields });
    return scenarioView(row, await listAssertions(db, id));
  });
}
