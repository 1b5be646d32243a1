/** What one run uses of language models, as their servers count it, and what that costs at the organization's prices. */
import type { Usage, UsageRole } from '#shared/api/agent-testing/usage.ts';
import type { ModelPrices } from '#shared/api/model-prices.ts';
import { counted } from '#shared/counted.ts';
import type { Usage as Request } from '#shared/models/language-model.ts';
import { amount } from '#shared/usage-sum.ts';
import type { Spent, SpentScope } from './ports.ts';

interface Counted {
  readonly role: UsageRole;
  readonly model: string;
  requests: number;
  /** Of which the server did not tell the tokens. */
  uncounted: number;
  input_tokens: number;
  output_tokens: number;
}

const named: Readonly<Record<UsageRole, string>> = {
  agent: 'the agent',
  caller: 'the caller',
  judge: 'the judge',
};

export class RunUsage implements Spent {
  readonly #prices: ModelPrices | null;
  readonly #counted = new Map<string, Counted>();
  readonly #unknown = new Map<UsageRole, Set<string>>();

  constructor(prices: ModelPrices | null) {
    this.#prices = prices;
  }

  /** A request to a model of ours. */
  readonly count = ({ role, ...request }: Request): void => {
    this.add(role === 'turbo' ? 'agent' : role, request);
  };

  add(role: UsageRole, { model, input_tokens, output_tokens }: Omit<Request, 'role'>): void {
    const key = JSON.stringify([role, model]);
    const one = this.#counted.get(key) ?? {
      role,
      model,
      requests: 0,
      uncounted: 0,
      input_tokens: 0,
      output_tokens: 0,
    };
    one.requests++;
    if (input_tokens === null || output_tokens === null) one.uncounted++;
    one.input_tokens += input_tokens ?? 0;
    one.output_tokens += output_tokens ?? 0;
    this.#counted.set(key, one);
  }

  /** Tokens of a role that nobody tells. @param why a sentence */
  lacks(role: UsageRole, why: string): void {
    this.#unknown.set(role, (this.#unknown.get(role) ?? new Set()).add(why));
  }

  tokens(scope: SpentScope): number | string {
    const [why] = this.#lackOfTokens(scope);
    return why ?? this.#of(scope).reduce((sum, one) => sum + one.input_tokens + one.output_tokens, 0);
  }

  cost(scope: SpentScope): number | string {
    const [why] = [...this.#lackOfTokens(scope), ...this.#lackOfPrices(scope)];
    return why ?? amount(this.#of(scope).reduce((sum, one) => sum + (this.#costOf(one) ?? 0), 0));
  }

  view(): Usage {
    const all = this.#of('run');
    const cost = this.cost('run');
    return {
      models: all.map((one) => {
        const { role, model, requests, input_tokens, output_tokens } = one;
        return { role, model, requests, input_tokens, output_tokens, cost: this.#costOf(one) };
      }),
      input_tokens: all.reduce((sum, one) => sum + one.input_tokens, 0),
      output_tokens: all.reduce((sum, one) => sum + one.output_tokens, 0),
      cost: typeof cost === 'number' ? cost : null,
      currency: this.#prices?.currency ?? null,
      unknown: [...this.#lackOfTokens('run'), ...this.#lackOfPrices('run')],
    };
  }

  #of(scope: SpentScope): readonly Counted[] {
    return [...this.#counted.values()].filter(({ role }) => scope === 'run' || role === 'agent');
  }

  #costOf({ model, input_tokens, output_tokens, uncounted }: Counted): number | null {
    const price = this.#prices?.models.find((one) => one.model === model);
    if (!price || uncounted > 0) return null;
    return amount((input_tokens * price.input + output_tokens * price.output) / 1_000_000);
  }

  #lackOfTokens(scope: SpentScope): string[] {
    const told = [...this.#unknown].flatMap(([role, sentences]) =>
      scope === 'run' || role === 'agent' ? [...sentences] : [],
    );
    const uncounted = this.#of(scope)
      .filter((one) => one.uncounted > 0)
      .map(
        ({ model, requests, role, uncounted: count }) =>
          `The tokens of ${count} of ${counted(requests, 'request')} of ${named[role]} to model ${model} are not known: its server did not tell them, or its answer was cut off.`,
      );
    return [...told, ...uncounted];
  }

  #lackOfPrices(scope: SpentScope): string[] {
    const models = new Set(this.#of(scope).map(({ model }) => model));
    const priced = new Set(this.#prices?.models.map(({ model }) => model));
    return [...models]
      .filter((model) => !priced.has(model))
      .map((model) => `The organization's model_prices have no price for model ${model}.`);
  }
}
