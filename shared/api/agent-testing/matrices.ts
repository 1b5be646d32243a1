/** One scenario over versions, voices and weathers (contract 6.15). */
import { type Static, Type } from 'typebox';
import { Weather } from '#shared/agent-test-weather.ts';
import {
  Closed,
  Integer,
  Iso,
  List,
  Nullable,
  OneOf,
  PathId,
  PhoneNumber,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { Interval } from './analytics.ts';
import { groupStatuses, ScenarioStatistics } from './batches.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();

export const MatrixStart = Closed({
  scenario_id: Uuid(),
  versions: Optional(List(Integer(0, 2_147_483_647), 1, 10)),
  voices: Optional(List(Text(1, 100), 1, 10)),
  weathers: Optional(List(Closed({ name: Text(1, 100), weather: Weather }), 1, 10)),
  repeats: Optional(Integer(1, 100, 'Runs of each cell; default: 10')),
  seed: Optional(Integer(0, 2_147_483_647)),
  transport: Optional(OneOf(['text', 'sip'], 'Default: text')),
  phone_number: Optional(PhoneNumber()),
});
export type MatrixStart = Static<typeof MatrixStart>;

export const axes = ['version', 'voice', 'weather'] as const;
export type Axis = (typeof axes)[number];

const cell = {
  version: Nullable(Type.Integer()),
  voice: Nullable(text),
  weather: Nullable(text),
};
const Cell = Type.Object(cell);
export type Cell = Static<typeof Cell>;

export const MatrixStarted = Testing({
  matrix_id: text,
  status: Type.Literal('PENDING'),
  total_cells: Type.Integer(),
  repeats: Type.Integer(),
  created_at: Iso(),
});

export const MatrixAnswer = Testing({
  id: text,
  scenario_id: text,
  status: OneOf(groupStatuses),
  cells: Type.Array(
    Type.Object({
      ...cell,
      simulation_set_id: text,
      status: OneOf(groupStatuses),
      statistics: ScenarioStatistics,
      /** From the first cell; null for that one, and without runs. */
      difference: Nullable(Type.Object({ value: Type.Number(), interval: Nullable(Interval) })),
    }),
    { maxItems: 100 },
  ),
  first_break: Nullable(
    Type.Object({
      simulation_set_id: text,
      axis: OneOf([...axes, 'combination']),
      value: text,
      difference: Type.Number(),
      failure_mode: Nullable(text),
      run_id: Nullable(text),
    }),
  ),
  created_at: Iso(),
});
export const MatrixPath = PathId('id', 'Id of the matrix');
