/** How far a judge agrees with people (contract 6.14). */
import { type Static, Type } from 'typebox';
import { Closed, List, Nullable, OneOf, Text, Uuid } from '#shared/api/common.ts';
import { described } from '#shared/described.ts';
import { Interval } from './analytics.ts';
import { AssertionCreate } from './assertions.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();

const Line = Closed({
  role: OneOf(['user', 'assistant'], '`user` is the caller'),
  content: Text(1, 4000, 'What was said'),
});

const Labelled = Closed({
  run_id: Optional(
    Uuid('An ended run, whose conversation is judged as it is stored; either this or `transcript`'),
  ),
  transcript: Optional(List(Line, 1, 200, 'The conversation; either this or `run_id`')),
  assertion: Optional(described(AssertionCreate, 'What is judged; default: `assertion` of the request')),
  verdict: OneOf(['pass', 'fail'], 'What a person says'),
});

export const Calibrate = Closed({
  assertion: Optional(described(AssertionCreate, 'Of all that have none of their own')),
  labelled: List(Labelled, 1, 100, 'Conversations with the verdicts of people'),
});
export type Calibrate = Static<typeof Calibrate>;

const Row = Type.Object({
  pass: Type.Integer({ description: 'The judge said pass' }),
  fail: Type.Integer({ description: 'The judge said fail' }),
  undecided: Type.Integer({ description: 'The judge did not decide' }),
});

export const Calibration = Testing({
  judge: Type.Object(
    {
      provider: Type.String({ description: 'Provider of its model, or `rules`' }),
      model: Type.String({ description: 'Its model' }),
      deterministic: Type.Boolean({
        description: 'Whether it always says the same of the same conversation',
      }),
    },
    { description: 'What decided' },
  ),
  total: Type.Integer({ description: 'Number of verdicts' }),
  decided: Type.Integer({ description: 'Those that the judge decided' }),

  confusion: Type.Object(
    {
      pass: described(Row, 'Those of which people say pass'),
      fail: described(Row, 'Those of which people say fail'),
    },
    { description: 'First what the person says, then what the judge does' },
  ),
  agreement: Type.Object(
    {
      value: Nullable(Type.Number(), '0 to 1; null: nothing was decided'),
      interval: Nullable(Interval, 'Wilson interval, 95 %; null: nothing was decided'),
    },
    { description: 'Share of equal verdicts among the decided ones' },
  ),
  kappa: Type.Object(
    {
      value: Nullable(Type.Number(), '-1 to 1; null: see `note`'),
      interval: Nullable(Interval, 'Interval of 95 %; null: see `note`'),
      note: Nullable(text, 'Why a value is null; null: none is'),
    },
    { description: "Cohen's kappa: agreement beyond chance" },
  ),
  results: Type.Array(
    Type.Object({
      verdict: OneOf(['pass', 'fail'], 'What the person says'),
      status: OneOf(['PASSED', 'FAILED', 'INCONCLUSIVE', 'ERROR'], 'What the judge says'),
      agrees: Nullable(Type.Boolean(), 'Whether both say the same; null: the judge did not decide'),
      score: Type.Number({ description: "The judge's score, 0 to 1" }),
      reasoning: Type.String({ description: "The judge's reason" }),
    }),
    { description: 'In the order of the request' },
  ),
});
