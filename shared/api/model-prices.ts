/** What an organization pays for language models; nobody else knows, and a list of ours would age. */
import { type Static, Type } from 'typebox';
import { described } from '#shared/described.ts';
import { Closed, Text } from './common.ts';

const mostModels = 100;
const Price = () => Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Per million tokens' });
const currency = () => Type.String({ pattern: '^[A-Z]{3}$', minLength: 3, maxLength: 3, examples: ['USD'] });

export const ModelPrices = Closed({
  currency: described(currency(), 'Three upper-case letters, ISO 4217'),
  models: Type.Array(
    Closed({
      model: Text(1, 200, 'Name of the model, as runs show it'),
      input: described(Price(), 'Price of a million input tokens'),
      output: described(Price(), 'Price of a million output tokens'),
    }),
    {
      maxItems: mostModels,
      description: 'By model',
    },
  ),
});
export type ModelPrices = Static<typeof ModelPrices>;

export const ModelPricesView = Type.Object({
  currency: Type.String({ description: 'Three upper-case letters, ISO 4217' }),
  models: Type.Array(
    Type.Object({
      model: Type.String({ description: 'Name of the model' }),
      input: Type.Number({ description: 'Price of a million input tokens' }),
      output: Type.Number({ description: 'Price of a million output tokens' }),
    }),
    {
      maxItems: mostModels,
      description: 'By model',
    },
  ),
});
