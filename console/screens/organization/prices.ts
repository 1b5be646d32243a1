/** Prices of models as lines of a field: name, input, output. Pure. */
import type { Answer } from '../../api/client.ts';
import { pageProblem, RequestFailed } from '../../api/problem.ts';
import { organization } from '../../text/organization.ts';

type Prices = NonNullable<Answer<'GET /v1/org/settings'>['data']['model_prices']>;

const words = organization.settings.prices;

export function priceLines(prices: Prices | null): string {
  return (prices?.models ?? []).map(({ input, model, output }) => `${model} ${input} ${output}`).join('\n');
}

/** @param lines without empty ones @returns null: there is none @throws RequestFailed which line is wrong */
export function pricesOf(currency: string, lines: readonly string[]): Prices | null {
  if (lines.length === 0) return null;
  const models = lines.map((line, index) => {
    const [, model = '', input, output] = /^(.+?)\s+(\d+(?:\.\d+)?)\s+(\d+(?:\.\d+)?)$/.exec(line) ?? [];
    if (model === '') throw wrong(index + 1);
    return { model, input: Number(input), output: Number(output) };
  });
  return { currency, models };
}

function wrong(line: number): RequestFailed {
  return new RequestFailed(pageProblem('NO_PRICE', words.wrong(line), words.wrongHelps));
}
