/** A failed run with everything that detectors use, and shared queries on it. Pure. */
import { type Graph, GraphError, loadGraph } from '#shared/agent/graph.ts';
import type { LogFact } from '#shared/agent/log-facts.ts';
import type { AssertionConfigs, AssertionType, AssertionView } from '#shared/api/agent-testing/assertions.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import type { TypedAssertion } from '../judging/assertions/outcome.ts';
import { firstUnmet } from '../judging/assertions/sequences.ts';
import type { AssertionResult, ChatLine, ConversationRecord } from '../judging/ports.ts';
import type { RawGraph } from './edits.ts';

export interface TestedGraph {
  readonly raw: RawGraph;
  readonly graph: Graph;
}

export interface NotedFact {
  readonly node_id: string | null;
  readonly fact: LogFact;
}

export interface FailedCase {
  /** As of the run's creation. */
  readonly scenario: Pick<Scenario, 'name' | 'category' | 'request_data' | 'assertions' | 'max_turns'> &
    Partial<Pick<Scenario, 'tester_persona_prompt' | 'advanced_instructions' | 'metadata'>>;
  readonly record: ConversationRecord;
  /** What the agent noted, in order. Detectors read these, never the sentences of `record.log`. */
  readonly facts: readonly NotedFact[];
  readonly results: readonly AssertionResult[];
  /** Null: a persona, or a deleted version. */
  readonly tested: TestedGraph | null;
  /** Whether the agent was rule-based, so that a prompt without a quotation was spoken verbatim. */
  readonly agentByRules: boolean;
}

/** @returns null for an unusable graph */
export function testedGraph(raw: RawGraph): TestedGraph | null {
  try {
    return { raw, graph: loadGraph(raw.nodes, raw.edges) };
  } catch (error) {
    if (error instanceof GraphError) return null;
    throw error;
  }
}

/** Failed assertions with their configuration, the decisive ones first. */
export function unmetAssertions({ scenario, results }: FailedCase): {
  readonly result: AssertionResult;
  readonly assertion: AssertionView;
}[] {
  const unmet = results.flatMap((result) => {
    const assertion = scenario.assertions.find(({ id }) => id === result.assertion_id);
    return assertion && !result.passed ? [{ result, assertion }] : [];
  });
  return unmet.toSorted((a, b) => Number(b.result.is_required) - Number(a.result.is_required));
}

/** The configurations of the unmet assertions of a type. */
export function unmetConfigs<T extends AssertionType>(failed: FailedCase, type: T): AssertionConfigs[T][] {
  return unmetAssertions(failed).flatMap(({ assertion }) => {
    const typed = { type: assertion.type, config: assertion.config } as TypedAssertion;
    return typed.type === type && typed.config.not !== true ? [typed.config as AssertionConfigs[T]] : [];
  });
}

/** A node that the run should have reached. */
export interface WantedNode {
  readonly id: string;
  /** The node that it should have come from, if an assertion says so. */
  readonly after: string | null;
}

export function wantedNodes(failed: FailedCase): WantedNode[] {
  const visited = failed.record.nodes_visited ?? [];
  const wanted: WantedNode[] = [];
  const add = (id: string | undefined, after: string | null = null) => {
    if (id !== undefined && !visited.includes(id)) wanted.push({ id, after });
  };
  for (const { node_id } of unmetConfigs(failed, 'NODE_REACHED')) add(node_id);
  for (const { node_ids, mode = 'all', ordered = false } of unmetConfigs(failed, 'NODES_VISITED')) {
    if (mode === 'any') add(node_ids[0]);
    else if (ordered) addNext(node_ids, visited, add);
    else for (const id of node_ids) add(id);
  }
  for (const { reference_path } of unmetConfigs(failed, 'TRAVERSAL_MATCH')) {
    addNext(reference_path, visited, add);
  }
  for (const { node_id } of unmetConfigs(failed, 'WEBHOOK_TRIGGERED')) add(node_id);
  return wanted.filter(({ id }, index) => wanted.findIndex((one) => one.id === id) === index);
}

function addNext(
  path: readonly string[],
  visited: readonly string[],
  add: (id: string | undefined, after: string | null) => void,
): void {
  const next = firstUnmet(path, visited);
  add(path[next], path[next - 1] ?? null);
}

/** A line of the caller, and the node that heard it. */
export interface CallerLine {
  readonly turn: number;
  readonly words: string;
  readonly nodeId: string;
  /** The agent's line before. */
  readonly asked: string;
}

/** In order; lines before the agent's first words are left out. */
export function callerLines({ record: { chat_history: lines } }: FailedCase): CallerLine[] {
  const found: CallerLine[] = [];
  let last: ChatLine | null = null;
  lines.forEach((line, turn) => {
    if (line.role === 'assistant') last = line;
    else if (last?.node_id != null) {
      found.push({ turn, words: line.content, nodeId: last.node_id, asked: last.content });
    }
  });
  return found;
}

/** Readable names of nodes. */
export function nodeName({ tested, record }: FailedCase, id: string): string {
  return tested?.graph.nodes.get(id)?.name ?? record.node_names[id] ?? id;
}
