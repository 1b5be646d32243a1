/** Runs as the API shows them (contract 6.4). */
import type { AssertionResultView, AssertionType } from '#shared/api/agent-testing/assertions.ts';
import type { Run, RunRowView, TriggerSource } from '#shared/api/agent-testing/runs.ts';
import {
  type Db,
  fromJson,
  type Json,
  type TestAssertionResultRow,
  type TestRunRecordRow,
} from '../../db/index.ts';
import { fitOne, type Listed, type Omittable, readPage } from '../../http/index.ts';
import type { ChatLine, RecordedToolCall, RecordedWebhook } from '../judging/ports.ts';
import { round4, rounded } from '../judging/statistics.ts';
import { marksOf } from './marks.ts';
import { listedResults, type RunWithName } from './run-store.ts';

function resultView(row: TestAssertionResultRow): AssertionResultView {
  const { run_id: _, place: __, type, passed, is_required, score, evidence, ...rest } = row;
  return {
    ...rest,
    type: type as AssertionType,
    passed: passed === 1,
    is_required: is_required === 1,
    score: round4(score),
    evidence: fromJson<AssertionResultView['evidence']>(evidence),
  };
}

export function runRowView(run: RunWithName, results: readonly TestAssertionResultRow[]): RunRowView {
  const { id, scenario_id, pathway_id, persona_id, agent_id, batch_id } = run;
  const { status, turn_count, duration_ms, created_at } = run;
  return {
    id,
    scenario_id,
    pathway_id,
    persona_id,
    agent_id,
    batch_id,
    status,
    overall_score: rounded(run.overall_score),
    turn_count,
    duration_ms,
    created_at,
    as_is: run.as_is === 1,
    scenario: { id: scenario_id, name: run.scenario_name },
    usage: parsed(run.usage),
    assertion_results: results.map(resultView),
  };
}

/** Runs of a list, each within its share of a page. */
export function runLines(db: Db, runs: readonly RunWithName[]): Promise<Listed<RunRowView>[]> {
  return readPage(runs, { assertion_results: [] }, async (run, share) => {
    const results = await listedResults(db, run.id, share);
    return { item: runRowView(run, results ?? []), cut: results === null ? ['assertion_results'] : [] };
  });
}

/** @param said transcript so far, of a running run */
export function runView(
  run: RunWithName,
  record: TestRunRecordRow,
  results: readonly TestAssertionResultRow[],
  said?: readonly ChatLine[],
): Run {
  const lines: readonly ChatLine[] = said ?? fromJson<ChatLine[]>(record.chat_history);
  const tone: Run['service_tone_score'] = parsed(record.service_tone_score);
  const voice: Run['voice'] = parsed(record.voice);
  return {
    ...runRowView(run, results),
    ...(said && { turn_count: said.reduce((most, { turn }) => Math.max(most, turn), 0) }),
    simulation_set_id: run.simulation_set_id,
    tornado_session_id: run.tornado_session_id,
    version_number: run.version_number,
    content_hash: run.content_hash,
    chat_history: [...lines],
    variables_extracted: fromJson<Record<string, unknown>>(record.variables_extracted),
    nodes_visited: fromJson<string[] | null>(record.nodes_visited) ?? [],
    current_node_id: record.current_node_id,
    webhook_calls: fromJson<RecordedWebhook[]>(record.webhook_calls).map((call) => ({
      ...call,
      response: call.response ?? null,
    })),
    tool_calls: fromJson<RecordedToolCall[]>(record.tool_calls),
    service_tone_score: tone && roundedTone(tone),
    reasoning: record.reasoning,
    evaluator: fromJson<Run['evaluator']>(record.evaluator),
    seed: run.seed,
    trigger_source: run.trigger_source as TriggerSource,
    error_message: record.error_message,
    started_at: run.started_at,
    completed_at: run.completed_at,
    record_deleted_at: record.deleted_at,
    transport: run.transport,
    voice,
    marks: marksOf(results.map(resultView), lines, voice),
  };
}

/** A run under its own id; large transcripts and requests are omitted where they exceed the response limit. */
export function oneRunView(...parts: Parameters<typeof runView>): Listed<Run> {
  return fitOne(runView(...parts), omittable);
}

const omittable: Omittable = {
  tool_calls: [],
  webhook_calls: [],
  variables_extracted: {},
  assertion_results: [],
  chat_history: [],
};

/** JSON of the run in a webhook, bytes: what common receivers accept. */
const webhookBytes = 1_048_576;

/** A run in its webhook: the receiver reads omitted parts under the run's id. */
export function sentRunView(...parts: Parameters<typeof runView>): Listed<Run> {
  return fitOne(runView(...parts), omittable, webhookBytes);
}

function parsed<T>(text: Json | null): T | null {
  return text === null ? null : fromJson<T>(text);
}

function roundedTone(tone: NonNullable<Run['service_tone_score']>): NonNullable<Run['service_tone_score']> {
  const entries = Object.entries(tone).map(([name, value]) => [
    name,
    typeof value === 'number' ? round4(value) : value,
  ]);
  return Object.fromEntries(entries);
}
