/** Proposes fixes for failed scenarios: by rules, and by a language model where one is configured. */
import { setImmediate } from 'node:timers/promises';
import type { LanguageModel } from '#shared/models/language-model.ts';
import type { FailedCase } from '../analysis/case.ts';
import { detect } from '../analysis/detect.ts';
import { type Finding, ranked } from '../analysis/finding.ts';
import { proposeEdits } from '../analysis/model-edits.ts';
import type { FailedScenario } from './plan.ts';

export type Planner = (
  cases: readonly { readonly scenarioId: string; readonly failed: FailedCase }[],
  signal: AbortSignal,
) => Promise<FailedScenario[]>;

/** Rejects with ModelUnavailable when the model fails, with the reason of the signal when that is aborted. */
export function plannerOf(model: LanguageModel | null): Planner {
  return async (cases, signal) => {
    const planned: FailedScenario[] = [];
    for (const { scenarioId, failed } of cases) {
      await setImmediate();
      signal.throwIfAborted();
      const found = detect(failed);
      const proposed: readonly Finding[] = model ? await proposeEdits(model, failed, found, signal) : [];
      planned.push({ scenarioId, findings: ranked([...found, ...proposed]) });
    }
    return planned;
  };
}
