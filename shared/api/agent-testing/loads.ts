/** Scenarios as calls at once, level by level (contract 6.16). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Integer,
  Iso,
  List,
  Nullable,
  OneOf,
  PageQuery,
  PathId,
  PhoneNumber,
  Uuid,
} from '#shared/api/common.ts';
import { described } from '#shared/described.ts';
import { Interval } from './analytics.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();
const Share = Nullable(Type.Number());
const Ms = Nullable(Type.Integer());

export const mostLevels = 20;

export const LoadStart = Closed({
  scenario_ids: List(Uuid(), 1, 10, 'Scenarios, run in turns'),
  concurrency: Optional(Integer(1, 500, 'Calls at once; either this or `ramp`')),
  ramp: Optional(
    Closed(
      {
        from: Integer(1, 500, 'Calls at once of the first level'),
        to: Integer(1, 500, 'Calls at once that no level exceeds'),
        step: Integer(1, 500, 'How many more calls the next level has'),
      },
      'A level for each step; either this or `concurrency`',
    ),
  ),
  runs_per_level: Optional(Integer(1, 1000, 'Calls of each level; default: 20')),
  seconds_per_level: Optional(Integer(5, 600, 'Calls begin for so long at each level')),
  version_number: Optional(Integer(0, 2_147_483_647, 'Version to test; default: that in production')),
  transport: Optional(
    OneOf(
      ['text', 'sip'],
      'sip: over calls; text: nothing is called; default: sip, or text with an agent of others that is a chat',
    ),
  ),
  phone_number: Optional(PhoneNumber('Number that is called; required with transport sip')),
  seed: Optional(Integer(0, 2_147_483_647, 'Seed of the first run; default: random')),
});
export type LoadStart = Static<typeof LoadStart>;

const loadStatuses = ['RUNNING', 'COMPLETED', 'CANCELLED'] as const;
export type LoadStatus = (typeof loadStatuses)[number];

/** Of a percentile: a bound is null where the sample is too small for one. */
const Bounds = Nullable(
  Type.Object({
    low: Nullable(Type.Integer(), 'Lower bound; null: beyond the least value'),
    high: Nullable(Type.Integer(), 'Upper bound; null: beyond the highest value'),
  }),
);

export const LoadFigures = Type.Object({
  calls: Type.Integer({ description: 'That have ended, without cancelled ones' }),
  answered: Type.Integer({ description: 'Calls that were answered' }),
  answered_share: described(Share, 'Share of the calls that were answered, 0 to 1; null: no calls'),
  answered_interval: Nullable(Interval, 'Wilson interval of the share, 95 %; null: no calls'),
  concurrency_reached: Type.Integer({ description: 'Most calls at one time, by their own times' }),
  set_up_ms: Type.Object(
    {
      p50: described(Ms, 'Median; null: not measured'),
      p95: described(Ms, 'Percentile 95; null: not measured'),
    },
    { description: 'From INVITE to answer, ms' },
  ),
  first_audio_ms: Type.Object(
    {
      p50: described(Ms, 'Median; null: not measured'),
      p95: described(Ms, 'Percentile 95; null: not measured'),
    },
    { description: "From the answer to the agent's first sound, ms" },
  ),
  latency_ms: Type.Object(
    {
      answers: Type.Integer({ description: 'Answers that were measured' }),
      p50: described(Ms, 'Median; null: not measured'),
      p50_interval: described(
        Bounds,
        'Interval of the median, 95 %, over calls; a bound is null beyond 0 or 1',
      ),
      p95: described(Ms, 'Percentile 95; null: not measured'),
      p95_interval: described(
        Bounds,
        'Interval of the percentile 95, 95 %, over calls; a bound is null beyond 0 or 1',
      ),
    },
    { description: "From the end of the caller's words to the agent's first sound, ms" },
  ),
  mos: Type.Object(
    {
      p50: described(Share, 'Median; null: not measured'),
      min: described(Share, 'Lowest; null: not measured'),
    },
    { description: "MOS at the agent's end, 1 to 5" },
  ),
  loss_percent: Type.Object(
    {
      p50: described(Share, 'Median; null: not measured'),
      max: described(Share, 'Highest; null: not measured'),
    },
    { description: "Lost packets at the agent's end, percent" },
  ),
  passed: Type.Integer({ description: 'Runs that passed' }),
  failed: Type.Integer({ description: 'Runs that failed' }),
  errored: Type.Integer({ description: 'Runs that ended with an error' }),
  pass_rate: described(Share, 'Share of passed and failed runs that passed, 0 to 1; null: none'),
  distinct_conversations: Type.Integer({
    description: 'Runs in which the same was said at the same nodes count once',
  }),
  pass_rate_interval: Nullable(
    Interval,
    'Wilson interval of the pass rate, 95 %, over distinct conversations; null: fewer than two',
  ),
  pass_rate_note: Nullable(text, 'Why there is no interval; null: there is one'),
  failures: Type.Array(
    Type.Object({
      reason: Type.String({ description: 'The error, or the assertions that did not pass' }),
      calls: Type.Integer({ description: 'Calls with this reason' }),
    }),
    { maxItems: 5, description: 'The most frequent reasons first' },
  ),
});
export type LoadFigures = Static<typeof LoadFigures>;

