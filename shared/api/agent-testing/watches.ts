/** Production calls that are judged as they end (contract 6.17). */
import { type Static, Type } from 'typebox';
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
import { AssertionCreate, AssertionResultView, AssertionView } from './assertions.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();
const Share = Nullable(Type.Number());
const int32 = 2_147_483_647;

export const mostVersions = 20;

const writable = {
  name: Text(1, 200),
  assertions: List(AssertionCreate, 1, 20),
  sample_rate: Optional(
    Type.Number({
      minimum: 0.0001,
      maximum: 1,
      description: 'Share of the calls that are judged; default: 1',
    }),
  ),
  calls_per_day: Optional(Integer(1, 10_000, 'Most calls judged in a UTC day; default: 200')),
  model_tokens_per_day: Optional(
    Integer(0, int32, 'Most tokens of the judge in a UTC day; default: 500,000'),
  ),
  drift_min_calls: Optional(
    Integer(5, 1000, 'Distinct calls of a version before it is compared; default: 20'),
  ),
  enabled: Optional(Type.Boolean({ description: 'Default: true' })),
};
export const WatchCreate = Closed({
  ...writable,
  pathway_id: Optional(Uuid()),
  persona_id: Optional(Uuid()),
  phone_number: Optional(PhoneNumber()),
});
export type WatchCreate = Static<typeof WatchCreate>;
export const WatchUpdate = Closed({
  ...writable,
  name: Optional(writable.name),
  assertions: Optional(writable.assertions),
});
export type WatchUpdate = Static<typeof WatchUpdate>;

const watchedStatuses = ['PASSED', 'FAILED', 'INCONCLUSIVE', 'ERROR'] as const;
export type WatchedStatus = (typeof watchedStatuses)[number];

const VersionShare = Type.Object({
  version: Nullable(Type.Integer({ description: 'Of the pathway; null: of a persona' })),
  calls: Type.Integer({ description: 'That passed or failed' }),
  passed: Type.Integer(),
  failed: Type.Integer(),
  undecided: Type.Integer(),
  pass_rate: Share,
  distinct_conversations: Type.Integer(),
  pass_rate_interval: Nullable(Interval),
  pass_rate_note: Nullable(text),
  first_at: Iso(),
  last_at: Iso(),
});
export type VersionShare = Static<typeof VersionShare>;

const Compared = {
  version: Nullable(Type.Integer()),
  good_version: Nullable(Type.Integer()),
  difference: Type.Number(),
  interval: Interval,
};
export const WatchAlarm = Type.Object({ ...Compared, raised_at: Iso() });
export type WatchAlarm = Static<typeof WatchAlarm>;

const line = {
  id: text,
  name: text,
  pathway_id: Nullable(text),
  persona_id: Nullable(text),
  phone_number: Nullable(text),
  assertions: Type.Array(AssertionView, { maxItems: 20 }),
  sample_rate: Type.Number(),
  calls_per_day: Type.Integer(),
  model_tokens_per_day: Type.Integer(),
  drift_min_calls: Type.Integer(),
  enabled: Type.Boolean(),
  today: Type.Object({
    judged: Type.Integer(),
    skipped: Type.Integer({ description: 'Sampled, and not judged because the budget of the day was spent' }),
    model_tokens: Type.Integer({ description: 'Estimated' }),
  }),
  alarm: Nullable(WatchAlarm),
  created_at: Iso(),
  updated_at: Iso(),
};
export const WatchAnswer = Testing({
  ...line,
  versions: Type.Array(VersionShare, { maxItems: mostVersions }),
  drift: Type.Object({
    state: OneOf(['ok', 'drifted', 'unknown']),
    compared: Nullable(Type.Object(Compared)),
  }),
});
export const WatchLineAnswer = Testing(line);
export const WatchList = Testing({ watches: Type.Array(Type.Object(line), { maxItems: 50 }) });
export type WatchLine = Static<typeof WatchList>['watches'][number];
export const WatchPath = PathId('id', 'Id of the watch');

export const WatchedQuery = Type.Object({
  status: Optional(OneOf(watchedStatuses)),
  version: Optional(Type.Integer({ minimum: 0, maximum: int32 })),
  limit: Optional(Type.Integer({ minimum: 1, maximum: 50, default: 20 })),
  offset: Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 })),
});
const WatchedCall = Type.Object({
  call_id: text,
  version: Nullable(Type.Integer()),
  status: OneOf(watchedStatuses),
  reasoning: text,
  assertion_results: Type.Array(AssertionResultView, { maxItems: 20 }),
  ended_at: Iso(),
  judged_at: Iso(),
});
export type WatchedCall = Static<typeof WatchedCall>;
export const WatchedList = Testing({ calls: Type.Array(WatchedCall), total_count: Type.Integer() });
export const WatchedPath = Type.Object({
  id: Type.String({ maxLength: 255 }),
  call_id: Type.String({ maxLength: 255 }),
});
export const WatchedScenario = Closed({
  name: Optional(Text(1, 200)),
  scenario_type: Optional(
    OneOf(
      ['REPLAY', 'AGENT'],
      "REPLAY: the caller's lines and keys; AGENT: its goal and facts. Default: REPLAY",
    ),
  ),
});
export type WatchedScenario = Static<typeof WatchedScenario>;
