/** Executes one run: the conversation, its assertions, and the verdict. Stores nothing. */
import { GraphError } from '#shared/agent/graph.ts';
import type { Voice } from '#shared/api/agent-testing/runs.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import type { Usage } from '#shared/api/agent-testing/usage.ts';
import { ApiError } from '#shared/errors.ts';
import type { TextAgent } from '../../conversations/index.ts';
import { fromJson, type TestAgentRow, type TestRunRow, toJson } from '../../db/index.ts';
import { isoTime } from '../../organizations/index.ts';
import type { TestingDeps } from '../common/deps.ts';
import { type CalledTargets, calledAgent, requireProven } from '../foreign/called.ts';
import { ForeignAgentFailure, unseenTokens } from '../foreign/chat.ts';
import { converseWithForeign } from '../foreign/conversation.ts';
import { foreignHash, isSpoken, settingsOf } from '../foreign/rules.ts';
import { findForeignAgent } from '../foreign/store.ts';
import { evaluateAssertions, failedNode } from '../judging/assertions/evaluate.ts';
import type { ChatLine, ToneAnswer } from '../judging/ports.ts';
import { runVerdict, toneView, type Verdict } from '../judging/scoring.ts';
import type { RunUsage } from '../judging/usage.ts';
import { missingNode, mockProblems, outsideOf } from '../mocks/declared.ts';
import { Recorder } from '../mocks/mocks.ts';
import { noiseOf } from '../noises/store.ts';
import { countingAgent } from '../over-call/agent-tokens.ts';
import { converseOverCall, type OverCallParts, type OverCallServices } from '../over-call/over-call.ts';
import type { RunTime } from '../over-call/room.ts';
import { callSettings } from '../over-call/settings.ts';
import { CallFailure } from '../over-call/talk.ts';
import type { RunEnd } from '../records/write.ts';
import type { AnySubject, Subject } from '../scenarios/rules.ts';
import { agentBrief } from './agent-brief.ts';
import { agentParts, nodesOf } from './agent-parts.ts';
import { testedAgent, testedVersion } from './agent-store.ts';
import { type Conversed, converse, recorded } from './conversation.ts';
import { callerOf, evaluatorsOf, judgeOf } from './evaluators.ts';
import { HopelessRun } from './failures.ts';
import { requireTestableNumber } from './number.ts';

export type ExecutionServices = Pick<
  TestingDeps,
  | 'database'
  | 'secrets'
  | 'allowedTargets'
  | 'clock'
  | 'models'
  | 'conversations'
  | 'edges'
  | 'agentTestSockets'
  | 'limits'
> &
  Pick<OverCallServices, 'missed'> & { readonly calledTargets: Pick<CalledTargets, 'turn'> };

/** The claimed work. */
export interface Work {
  readonly run: TestRunRow;
  /** Whether it was attempted before. */
  readonly isRepeated: boolean;
  /** As of the run's creation. */
  readonly scenario: Scenario;
  /** Of all attempts at the run. */
  readonly usage: RunUsage;
  /** Of all attempts at the run. */
  readonly time?: RunTime;
}

/** The result of a run. */
export interface Executed {
  readonly end: RunEnd;
  /** Hash of the version when the agent spoke; null: no agent did. */
  readonly contentHash: string | null;
}

/**
 * Rejects when the engine or a model fails, so that the run may be retried; with HopelessRun when a retry is useless;
 * with the reason of `signal` when that is aborted.
 */
export async function executeRun(
  all: ExecutionServices,
  work: Work,
  signal: AbortSignal,
  onLine: (line: ChatLine) => void,
): Promise<Executed> {
  const services = { ...all, models: all.models.counted(work.usage.count) };
  const began = services.clock.now();
  const { run, scenario } = work;
  if (scenario.scenario_type === 'HISTORICAL') {
    const conversed = recorded(scenario);
    work.usage.lacks(
      'agent',
      'The conversation was recorded earlier: the tokens of its agent are not known.',
    );
    for (const line of conversed.record.chat_history) onLine(line);
    return { end: await judged(services, work, conversed, began), contentHash: null };
  }
  if (run.agent_id !== null) return foreign(services, work, run.agent_id, signal, onLine);
  const { agent, contentHash } = await agentOf(services, run);
  const conversed = await live(services, work, withStart(agent, scenario.start_node_id), signal, onLine);
  signal.throwIfAborted();
  const told = { instructions: agentBrief(agent), beganAt: new Date(began).toISOString() };
  const record = { ...conversed.record, agent: told };
  return { end: await judged(services, work, { ...conversed, record }, began), contentHash };
}

