/** Building outcomes: shared by all assertion types. Pure. */
import type { AssertionConfigs, AssertionType, AssertionView } from '#shared/api/agent-testing/assertions.ts';
import type { ConversationRecord, CouldHave, Evidence, Judge, Outcome, Spent } from '../ports.ts';

/** An assertion with the configuration of its type. */
export type TypedAssertion = {
  [T in AssertionType]: { readonly type: T; readonly config: AssertionConfigs[T] };
}[AssertionType];

export interface Judging {
  readonly judge: Judge;
  readonly seed: number;
  /** What the run used until now; absent: nobody counted. */
  readonly spent?: Spent;
  /** Why an assertion cannot be decided by this record; null or absent: it can. */
  readonly unknown?: (assertion: AssertionView) => string | null;
  /** Absent: it is not known what the agent is made of. */
  readonly couldHave?: CouldHave;
}

/** A problem of a configuration that its schema cannot express. */
export interface ConfigProblem {
  /** JSON pointer from the configuration, such as `/pattern` */
  readonly path: string;
  readonly rule: string;
}

/** One assertion type. */
export interface AssertionRule<T extends AssertionType> {
  /** Checks beyond the schema, when a scenario is written. */
  problems?(config: AssertionConfigs[T]): readonly ConfigProblem[];
  evaluate(
    config: AssertionConfigs[T],
    record: ConversationRecord,
    judging: Judging,
  ): Outcome | Promise<Outcome>;
  /** The node that a failure is attributed to, when the configuration names one (contract 6.10). */
  failedNode?(config: AssertionConfigs[T], visited: readonly string[]): string | null;
}

interface Facts {
  readonly reasoning: string;
  readonly evidence?: readonly Evidence[];
  readonly target?: string | null;
  readonly expected?: string | null;
}

/** @param score 0..1 */
export function decided(passed: boolean, score: number, facts: Facts): Outcome {
  return { ...complete(facts), status: passed ? 'PASSED' : 'FAILED', score };
}

/** 1 or 0. */
export function yesOrNo(passed: boolean, facts: Facts): Outcome {
  return decided(passed, passed ? 1 : 0, facts);
}

/** There is no basis for a decision; never passes. */
export function inconclusive(facts: Facts): Outcome {
  return { ...complete(facts), status: 'INCONCLUSIVE', score: 0 };
}

/** The judge has failed; never passes. */
export function broken(facts: Facts): Outcome {
  return { ...complete(facts), status: 'ERROR', score: 0 };
}

/** The opposite of a decision; what was not decided stays open. */
export function negated(outcome: Outcome): Outcome {
  const expected = `not: ${outcome.expected ?? 'as configured'}`;
  if (outcome.status !== 'PASSED' && outcome.status !== 'FAILED') return { ...outcome, expected };
  const passed = outcome.status === 'FAILED';
  const reasoning = `The opposite is wanted. ${outcome.reasoning}`;
  return { ...outcome, status: passed ? 'PASSED' : 'FAILED', score: passed ? 1 : 0, reasoning, expected };
}

function complete({ reasoning, evidence = [], target = null, expected = null }: Facts) {
  return { reasoning, evidence, target, expected };
}

export const withoutNodes = 'The conversation has no nodes: it did not follow a pathway.';

/** A node's readable name. */
export function nodeText(record: ConversationRecord, id: string): string {
  const name = record.node_names[id];
  return name === undefined || name === id ? id : `${name} (${id})`;
}

/** The nodes of a path, at most 30. */
export function wayText(record: ConversationRecord, ids: readonly string[]): string {
  const shown = ids.slice(0, 30).map((id) => nodeText(record, id));
  if (ids.length > 30) shown.push(`and ${ids.length - 30} more`);
  return shown.join(', ') || 'none';
}
