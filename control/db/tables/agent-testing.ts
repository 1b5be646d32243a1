/** Scenarios, runs, and all that is made of them. */
import type { LoadLevelView as LoadLevel, LoadStatus } from '#shared/api/agent-testing/loads.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import type { FixPlan } from '#shared/api/agent-testing/tornado.ts';
import type { Usage } from '#shared/api/agent-testing/usage.ts';
import type { Json } from '../json.ts';
import type { Flag, IsoTime, OpenObject } from './columns.ts';

/** A test case of a pathway, a persona or an agent that is not ours (contract 6.1). */
export interface TestScenarioRow {
  id: string;
  org_id: string;
  /** Exactly one of the three is set. */
  pathway_id: string | null;
  persona_id: string | null;
  agent_id: string | null;
  name: string;
  description: string | null;
  category: string;
  scenario_type: 'AGENT' | 'REPLAY' | 'HISTORICAL';
  tester_persona_prompt: string | null;
  tester_persona_name: string | null;
  max_turns: number;
  request_data: Json<OpenObject> | null;
  start_node_id: string | null;
  service_tone_enabled: Flag;
  is_required_for_promotion: Flag;
  /** How many runs of different seeds the gate wants to have passed. */
  promotion_repeats: number;
  enabled: Flag;
  input_messages: Json | null;
  advanced_instructions: string | null;
  metadata: Json<OpenObject> | null;
  created_at: IsoTime;
  updated_at: IsoTime;
  /** Its runs stay readable. */
  deleted_at: IsoTime | null;
}

export interface TestAssertionRow {
  id: string;
  scenario_id: string;
  type: string;
  name: string | null;
  config: Json;
  is_required: Flag;
  weight: number;
  /** `order` of the contract. */
  position: number;
  /** Index in the request's array; decides between equal positions. */
  place: number;
}

/** One run of a scenario: columns for lists, queues and statistics. */
export interface TestRunRow {
  id: string;
  org_id: string;
  scenario_id: string;
  pathway_id: string | null;
  persona_id: string | null;
  agent_id: string | null;
  batch_id: string | null;
  simulation_set_id: string | null;
  tornado_session_id: string | null;
  status: 'PENDING' | 'RUNNING' | 'PASSED' | 'FAILED' | 'ERROR' | 'CANCELLED';
  trigger_source: string;
  version_number: number;
  /** Hash of exactly what was tested. */
  content_hash: string;
  seed: number;
  transport: 'text' | 'sip';
  phone_number: string | null;
  request_data_override: Json<OpenObject> | null;
  /** Whether it is of the scenario as it was when the run was created: what rates and the gate count (contract 6.4). */
  as_is: Flag;
  webhook_url: string | null;
  /** The worker that runs it, and until when no other may take it over. */
  worker: string | null;
  lease_until: IsoTime | null;
  attempts: number;
  cancel_requested_at: IsoTime | null;
  created_at: IsoTime;
  started_at: IsoTime | null;
  completed_at: IsoTime | null;
  turn_count: number;
  duration_ms: number | null;
  overall_score: number | null;
  /** Hash of what was said; null: not ended, or ended before there was one. */
  conversation: string | null;
  /** What it used of language models; null: not ended, cancelled, or from before it was counted. */
  usage: Json<Usage> | null;
  /** Hash of its nodes by first visit (TestPathRow); empty: none. */
  path_id: string;
  /** The node that a failure is attributed to (contract 6.10); empty: none. */
  failed_node_id: string;
}

