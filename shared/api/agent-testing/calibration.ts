/** How far a judge agrees with people (contract 6.14). */
import { type Static, Type } from 'typebox';
import { Closed, List, Nullable, OneOf, Text, Uuid } from '#shared/api/common.ts';
import { Interval } from './analytics.ts';
import { AssertionCreate } from './assertions.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();

const Line = Closed({ role: OneOf(['user', 'assistant']), content: Text(1, 4000) });

const Labelled = Closed({
  run_id: Optional(Uuid()),
  transcript: Optional(List(Line, 1, 200)),
  assertion: Optional(AssertionCreate),
  verdict: OneOf(['pass', 'fail'], 'What a person says'),
});

export const Calibrate = Closed({
  /** Of all that have none of their own. */
  assertion: Optional(AssertionCreate),
  labelled: List(Labelled, 1, 100),
});
export type Calibrate = Static<typeof Calibrate>;

const Row = Type.Object({ pass: Type.Integer(), fail: Type.Integer(), undecided: Type.Integer() });

export const Calibration = Testing({
  judge: Type.Object({ provider: text, model: text, deterministic: Type.Boolean() }),
  total: Type.Integer(),
  decided: Type.Integer(),
  /** First what the person says, then what the judge does. */
  confusion: Type.Object({ pass: Row, fail: Row }),
  agreement: Type.Object({ value: Nullable(Type.Number()), interval: Nullable(Interval) }),
  kappa: Type.Object({
    value: Nullable(Type.Number()),
    interval: Nullable(Interval),
    note: Nullable(text),
  }),
  results: Type.Array(
    Type.Object({
      verdict: OneOf(['pass', 'fail']),
      status: OneOf(['PASSED', 'FAILED', 'INCONCLUSIVE', 'ERROR']),
      agrees: Nullable(Type.Boolean()),
      score: Type.Number(),
      reasoning: text,
    }),
  ),
});
