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
import { described } from '#shared/described.ts';
import { Interval } from './analytics.ts';
import { AssertionCreate, AssertionResultView, AssertionView } from './assertions.ts';
import { Testing } from './wrapping.ts';

const Optional = Type.Optional;
const text = Type.String();
const Share = Nullable(Type.Number());
const int32 = 2_147_483_647;

export const mostVersions = 20;

const writable = {
  name: Text(1, 200, 'Name of the watch'),
  assertions: List(AssertionCreate, 1, 20, 'What decides whether a call went well'),
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
  enabled: Optional(Type.Boolean({ description: 'Whether calls are judged; default: true' })),
};
export const WatchCreate = Closed({
  ...writable,
  pathway_id: Optional(Uuid('Calls of this pathway')),
  persona_id: Optional(Uuid('Calls of this persona')),
  phone_number: Optional(PhoneNumber('Calls of this number')),
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
  passed: Type.Integer({ description: 'Calls that passed' }),
  failed: Type.Integer({ description: 'Calls that failed' }),
  undecided: Type.Integer({ description: 'Calls that were not decided' }),
  pass_rate: described(Share, 'Share of `calls` that passed, 0 to 1; null: none'),
  distinct_conversations: Type.Integer({
    description: 'Calls in which the same was said at the same nodes count once',
  }),
  pass_rate_interval: Nullable(
    Interval,
    'Wilson interval of the pass rate, 95 %, over distinct conversations; null: fewer than two',
  ),
  pass_rate_note: Nullable(text, 'Why there is no interval; null: there is one'),
  first_at: Iso('When the first of its calls ended'),
  last_at: Iso('When the last of its calls ended'),
});
export type VersionShare = Static<typeof VersionShare>;

const Compared = {
  version: Nullable(Type.Integer(), 'Version that was called last; null: a persona, which has none'),
  good_version: Nullable(Type.Integer(), 'The last good version before it; null: there is none'),
  difference: Type.Number({ description: 'Pass rate minus that of the good version' }),
  interval: described(Interval, 'Newcombe interval of the difference, 95 %'),
};
export const WatchAlarm = Type.Object({ ...Compared, raised_at: Iso('When the alarm was raised') });
export type WatchAlarm = Static<typeof WatchAlarm>;

const line = {
  id: Type.String({ description: 'Id of the watch' }),
  name: Type.String({ description: 'Its name' }),
  pathway_id: Nullable(text, 'Calls of this pathway; null: of any'),
  persona_id: Nullable(text, 'Calls of this persona; null: of any'),
  phone_number: Nullable(text, 'Calls of this number; null: of any'),
  assertions: Type.Array(AssertionView, { maxItems: 20, description: 'In their order' }),
  sample_rate: Type.Number({ description: 'Share of the calls that are judged' }),
  calls_per_day: Type.Integer({ description: 'Most calls judged in a UTC day' }),
  model_tokens_per_day: Type.Integer({ description: 'Most tokens of the judge in a UTC day' }),
  drift_min_calls: Type.Integer({ description: 'Distinct calls of a version before it is compared' }),
  enabled: Type.Boolean({ description: 'Whether calls are judged' }),
  today: Type.Object(
    {
      judged: Type.Integer({ description: 'Calls that were judged' }),
      skipped: Type.Integer({
        description: 'Sampled, and not judged because the budget of the day was spent',
      }),
      model_tokens: Type.Integer({ description: 'Estimated' }),
    },
    { description: 'The UTC day so far' },
  ),
  alarm: Nullable(WatchAlarm, 'The open alarm; null: there is none'),
  created_at: Iso('When it was created'),
  updated_at: Iso('When it was changed last'),
};
export const WatchAnswer = Testing({
  ...line,
  versions: Type.Array(VersionShare, {
    maxItems: mostVersions,
    description: 'The version that was called last first',
  }),
  drift: Type.Object(
    {
      state: OneOf(['ok', 'drifted', 'unknown'], 'unknown: too few calls, or no earlier version'),
      compared: Nullable(Type.Object(Compared), 'The comparison; null: there is none'),
    },
    { description: 'The version that was called last against the last good one' },
  ),
});
export const WatchLineAnswer = Testing(line);
export const WatchList = Testing({
  watches: Type.Array(Type.Object(line), { maxItems: 50, description: 'Newest first, all of them' }),
});
export type WatchLine = Static<typeof WatchList>['watches'][number];
export const WatchPath = PathId('id', 'Id of the watch');

export const WatchedQuery = Type.Object({
  status: Optional(OneOf(watchedStatuses, 'Only calls with this status')),
  version: Optional(Type.Integer({ minimum: 0, maximum: int32, description: 'Only calls of this version' })),
  limit: Optional(
    Type.Integer({ minimum: 1, maximum: 50, default: 20, description: 'Most entries of a page' }),
  ),
  offset: Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0, description: 'How many entries to skip' }),
  ),
});
const WatchedCall = Type.Object({
  call_id: Type.String({ description: 'Id of the call' }),
  version: Nullable(Type.Integer(), 'Version that answered; 0 is the live graph; null: a persona'),
  status: OneOf(watchedStatuses, 'Whether it went well'),
  reasoning: Type.String({ description: 'Why, in a sentence' }),
  assertion_results: Type.Array(AssertionResultView, {
    maxItems: 20,
    description: 'In the order of the assertions',
  }),
  ended_at: Iso('When the call ended'),
  judged_at: Iso('When it was judged'),
});
export type WatchedCall = Static<typeof WatchedCall>;
export const WatchedList = Testing({
  calls: Type.Array(WatchedCall, { description: 'Newest first' }),
  total_count: Type.Integer({ description: 'How many there are on all pages' }),
});
export const WatchedPath = Type.Object({
  id: Type.String({ maxLength: 255, description: 'Id of the watch' }),
  call_id: Type.String({ maxLength: 255, description: 'Id of the call' }),
});
export const WatchedScenario = Closed({
  name: Optional(Text(1, 200, 'Name of the scenario; default: chosen by the service')),
  scenario_type: Optional(
    OneOf(
      ['REPLAY', 'AGENT'],
      "REPLAY: the caller's lines and keys; AGENT: its goal and facts. Default: REPLAY",
    ),
  ),
});
export type WatchedScenario = Static<typeof WatchedScenario>;
