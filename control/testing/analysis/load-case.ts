/** Loads a finished run with everything that analysis uses. */
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import { type Db, fromJson, type TestRunRow } from '../../db/index.ts';
import { findPathway, findVersion } from '../../pathways/index.ts';
import type { AssertionResult, ConversationRecord, Ending } from '../judging/ports.ts';
import { findRecord, resultsOf } from '../records/run-store.ts';
import { type FailedCase, testedGraph } from './case.ts';
import type { RawGraph } from './edits.ts';
import { formerFact } from './former-log.ts';

export async function loadCase(db: Db, run: TestRunRow): Promise<FailedCase> {
  const record = await findRecord(db, run.id);
  const scenario: Scenario = fromJson(record.scenario);
  const evaluator = fromJson<{ agent?: { provider?: string } }>(record.evaluator);
  const results = (await resultsOf(db, [run.id])).get(run.id) ?? [];
  const raw = await rawGraph(db, run);
  const ending: Ending = record.ending ? fromJson<Ending>(record.ending) : { by: 'unknown', reason: '' };
  const log = fromJson<ConversationRecord['log']>(record.log);
  const conversation: ConversationRecord = {
    chat_history: fromJson<ConversationRecord['chat_history']>(record.chat_history),
    variables: fromJson<ConversationRecord['variables']>(record.variables_extracted),
    nodes_visited: fromJson<ConversationRecord['nodes_visited']>(record.nodes_visited),
    node_names: {},
    webhook_calls: fromJson<ConversationRecord['webhook_calls']>(record.webhook_calls),
    tool_calls: fromJson<ConversationRecord['tool_calls']>(record.tool_calls),
    log,
    ending,
  };
  return {
    scenario,
    record: conversation,
    facts: log.flatMap(({ node_id, message, fact: stored }) => {
      const fact = stored ?? formerFact(message);
      return fact ? [{ node_id, fact }] : [];
    }),
    results: results.map(
      (result): AssertionResult => ({
        assertion_id: result.assertion_id,
        type: result.type as AssertionResult['type'],
        name: result.name,
        status: result.status,
        passed: result.passed === 1,
        score: result.score,
        weight: result.weight,
        is_required: result.is_required === 1,
        reasoning: result.reasoning,
        evidence: fromJson<AssertionResult['evidence']>(result.evidence),
        target: result.target,
        expected: result.expected,
      }),
    ),
    tested: raw && testedGraph(raw),
    agentByRules: evaluator.agent?.provider === 'embedded',
  };
}

/** The tested version; null when it was deleted, and for a persona. */
async function rawGraph(db: Db, run: TestRunRow): Promise<RawGraph | null> {
  if (run.pathway_id === null) return null;
  const stored =
    run.version_number === 0
      ? await findPathway(db, run.org_id, run.pathway_id)
      : await findVersion(db, run.pathway_id, run.version_number);
  return stored ? { nodes: fromJson(stored.nodes), edges: fromJson(stored.edges) } : null;
}