/** @throws HopelessRun when the agent refuses, or its settings are gone */
async function foreign(
  services: ExecutionServices,
  work: Work,
  agentId: string,
  signal: AbortSignal,
  onLine: (line: ChatLine) => void,
): Promise<Executed> {
  const { allowedTargets, clock, database, models, secrets } = services;
  const { run, scenario } = work;
  const began = clock.now();
  const { usage } = work;
  const agent = await findForeignAgent(database.db, run.org_id, agentId);
  if (!agent) throw new HopelessRun('The tested agent was deleted.');
  const common = {
    runId: run.id,
    caller: callerOf(models, scenario, run.seed),
    maxTurns: movesOf(scenario),
    signal,
    onLine,
  };
  try {
    const conversed = isSpoken(settingsOf(agent))
      ? await foreignOverCall(services, work, agent, common)
      : await converseWithForeign({
          ...common,
          conversationId: conversationOf(work),
          agent,
          usage,
          recorder: foreignRecorder(services, scenario),
          secrets,
          outgoing: { clock, allowedTargets },
        });
    signal.throwIfAborted();
    return { end: await judged(services, work, conversed, began), contentHash: foreignHash(agent) };
  } catch (error) {
    throw error instanceof ForeignAgentFailure && !error.mayPass ? new HopelessRun(error.message) : error;
  }
}

/** @throws HopelessRun when it may not be called, or what its settings name is gone */
async function foreignOverCall(
  services: ExecutionServices,
  { run, scenario, time, usage }: Work,
  agent: TestAgentRow,
  common: Pick<OverCallParts, 'runId' | 'caller' | 'maxTurns' | 'signal' | 'onLine'>,
) {
  const { calledTargets, database, limits, secrets } = services;
  const called = async () => {
    requireProven(agent);
    return calledAgent(database.db, agent, secrets);
  };
  const { target, wish } = await called().catch(hopelessForApi);
  usage.lacks('agent', unseenTokens);
  const settings = callSettings(scenario.metadata);
  const noise = await noiseOf(database.db, run.org_id, settings).catch(hopelessForApi);
  await calledTargets.turn(settingsOf(agent), common.signal);
  return converseOverCall(services, {
    ...common,
    agent: null,
    orgId: run.org_id,
    target,
    wish,
    // A model that speaks itself tells its words.
    needsWords: settingsOf(agent).format !== 'realtime',
    recorder: foreignRecorder(services, scenario),
    variables: { ...scenario.request_data, ...overrides(run) },
    settings,
    noise,
    time,
    startNodeId: null,
    seed: run.seed,
    record: isRecorded(run),
    maxMinutes: Math.ceil(limits.testing.timeoutMs / 60_000),
  });
}

/** The agent may still have what was said in an earlier attempt under the run's id. */
function conversationOf({ isRepeated, run: { id, started_at } }: Work): string {
  return isRepeated ? `${id}-${Date.parse(started_at ?? '')}` : id;
}

function foreignRecorder({ clock, conversations }: ExecutionServices, scenario: Scenario): Recorder {
  const { webhook, tools } = conversations;
  return new Recorder({ outside: outsideOf(scenario.metadata), agent: null, clock, webhook, tools });
}

/** @throws HopelessRun with the words of an ApiError: what was set up is not there */
function hopelessForApi(error: unknown): never {
  throw error instanceof ApiError ? new HopelessRun(error.message) : error;
}

/** A replay is as long as its original. */
function movesOf({ input_messages, max_turns, scenario_type }: Scenario): number {
  const replayed = input_messages?.filter(({ role }) => role === 'user').length ?? 0;
  return scenario_type === 'REPLAY' ? replayed : max_turns;
}

