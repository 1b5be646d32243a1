/** One scenario over versions, voices and weathers (contract 6.15). */
import { type Static, Type } from 'typebox';
import { Weather } from '#shared/agent-test-weather.ts';
import {
  Closed,
  Integer,
  Iso,
  List,
  NextPage,
  Nullable,
  OneOf,
  PathId,
  PhoneNumber,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { described } from '#shared/described.ts';
import { Interval } from './analytics.ts';
import { groupStatuses, ScenarioStatistics } from './batches.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();

export const MatrixStart = Closed({
  scenario_id: Uuid('The scenario'),
  versions: Optional(
    List(
      Integer(0, 2_147_483_647),
      1,
      10,
      'Versions to test; 0 is the live graph; default: that in production',
    ),
  ),
  voices: Optional(
    List(Text(1, 100), 1, 10, "Voices of the caller; only with transport sip; default: the scenario's"),
  ),
  weathers: Optional(
    List(
      Closed({
        name: Text(1, 100, 'Name that the cells show'),
        weather: described(Weather, 'Noise, loss and more; `{}` is calm'),
      }),
      1,
      10,
      "Weathers by name; only with transport sip; default: the scenario's",
    ),
  ),
  repeats: Optional(Integer(1, 100, 'Runs of each cell; default: 10')),
  seed: Optional(Integer(0, 2_147_483_647, 'Seed of the first run of each cell; default: random')),
  transport: Optional(
    OneOf(
      ['text', 'sip'],
      'sip: over calls; default: text, or sip with an agent of others that is reached over a call',
    ),
  ),
  phone_number: Optional(PhoneNumber('Number that is called; required with transport sip')),
});
export type MatrixStart = Static<typeof MatrixStart>;

export const axes = ['version', 'voice', 'weather'] as const;
export type Axis = (typeof axes)[number];

const cell = {
  version: Nullable(Type.Integer(), 'Version of the cell; null: none was named'),
  voice: Nullable(text, 'Voice of the caller; null: none was named'),
  weather: Nullable(text, 'Name of the weather; null: none was named'),
};
const Cell = Type.Object(cell);
export type Cell = Static<typeof Cell>;

export const MatrixStarted = Testing({
  matrix_id: Type.String({ description: 'Id of the matrix' }),
  status: Type.Literal('PENDING', { description: 'Always PENDING' }),
  total_cells: Type.Integer({ description: 'Number of cells' }),
  repeats: Type.Integer({ description: 'Runs of each cell' }),
  created_at: Iso('When it was created'),
});

export const MatrixAnswer = Testing({
  id: Type.String({ description: 'Id of the matrix' }),
  scenario_id: Type.String({ description: 'Id of the scenario' }),
  status: OneOf(groupStatuses, 'Where it is, or how it ended'),
  cells: Type.Array(
    Type.Object({
      ...cell,
      simulation_set_id: Type.String({ description: 'The simulation set of the cell' }),
      status: OneOf(groupStatuses, 'Where the cell is, or how it ended'),
      statistics: described(ScenarioStatistics, 'Of the runs of the cell that have ended'),
      is_first: Type.Boolean({
        description: 'Whether it is the first cell of the request, from which the others differ',
      }),
      difference: Nullable(
        Type.Object({
          value: Type.Number({ description: 'The difference, -1 to 1' }),
          interval: Nullable(
            Interval,
            'Newcombe interval of the difference, 95 %; null: fewer than two distinct conversations on a side',
          ),
        }),
        'Pass rate minus that of the first cell; null: it is the first cell, that one was deleted, or there are no runs',
      ),
    }),
    { maxItems: 100, description: 'Versions outermost, weathers innermost' },
  ),
  first_break: Nullable(
    Type.Object({
      simulation_set_id: Type.String({ description: 'The simulation set of the cell' }),
      axis: OneOf([...axes, 'combination'], 'What differs from the first cell'),
      value: Type.String({ description: 'What differs, in words' }),
      difference: Type.Number({ description: 'Pass rate minus that of the first cell' }),
      failure_mode: Nullable(text, 'The most frequent failure; null: none was named'),
      run_id: Nullable(text, 'Its worst run; null: there is none'),
    }),
    'The first cell that is certainly worse; null: none is',
  ),
  created_at: Iso('When it was created'),
});
export const MatrixPath = PathId('id', 'Id of the matrix');

export const MatrixQuery = Type.Object({
  limit: Optional(Integer(1, 50, 'Most entries of a page; default: 20')),
  before: Optional(Text(1, 80, 'next of the previous page')),
});
export const MatrixList = Testing({
  matrices: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Id of the matrix' }),
      scenario_id: Type.String({ description: 'Id of the scenario' }),
      status: OneOf(groupStatuses, 'Where it is, or how it ended'),
      total_cells: Type.Integer({ description: 'Number of its cells, without deleted ones' }),
      repeats: Type.Integer({ description: 'Runs of each cell' }),
      created_at: Iso('When it was created'),
    }),
    { description: 'Newest first' },
  ),
  next: NextPage(),
});
