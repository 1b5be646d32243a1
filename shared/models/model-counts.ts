import type { LanguageModelOptions, ModelRole, Usage } from './language-model.ts';
import type { ModelFailure } from './model-unavailable.ts';

/** Requests to language models and their tokens, by Prometheus series without their prefix. */
export class ModelCounts implements Pick<LanguageModelOptions, 'usage' | 'attempted'> {
  readonly #counts = new Map<string, number>();

  readonly usage = ({ role, model, input_tokens, output_tokens }: Usage): void => {
    // The name comes from a setting; quotes and braces in it would end the label.
    const label = model.replace(/["\\\n{}]/g, '_');
    const series = (direction: string) =>
      `model_tokens_total{role="${role}",model="${label}",direction="${direction}"}`;
    this.#add(series('input'), input_tokens);
    this.#add(series('output'), output_tokens);
  };

  readonly attempted = (role: ModelRole, outcome: 'ok' | ModelFailure): void => {
    this.#add(`model_requests_total{role="${role}",outcome="${outcome}"}`, 1);
  };

  /** @param prefix such as `trunkline_edge_` */
  snapshot(prefix: string): Record<string, number> {
    return Object.fromEntries([...this.#counts].map(([series, value]) => [`${prefix}${series}`, value]));
  }

  #add(series: string, by: number): void {
    this.#counts.set(series, (this.#counts.get(series) ?? 0) + by);
  }
}
