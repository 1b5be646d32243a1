/** For tests: records of conversations, and finished runs as execution would store them. */
import type { AssertionType, AssertionView } from '#shared/api/agent-testing/assertions.ts';
import { newId } from '#shared/ids.ts';
import { toJson } from '../../../control/db/json.ts';
import type { Db, TestRunRecordRow, TestRunRow } from '../../../control/db/tables.ts';
import type {
  AssertionResult,
  ChatLine,
  ConversationRecord,
  Judge,
} from '../../../control/testing/judging/ports.ts';
import { finishRun, insertRun, type RunEnd } from '../../../control/testing/records/write.ts';

/** `user: …` and `assistant: …` lines. */
export function chat(...lines: readonly string[]): ChatLine[] {
  let turn = -1;
  return lines.map((line) => {
    const [, role, content] = /^(user|assistant): (.*)$/s.exec(line) ?? [];
    if ((role !== 'user' && role !== 'assistant') || content === undefined)
      throw new Error(`No line: ${line}`);
    if (role === 'user' || turn < 0) turn++;
    return { role, content, turn, node_id: null };
  });
}

/** A conversation of two lines through two nodes, ended by the agent, with the changes in `more`. */
export function conversation(more: Partial<ConversationRecord> = {}): ConversationRecord {
  return {
    chat_history: chat('assistant: Hello, how can I help?', 'user: I want to book a table.'),
    variables: {},
    nodes_visited: ['start', 'end'],
    node_names: { start: 'Start', end: 'Goodbye' },
    webhook_calls: [],
    tool_calls: [],
    log: [],
    ending: { by: 'agent', reason: 'The node Goodbye ends the call.' },
    ...more,
  };
}

export function assertion(
  type: AssertionType,
  config: object,
  more: Partial<AssertionView> = {},
): AssertionView {
  return {
    id: newId(),
    type,
    name: null,
    config: { ...config },
    is_required: true,
    weight: 1,
    order: 0,
    ...more,
  };
}

/** The result of an assertion, passed unless `more` says otherwise. */
export function result(type: AssertionType, more: Partial<AssertionResult> = {}): AssertionResult {
  const status = more.status ?? 'PASSED';
  return {
    assertion_id: newId(),
    type,
    name: null,
    status,
    passed: status === 'PASSED',
    score: status === 'PASSED' ? 1 : 0,
    weight: 1,
    is_required: true,
    reasoning: 'Because.',
    evidence: [],
    target: null,
    expected: null,
    ...more,
  };
}

/** A judge that always gives the same answers. */
export function judgeSaying(answers: Partial<Pick<Judge, 'verdict' | 'tone'>>): Judge {
  const undecided = async () => ({
    kind: 'undecided' as const,
    reason: 'This judge was not told what to say.',
  });
  const evaluator = { provider: 'test', model: 'told', deterministic: true };
  return { evaluator, verdict: undecided, tone: undecided, ...answers };
}

export interface FinishedRun extends Partial<RunEnd> {
  readonly orgId: string;
  readonly scenarioId: string;
  readonly createdAt: string;
  readonly pathwayId?: string | null;
  readonly more?: Partial<TestRunRow>;
}

/** Stores an ended run of a pathway's scenario, counted as any other. Returns its id. */
export async function storeFinishedRun(db: Db, run: FinishedRun): Promise<string> {
  const { orgId, scenarioId, createdAt, pathwayId = null, more, ...end } = run;
  const id = newId();
  await insertRun(
    db,
    {
      id,
      org_id: orgId,
      scenario_id: scenarioId,
      pathway_id: pathwayId,
      persona_id: null,
      agent_id: null,
      batch_id: null,
      simulation_set_id: null,
      tornado_session_id: null,
      status: 'RUNNING',
      trigger_source: 'api',
      version_number: 0,
      content_hash: '',
      seed: 1,
      transport: 'text',
      phone_number: null,
      request_data_override: null,
      as_is: 1,
      webhook_url: null,
      worker: null,
      lease_until: null,
      cancel_requested_at: null,
      created_at: createdAt,
      started_at: createdAt,
      completed_at: null,
      duration_ms: null,
      overall_score: null,
      ...more,
    },
    { scenario: toJson({}) as TestRunRecordRow['scenario'], evaluator: toJson({}) },
  );
  if (end.status) {
    await finishRun(db, id, {
      completedAt: createdAt,
      score: null,
      turnCount: 1,
      durationMs: 1,
      nodesVisited: [],
      failedNodeId: null,
      record: {},
      results: [],
      ...end,
      status: end.status,
    });
  }
  return id;
}