/** What only a single run shows. */
export interface TestRunRecordRow {
  run_id: string;
  /** Scenario of shared/api/agent-testing/scenarios.ts, as of the run's creation. */
  scenario: Json<Scenario>;
  /** JSON of the members of ConversationRecord (control/testing/judging/ports.ts). */
  chat_history: Json;
  variables_extracted: Json;
  /** JSON array; `null` for a persona. */
  nodes_visited: Json;
  current_node_id: string | null;
  webhook_calls: Json;
  tool_calls: Json;
  log: Json;
  ending: Json | null;
  service_tone_score: Json | null;
  reasoning: string | null;
  evaluator: Json;
  error_message: string | null;
  voice: Json | null;
  /** Analysis of shared/api/agent-testing/runs.ts once requested. */
  analysis: Json | null;
  /** Where an interrupted run resumes; null: at the start. */
  checkpoint: Json | null;
  /** When the run ended, while its content is kept; null before and after that. */
  ended_at: IsoTime | null;
  /** When its content was deleted. */
  deleted_at: IsoTime | null;
}

export interface TestAssertionResultRow {
  run_id: string;
  /** In the order of the assertions. */
  place: number;
  assertion_id: string;
  type: string;
  name: string | null;
  status: 'PASSED' | 'FAILED' | 'INCONCLUSIVE' | 'ERROR';
  passed: Flag;
  score: number;
  weight: number;
  is_required: Flag;
  reasoning: string;
  evidence: Json;
  target: string | null;
  expected: string | null;
}

/** A path through a pathway that runs have taken. */
export interface TestPathRow {
  pathway_id: string;
  /** Hash of `nodes`. */
  id: string;
  /** JSON array of node ids, each once, by first visit. */
  nodes: Json<string[]>;
}

/** Results of a pathway's ended runs, by the UTC day of their creation. */
export interface TestRunDayRow {
  pathway_id: string;
  /** `2030-01-31` */
  day: string;
  status: TestRunRow['status'];
  runs: number;
  /** Runs with a score, and the sum of the scores. */
  scored: number;
  score_sum: number;
}

/** The same per outcome, by day and by month. */
export interface TestRunPeriodRow extends Omit<TestRunDayRow, 'day'> {
  /** `2030-01-31` or `2030-01` */
  period: string;
  scenario_id: string;
  path_id: string;
  failed_node_id: string;
}

/** How many runs of a kind exist, in any status; kept by triggers on `test_runs`. */
export interface TestRunCountRow {
  org_id: string;
  scenario_id: string;
  /** Empty: none. */
  pathway_id: string;
  persona_id: string;
  status: string;
  runs: number;
}

export interface TestBatchRow {
  id: string;
  org_id: string;
  /** Null: its scenarios belong to several. */
  pathway_id: string | null;
  persona_id: string | null;
  status: TestRunRow['status'];
  trigger_source: string;
  version_number: number | null;
  /** What a promotion waits for (contract 6.11). */
  content_hash: string | null;
  total_scenarios: number;
  publish_on_pass: Flag;
  published: Flag;
  webhook_url: string | null;
  created_at: IsoTime;
  completed_at: IsoTime | null;
}

export interface TestSimulationSetRow {
  id: string;
  org_id: string;
  pathway_id: string | null;
  persona_id: string | null;
  status: TestRunRow['status'];
  /** JSON array of ids. */
  scenario_ids: Json<string[]>;
  simulations_per_scenario: number;
  pass_threshold: number;
  version_number: number | null;
  webhook_url: string | null;
  created_at: IsoTime;
  completed_at: IsoTime | null;
  /** Of a cell of a matrix: which matrix, which place in it, and what it tests; else null. */
  matrix_id: string | null;
  matrix_place: number | null;
  matrix_cell: Json | null;
  /** Whose level it is; else null. */
  load_id: string | null;
}

/** Scenarios as calls at once, level by level (contract 6.16). */
export interface TestLoadRow {
  id: string;
  org_id: string;
  status: LoadStatus;
  /** Why it ended before its last level. */
  reason: string | null;
  scenario_ids: Json<string[]>;
  version_number: number | null;
  phone_number: string | null;
  /** One of the two is set. */
  runs_per_level: number | null;
  seconds_per_level: number | null;
  /** Of the first run of each level; run i has seed + i. */
  seed: number;
  /** Begun so far, of all levels. */
  runs: number;
  /** The level that is under way, from 0. */
  level: number;
  levels: Json<LoadLevel[]>;
  /** LoadedRun[] of control/testing/records/load-store.ts: what each run is made of, as of the start. */
  planned: Json;
  created_at: IsoTime;
  completed_at: IsoTime | null;
}

