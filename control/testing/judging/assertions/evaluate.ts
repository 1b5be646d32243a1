/** All assertion types, and their evaluation of a record. */
import { setImmediate } from 'node:timers/promises';
import type { AssertionConfigs, AssertionType, AssertionView } from '#shared/api/agent-testing/assertions.ts';
import type { AssertionResult, ConversationRecord, Outcome } from '../ports.ts';
import { heardWords } from './heard-words.ts';
import { customLlm, llmJudge } from './judged.ts';
import { measurement } from './measurement.ts';
import { nodeReached, nodesVisited } from './nodes-visited.ts';
import {
  type AssertionRule,
  broken,
  type ConfigProblem,
  inconclusive,
  type Judging,
  negated,
  type TypedAssertion,
} from './outcome.ts';
import { withoutBasis } from './prohibitions.ts';
import { regexMatch } from './regex-match.ts';
import { serviceTone } from './service-tone.ts';
import { stringCheck } from './string-check.ts';
import { toolCalled } from './tool-called.ts';
import { traversalMatch } from './traversal-match.ts';
import { variableExtracted } from './variable-extracted.ts';
import { webhookTriggered } from './webhook-triggered.ts';

const rules: { readonly [T in AssertionType]: AssertionRule<T> } = {
  LLM_JUDGE: llmJudge,
  SERVICE_TONE: serviceTone,
  VARIABLE_EXTRACTED: variableExtracted,
  NODE_REACHED: nodeReached,
  NODES_VISITED: nodesVisited,
  WEBHOOK_TRIGGERED: webhookTriggered,
  REGEX_MATCH: regexMatch,
  STRING_CHECK: stringCheck,
  CUSTOM_LLM: customLlm,
  TRAVERSAL_MATCH: traversalMatch,
  TOOL_CALLED: toolCalled,
  MEASUREMENT: measurement,
  HEARD_WORDS: heardWords,
};

/** What these check is not known of an agent that is not ours. */
const inside: ReadonlySet<AssertionType> = new Set([
  'VARIABLE_EXTRACTED',
  'NODE_REACHED',
  'NODES_VISITED',
  'TRAVERSAL_MATCH',
  'WEBHOOK_TRIGGERED',
  'TOOL_CALLED',
]);
const unseen =
  'The tested agent is not part of this service: its variables, nodes, webhooks and tools cannot be seen. Check what it says instead.';

/** Validated by the API's schemas when it was written. */
function typed({ type, config }: Pick<AssertionView, 'type' | 'config'>): TypedAssertion {
  return { type, config } as TypedAssertion;
}

/** Problems of a configuration beyond its schema. */
export function configProblems<T extends AssertionType>({
  type,
  config,
}: {
  readonly type: T;
  readonly config: AssertionConfigs[T];
}): readonly ConfigProblem[] {
  return rules[type].problems?.(config) ?? [];
}

function run<T extends AssertionType>(
  { type, config }: { readonly type: T; readonly config: AssertionConfigs[T] },
  record: ConversationRecord,
  judging: Judging,
): Outcome | Promise<Outcome> {
  // A chat completion shows the tools that it has others run.
  const isShown = type === 'TOOL_CALLED' && record.tool_calls.length > 0;
  if (record.foreign && inside.has(type) && !isShown) return inconclusive({ reasoning: unseen });
  return rules[type].evaluate(config, record, judging);
}

/**
 * In the order of `order`; scores unrounded. A fault of one assertion becomes its own result, ERROR. Judged assertions
 * wait concurrently; the others yield to other work in between. What was used is looked at when nobody asks any more.
 */
export async function evaluateAssertions(
  assertions: readonly AssertionView[],
  record: ConversationRecord,
  judging: Judging,
): Promise<AssertionResult[]> {
  const results: Promise<AssertionResult>[] = [];
  const ordered = assertions.toSorted((a, b) => a.order - b.order);
  for (const assertion of ordered.filter((one) => !waits(one))) {
    results.push(resultOf(assertion, record, judging));
    await setImmediate();
  }
  const asked = await Promise.all(results);
  const last = await Promise.all(ordered.filter(waits).map((one) => resultOf(one, record, judging)));
  const byId = new Map([...asked, ...last].map((result) => [result.assertion_id, result]));
  return ordered.flatMap(({ id }) => byId.get(id) ?? []);
}

/** What a run used is complete when all others have asked their models. */
function waits({ type }: AssertionView): boolean {
  return type === 'MEASUREMENT';
}

async function resultOf(
  assertion: AssertionView,
  record: ConversationRecord,
  judging: Judging,
): Promise<AssertionResult> {
  const { id: assertion_id, type, name, weight, is_required } = assertion;
  const outcome = await outcomeOf(assertion, record, judging);
  return { assertion_id, type, name, weight, is_required, passed: outcome.status === 'PASSED', ...outcome };
}

async function outcomeOf(
  assertion: AssertionView,
  record: ConversationRecord,
  judging: Judging,
): Promise<Outcome> {
  try {
    const unknown = judging.unknown?.(assertion) ?? null;
    if (unknown !== null) return inconclusive({ reasoning: unknown });
    const outcome = await run(typed(assertion), record, judging);
    const wanted = assertion.config.not === true ? negated(outcome) : outcome;
    const { couldHave } = judging;
    const empty = wanted.status === 'PASSED' ? await withoutBasis(typed(assertion), record, couldHave) : null;
    return empty === null ? wanted : inconclusive({ ...wanted, reasoning: empty });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return broken({ reasoning: `The assertion could not be evaluated: ${why}` });
  }
}

function blamed<T extends AssertionType>(
  { type, config }: { readonly type: T; readonly config: AssertionConfigs[T] },
  visited: readonly string[],
): string | null {
  return rules[type].failedNode?.(config, visited) ?? null;
}

/**
 * The node that a failed run is attributed to (contract 6.10): that of its first required assertion that did not pass,
 * when its type names one, else the last visited one; null without nodes.
 * @param results of evaluateAssertions
 */
export function failedNode(
  assertions: readonly AssertionView[],
  results: readonly AssertionResult[],
  visited: readonly string[] | null,
): string | null {
  if (!visited) return null;
  const first = results.find(({ is_required, passed }) => is_required && !passed);
  const assertion = assertions.find(({ id }) => id === first?.assertion_id);
  const named = assertion ? blamed(typed(assertion), visited) : null;
  return named ?? visited.at(-1) ?? null;
}