function live(
  services: ExecutionServices,
  work: Work,
  agent: TextAgent,
  signal: AbortSignal,
  onLine: (line: ChatLine) => void,
): Promise<Conversed & { readonly voice?: Voice }> {
  const { clock, conversations, models } = services;
  const { run, scenario } = work;
  const [problem] = mockProblems(scenario.metadata);
  // Its answers would not be those that the author meant.
  if (problem) throw new HopelessRun(`The scenario has an invalid mock: ${problem.path} ${problem.rule}.`);
  const outside = outsideOf(scenario.metadata);
  const lacks = missingNode(outside, nodesOf(agent));
  if (lacks !== null) throw new HopelessRun(`The scenario mocks a node that is not there: ${lacks}.`);
  const { webhook, tools } = conversations;
  const common = {
    runId: run.id,
    agent,
    caller: callerOf(models, scenario, run.seed),
    recorder: new Recorder({ outside, agent, clock, webhook, tools }),
    variables: { ...scenario.request_data, ...overrides(run) },
    maxTurns: movesOf(scenario),
    signal,
    onLine,
  };
  if (run.transport === 'sip') return overCall(services, work, common);
  const agentModels = models.agent({ onFailure: 'reject', seed: run.seed });
  return converse({ ...common, models: agentModels, clock, seed: run.seed });
}

/** @throws HopelessRun when the number no longer answers with the tested version */
async function overCall(
  services: ExecutionServices,
  { run, scenario, time, usage }: Work,
  common: Omit<OverCallParts, 'orgId' | 'target' | 'settings' | 'startNodeId' | 'maxMinutes' | 'seed'>,
) {
  const { org_id: orgId, version_number, phone_number } = run;
  const { db } = services.database;
  const testable = requireTestableNumber(db, orgId, ownSubjectOf(run), version_number, phone_number ?? '');
  const number = await testable.catch(hopelessForApi);
  const settings = callSettings(scenario.metadata);
  const noise = await noiseOf(db, orgId, settings).catch(hopelessForApi);
  const asksModel = evaluatorsOf(services.models, scenario).agent.provider !== 'embedded';
  const parts: OverCallParts = {
    ...common,
    orgId,
    target: { number },
    settings,
    noise,
    time,
    startNodeId: scenario.start_node_id,
    seed: run.seed,
    record: isRecorded(run),
    maxMinutes: Math.ceil(services.limits.testing.timeoutMs / 60_000),
  };
  return countingAgent(usage, asksModel, () => converseOverCall(services, parts));
}

/** The calls of a load are too many to be listened to. */
function isRecorded({ trigger_source }: TestRunRow): boolean {
  return trigger_source !== 'load';
}

function overrides({ request_data_override }: TestRunRow): Record<string, unknown> {
  return request_data_override === null ? {} : fromJson(request_data_override);
}

export function subjectOf(row: Pick<TestRunRow, 'pathway_id' | 'persona_id' | 'agent_id'>): AnySubject {
  return row.agent_id === null ? ownSubjectOf(row) : { kind: 'agent', id: row.agent_id };
}

/** Of a row without an agent of others. */
function ownSubjectOf(row: Pick<TestRunRow, 'pathway_id' | 'persona_id'>): Subject {
  if (row.pathway_id !== null) return { kind: 'pathway', id: row.pathway_id };
  return { kind: 'persona', id: row.persona_id ?? '' };
}

async function agentOf({ database }: ExecutionServices, run: TestRunRow) {
  const { org_id, version_number } = run;
  try {
    // In one transaction, so that the hash is that of this agent.
    return await database.db
      .transaction()
      .setAccessMode('read only')
      .execute(async (db) => ({
        agent: await testedAgent(db, org_id, ownSubjectOf(run), version_number),
        contentHash: (await testedVersion(db, org_id, ownSubjectOf(run), version_number)).contentHash,
      }));
  } catch (error) {
    if (error instanceof ApiError || error instanceof GraphError) throw new HopelessRun(error.message);
    throw error;
  }
}

