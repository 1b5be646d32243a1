/** What an organization pays for language models; nobody else knows, and a list of ours would age. */
import { type Static, Type } from 'typebox';
import { Closed, Text } from './common.ts';

const mostModels = 100;
const Price = () => Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Per million tokens' });
const currency = () => Type.String({ pattern: '^[A-Z]{3}$', minLength: 3, maxLength: 3, examples: ['USD'] });

export const ModelPrices = Closed({
  currency: currency(),
  models: Type.Array(Closed({ model: Text(1, 200), input: Price(), output: Price() }), {
    maxItems: mostModels,
  }),
});
export type ModelPrices = Static<typeof ModelPrices>;

export const ModelPricesView = Type.Object({
  currency: Type.String(),
  models: Type.Array(Type.Object({ model: Type.String(), input: Type.Number(), output: Type.Number() }), {
    maxItems: mostModels,
  }),
});
