/** What analysis finds in a failed run; the basis of suggestions and of tornado's fixes. */
import type { suggestionTypes } from '#shared/api/agent-testing/runs.ts';
import type { GraphEdit } from './edits.ts';

/**
 * The cause of the failure: the test itself (`harness`), the language model, the agent's prompts (`prompt`), the graph
 * (`flow`), or its data (`data`): variables, numbers, webhooks.
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
  /** The change in a form that can be applied at once; null: needs manual action. */
  readonly edit: GraphEdit | null;
}

/** By confidence; of duplicates only the most certain. */
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