/** @throws HopelessRun for an unknown start node, also for a persona, which has none (contract 6.5) */
function withStart(agent: TextAgent, startNodeId: string | null): TextAgent {
  if (startNodeId === null) return agent;
  const graphs = agent.kind === 'pathway' ? agent.graphs : [];
  // The first graph is the pathway's own; the others are reached from it.
  const [own] = graphs;
  if (!own?.nodes.some(({ id }) => id === startNodeId)) {
    throw new HopelessRun('Invalid start_node_id');
  }
  return agent.kind === 'pathway' ? { ...agent, startNodeId } : agent;
}

async function judged(
  { clock, database, models }: ExecutionServices,
  { run, scenario, usage }: Work,
  { currentNodeId, turnCount, voice, ...conversed }: Conversed & { readonly voice?: Voice },
  began: number,
): Promise<RunEnd> {
  const record = voice ? { ...conversed.record, voice } : conversed.record;
  const judge = judgeOf(models);
  const tone = scenario.service_tone_enabled ? await judge.tone(record, run.seed) : null;
  const given = [scenario.metadata, scenario.request_data, overrides(run)];
  const tested = { subject: ownSubjectOf(run), version: run.version_number, given };
  const couldHave = run.agent_id === null ? agentParts(database.db, run.org_id, tested) : undefined;
  const judging = { judge, seed: run.seed, spent: usage, ...(couldHave && { couldHave }) };
  const results = await evaluateAssertions(scenario.assertions, record, judging);
  const view = tone && toneView(tone, record);
  const verdict = verdictOf(runVerdict(results, view?.overall_tone_score ?? null), tone);
  const visited = record.nodes_visited;
  return {
    status: verdict.status,
    completedAt: isoTime(clock),
    score: verdict.score,
    turnCount,
    durationMs: Math.max(0, Math.round(clock.now() - began)),
    nodesVisited: visited,
    failedNodeId: failedNode(scenario.assertions, results, visited),
    results,
    usage: usage.view(),
    record: {
      chat_history: toJson(record.chat_history),
      variables_extracted: toJson(record.variables),
      webhook_calls: toJson(record.webhook_calls),
      tool_calls: toJson(record.tool_calls),
      log: toJson(record.log),
      ending: toJson(record.ending),
      current_node_id: currentNodeId,
      service_tone_score: view && toJson(view),
      reasoning: `${verdict.reasoning} ${record.ending.reason}`,
      error_message: verdict.error,
      evaluator: toJson(evaluatorsOf(models, scenario)),
      ...(voice && { voice: toJson(voice) }),
    },
  };
}

/** A run that only scores tone fails when its judge does. */
function verdictOf(verdict: Verdict, tone: ToneAnswer | null): Verdict {
  if (verdict.score !== null || tone?.kind !== 'failed') return verdict;
  const error = `The service tone could not be evaluated: ${tone.reason}`;
  return { ...verdict, status: 'ERROR', reasoning: error, error };
}

/** The end of an aborted run. @param lines transcript so far @param usage null: not known */
export function brokenOff(
  status: 'ERROR' | 'CANCELLED',
  completedAt: string,
  reason: string,
  lines: readonly ChatLine[],
  usage: Usage | null,
  error?: unknown,
): RunEnd {
  return {
    status,
    completedAt,
    score: null,
    turnCount: lines.reduce((most, { turn }) => Math.max(most, turn), 0),
    durationMs: null,
    nodesVisited: [],
    failedNodeId: null,
    results: [],
    usage,
    record: {
      chat_history: toJson(lines),
      reasoning: reason,
      error_message: status === 'ERROR' ? reason : null,
      ending: toJson({
        by: 'unknown',
        reason,
        ...(status === 'ERROR' && { answered: wasAnswered(error, lines) }),
      }),
    },
  };
}

/** Whether a run over a call that has no result was answered. */
function wasAnswered(error: unknown, lines: readonly ChatLine[]): boolean {
  return error instanceof CallFailure ? error.answered : lines.length > 0;
}
