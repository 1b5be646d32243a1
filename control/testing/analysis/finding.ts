/** What analysis finds in a failed run; suggestions and tornado's fixes are made of it. */
import type { suggestionTypes } from '#shared/api/agent-testing/runs.ts';
import type { GraphEdit } from './edits.ts';

/**
 * Where the fault lies: in the test itself (`harness`), in the language model, in what the agent is told to say
 * (`prompt`), in the graph (`flow`), or in what it works with (`data`): variables, numbers, webhooks.
 */
export const causes = ['harness', 'model', 'prompt', 'flow', 'data'] as const;
export type Cause = (typeof causes)[number];

export interface Finding {
  readonly cause: Cause;
  readonly type: (typeof suggestionTypes)[number];
  /** Null: the whole pathway, or the scenario. */
  readonly nodeId: string | null;
  /** What is wrong, with the facts of the run. One or two sentences. */
  readonly description: string;
  /** What to do about it. */
  readonly suggestedChange: string;
  /** 0..1 */
  readonly confidence: number;
  /** The change as it can be made at once; null: a person must make it. */
  readonly edit: GraphEdit | null;
}

/** Most certain first; of those that come to the same only the most certain. */
export function ranked(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings
    .toSorted((a, b) => b.confidence - a.confidence)
    .filter(({ edit, type, nodeId, suggestedChange }) => {
      const key = JSON.stringify(edit ?? [type, nodeId, suggestedChange]);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
}
