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
import { Interval } from './analytics.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();
const Share = Nullable(Type.Number());
const Ms = Nullable(Type.Integer());

export const mostLevels = 20;

export const LoadStart = Closed({
  scenario_ids: List(Uuid(), 1, 10),
  concurrency: Optional(Integer(1, 500, 'Calls at once; either this or `ramp`')),
  ramp: Optional(Closed({ from: Integer(1, 500), to: Integer(1, 500), step: Integer(1, 500) })),
  runs_per_level: Optional(Integer(1, 1000, 'Calls of each level; default: 20')),
  seconds_per_level: Optional(Integer(5, 600, 'Calls begin for so long at each level')),
  version_number: Optional(Integer(0, 2_147_483_647)),
  transport: Optional(OneOf(['text', 'sip'], 'Default: sip')),
  phone_number: Optional(PhoneNumber()),
  seed: Optional(Integer(0, 2_147_483_647)),
});
export type LoadStart = Static<typeof LoadStart>;

const loadStatuses = ['RUNNING', 'COMPLETED', 'CANCELLED'] as const;
export type LoadStatus = (typeof loadStatuses)[number];

/** Of a percentile: a bound is null where the sample is too small for one. */
const Bounds = Nullable(Type.Object({ low: Nullable(Type.Integer()), high: Nullable(Type.Integer()) }));

export const LoadFigures = Type.Object({
  calls: Type.Integer({ description: 'That have ended, without cancelled ones' }),
  answered: Type.Integer(),
  answered_share: Share,
  answered_interval: Nullable(Interval),
  concurrency_reached: Type.Integer({ description: 'Most calls at one time, by their own times' }),
  set_up_ms: Type.Object({ p50: Ms, p95: Ms }),
  first_audio_ms: Type.Object({ p50: Ms, p95: Ms }),
  latency_ms: Type.Object({
    answers: Type.Integer(),
    p50: Ms,
    p50_interval: Bounds,
    p95: Ms,
    p95_interval: Bounds,
  }),
  mos: Type.Object({ p50: Share, min: Share }),
  loss_percent: Type.Object({ p50: Share, max: Share }),
  passed: Type.Integer(),
  failed: Type.Integer(),
  errored: Type.Integer(),
  pass_rate: Share,
  distinct_conversations: Type.Integer(),
  pass_rate_interval: Nullable(Interval),
  pass_rate_note: Nullable(text),
  failures: Type.Array(Type.Object({ reason: text, calls: Type.Integer() }), { maxItems: 5 }),
});
export type LoadFigures = Static<typeof LoadFigures>;

const Level = Type.Object({
  concurrency: Type.Integer(),
  simulation_set_id: Nullable(text),
  began_at: Nullable(Iso()),
  ended_at: Nullable(Iso()),
  figures: Nullable(LoadFigures),
});
export type LoadLevelView = Static<typeof Level>;

const kneeReasons = ['answered', 'latency', 'passed'] as const;
const Knee = Type.Object({
  concurrency: Nullable(Type.Integer({ description: 'The last level before it breaks' })),
  breaks_at: Nullable(Type.Integer()),
  because: Nullable(OneOf(kneeReasons)),
  sentence: text,
});
export type Knee = Static<typeof Knee>;

const line = {
  id: text,
  status: OneOf(loadStatuses),
  reason: Nullable(Type.String({ description: 'Why it ended before its last level' })),
  scenario_ids: Type.Array(text, { maxItems: 10 }),
  version_number: Nullable(Type.Integer()),
  phone_number: Nullable(text),
  runs_per_level: Nullable(Type.Integer()),
  seconds_per_level: Nullable(Type.Integer()),
  created_at: Iso(),
  completed_at: Nullable(Iso()),
};
export const LoadAnswer = Testing({
  ...line,
  levels: Type.Array(Level, { maxItems: mostLevels }),
  knee: Nullable(Knee),
});
export type LoadView = Static<typeof LoadAnswer>;
export const LoadStarted = Testing({
  load_id: text,
  status: Type.Literal('RUNNING'),
  levels: Type.Array(Type.Integer(), { maxItems: mostLevels }),
  created_at: Iso(),
});
export const LoadList = Testing({ loads: Type.Array(Type.Object(line)), total_count: Type.Integer() });
export const LoadQuery = PageQuery(100, 50);
export const LoadPath = PathId('id', 'Id of the load');
export const LoadCancelled = Testing({ id: text, cancelled_runs: Type.Integer() });
