/** Tokens and cost of test runs (contract 6.4). */
import { type Static, Type } from 'typebox';
import { Nullable, OneOf } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';

const text = Type.String();
const Tokens = () => Type.Integer({ description: 'Known ones' });

export const usageRoles = ['agent', 'caller', 'judge'] as const;
export type UsageRole = (typeof usageRoles)[number];

export const Usage = Type.Object({
  models: Type.Array(
    Type.Object({
      role: OneOf(usageRoles, 'Part that the model played'),
      model: Type.String({ description: 'The model' }),
      requests: Type.Integer({ description: 'Requests to it' }),
      input_tokens: described(Tokens(), 'Input tokens, as its server counted them'),
      output_tokens: described(Tokens(), 'Output tokens, as its server counted them'),
      cost: Nullable(Type.Number(), "At the organization's prices; null: tokens or the price are not known"),
    }),
    { maxItems: 10, description: 'By part and model' },
  ),
  input_tokens: described(Tokens(), 'Input tokens of all models'),
  output_tokens: described(Tokens(), 'Output tokens of all models'),
  cost: Nullable(
    Type.Number({ description: 'At the prices of the organization; null: tokens or a price are not known' }),
  ),
  currency: Nullable(text, 'Three letters, ISO 4217; null: no prices are set'),
  unknown: Type.Array(text, { maxItems: 20, description: 'What is not known, one sentence each' }),
});
export type Usage = Static<typeof Usage>;

/** Of several runs. */
export const UsageSum = Type.Object({
  input_tokens: described(Tokens(), 'Input tokens of all runs'),
  output_tokens: described(Tokens(), 'Output tokens of all runs'),
  cost: Nullable(
    Type.Number({
      description: 'Of the runs whose cost is known; null: of none, or in different currencies',
    }),
  ),
  currency: Nullable(text, 'Three letters, ISO 4217; null: no cost, or different currencies'),
  runs_without_cost: Type.Integer({ description: 'Runs whose cost is not known' }),
});
export type UsageSum = Static<typeof UsageSum>;