export interface TestTornadoSessionRow {
  id: string;
  org_id: string;
  pathway_id: string;
  persona_id: string | null;
  status: string;
  /** JSON arrays of ids. */
  scenario_ids: Json<string[]>;
  unfixable_ids: Json<string[]>;
  base_version: number;
  forked_version: number | null;
  current_iteration: number;
  max_iterations: number;
  timeout_ms: number;
  seed: number;
  passed_scenarios: number;
  failed_scenarios: number;
  webhook_url: string | null;
  error_message: string | null;
  /** Where an interrupted session resumes. */
  state: Json | null;
  /** KeptFix[] of control/testing/tornado/kept.ts: what the forked version has over the base; null before the end. */
  fixes: Json | null;
  /** Of the base as it was tested; null before the end, and in sessions from before it was kept. */
  base_hash: string | null;
  worker: string | null;
  lease_until: IsoTime | null;
  cancel_requested_at: IsoTime | null;
  created_at: IsoTime;
  completed_at: IsoTime | null;
}

export interface TestTornadoIterationRow {
  session_id: string;
  /** from 1 */
  iteration: number;
  batch_id: string;
  version_number: number;
  started_at: IsoTime;
  completed_at: IsoTime | null;
  passed_ids: Json<string[]>;
  failed_ids: Json<string[]>;
  newly_unfixable_ids: Json<string[]>;
  avg_score: number | null;
  /** FixPlan of shared/api/agent-testing/tornado.ts */
  fix_plan: Json<FixPlan> | null;
  prompt_excerpt: string | null;
  /** What the plan changed, in readable form. */
  diff: Json | null;
  /** On how many held-out variants its version was tried, and how many passed; null: on none. */
  held_out: Json<{ variants: number; passed: number }> | null;
}

/** An agent that is not ours, which scenarios can test (contract 6.13). */
export interface TestAgentRow {
  id: string;
  org_id: string;
  name: string;
  /** ForeignSettings of control/testing/foreign/rules.ts */
  settings: Json;
  /** Sealed: names and values of the headers that it is asked with. */
  headers: string;
  created_at: IsoTime;
  updated_at: IsoTime;
  /** Of format call: when its ownership was proven; null: not yet. */
  proven_at: IsoTime | null;
  /** SHA-256 of the code of the last ownership call, when the code expires, and how many wrong ones were sent. */
  proof_hash: string | null;
  proof_until: IsoTime | null;
  proof_tries: number;
}

/** A noise for the weather of runs over a call (contract 6.18). */
export interface TestNoiseRow {
  id: string;
  org_id: string;
  name: string;
  /** mu-law at 8 kHz, base64 */
  audio: string;
  seconds: number;
  created_at: IsoTime;
}

export interface AgentTestingTables {
  test_noises: TestNoiseRow;
  test_agents: TestAgentRow;
  test_scenarios: TestScenarioRow;
  test_assertions: TestAssertionRow;
  test_runs: TestRunRow;
  test_run_records: TestRunRecordRow;
  test_assertion_results: TestAssertionResultRow;
  test_paths: TestPathRow;
  test_run_days: TestRunDayRow;
  test_run_periods: TestRunPeriodRow;
  test_run_counts: TestRunCountRow;
  test_batches: TestBatchRow;
  test_simulation_sets: TestSimulationSetRow;
  test_loads: TestLoadRow;
  test_tornado_sessions: TestTornadoSessionRow;
  test_tornado_iterations: TestTornadoIterationRow;
}