const Level = Type.Object({
  concurrency: Type.Integer({ description: 'Calls at once' }),
  simulation_set_id: Nullable(text, 'Its simulation set; null: it has not begun'),
  began_at: Nullable(Iso(), 'When it began; null: it has not'),
  ended_at: Nullable(Iso(), 'When it ended; null: it has not'),
  figures: Nullable(LoadFigures, 'Of the calls that have ended; null: it has not begun'),
});
export type LoadLevelView = Static<typeof Level>;

const kneeReasons = ['answered', 'latency', 'passed'] as const;
const Knee = Type.Object({
  concurrency: Nullable(
    Type.Integer({ description: 'The last level before it breaks; null: the first level does' }),
  ),
  breaks_at: Nullable(Type.Integer(), 'Level that is certainly worse; null: none is'),
  because: Nullable(OneOf(kneeReasons), 'What became worse; null: no level is worse'),
  sentence: Type.String({ description: 'The result in a sentence' }),
});
export type Knee = Static<typeof Knee>;

const line = {
  id: Type.String({ description: 'Id of the load' }),
  status: OneOf(loadStatuses, 'Where it is, or how it ended'),
  reason: Nullable(Type.String({ description: 'Why it ended before its last level; null: it did not' })),
  scenario_ids: Type.Array(text, { maxItems: 10, description: 'Scenarios, run in turns' }),
  version_number: Nullable(Type.Integer(), 'Version that was asked for; null: that in production'),
  phone_number: Nullable(text, 'Number that is called; null: none'),
  runs_per_level: Nullable(Type.Integer(), 'Calls of each level; null: levels go by time'),
  seconds_per_level: Nullable(
    Type.Integer(),
    'Time in which calls of a level begin, s; null: levels go by calls',
  ),
  created_at: Iso('When it was created'),
  completed_at: Nullable(Iso(), 'When it ended; null: it has not'),
};
export const LoadAnswer = Testing({
  ...line,
  levels: Type.Array(Level, { maxItems: mostLevels, description: 'In the order in which they run' }),
  knee: Nullable(Knee, 'Where it becomes worse; null: no level has ended'),
});
export const LoadStarted = Testing({
  load_id: Type.String({ description: 'Id of the load' }),
  status: Type.Literal('RUNNING', { description: 'Always RUNNING' }),
  levels: Type.Array(Type.Integer(), { maxItems: mostLevels, description: 'Calls at once of each level' }),
  created_at: Iso('When it was created'),
});
export const LoadList = Testing({
  loads: Type.Array(Type.Object(line), { description: 'Newest first' }),
  total_count: Type.Integer({ description: 'How many there are on all pages' }),
});
export const LoadQuery = PageQuery(100, 50);
export const LoadPath = PathId('id', 'Id of the load');
export const LoadCancelled = Testing({
  id: Type.String({ description: 'Id of the load' }),
  cancelled_runs: Type.Integer({ description: 'Runs that were cancelled by this request' }),
});
