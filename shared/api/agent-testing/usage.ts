/** Tokens and cost of test runs (contract 6.4). */
import { type Static, Type } from 'typebox';
import { Nullable, OneOf } from '#shared/api/common.ts';

const text = Type.String();
const Tokens = () => Type.Integer({ description: 'Known ones' });

export const usageRoles = ['agent', 'caller', 'judge'] as const;
export type UsageRole = (typeof usageRoles)[number];

export const Usage = Type.Object({
  models: Type.Array(
    Type.Object({
      role: OneOf(usageRoles),
      model: text,
      requests: Type.Integer(),
      input_tokens: Tokens(),
      output_tokens: Tokens(),
      cost: Nullable(Type.Number()),
    }),
    { maxItems: 10 },
  ),
  input_tokens: Tokens(),
  output_tokens: Tokens(),
  cost: Nullable(Type.Number({ description: 'Null when tokens or a price are not known' })),
  currency: Nullable(text),
  unknown: Type.Array(text, { maxItems: 20, description: 'What is not known, one sentence each' }),
});
export type Usage = Static<typeof Usage>;

/** Of several runs. */
export const UsageSum = Type.Object({
  input_tokens: Tokens(),
  output_tokens: Tokens(),
  cost: Nullable(Type.Number({ description: 'Of the runs whose cost is known' })),
  currency: Nullable(text),
  runs_without_cost: Type.Integer(),
});
export type UsageSum = Static<typeof UsageSum>;
