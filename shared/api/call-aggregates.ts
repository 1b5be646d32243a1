/** How many calls there were, how many were answered, how long they took and how they sounded (contract 3.4). */
import { type Static, Type } from 'typebox';
import { Integer, Iso, NextPage, Nullable, OneOf, Plain, Text } from '#shared/api/common.ts';

const Optional = Type.Optional;
const count = (description: string) => Type.Integer({ description });
const percentile = (percent: string) =>
  Type.Number({ description: `${percent} of the measured calls have this MOS or less` });

export const CallAggregatesQuery = Type.Object({
  by: Optional(OneOf(['hour', 'day'], 'Length of a period, in UTC; hour by default')),
  per: Optional(
    OneOf(
      ['trunk', 'all'],
      'An entry for each trunk of a period, or one for all its calls; trunk by default',
    ),
  ),
  from_date: Optional(Text(1, 40, 'Date or ISO time: its period is the first one')),
  to_date: Optional(Text(1, 40, 'ISO time, exclusive; a bare date includes its day')),
  trunk_id: Optional(Text(1, 64, 'Only calls of this configuration')),
  direction: Optional(OneOf(['inbound', 'outbound'], 'Only calls of this direction')),
  limit: Optional(Integer(1, 500, 'Most entries of a page; default: 100')),
  after: Optional(Text(1, 100, 'next of the previous page')),
});
export type CallAggregatesQuery = Static<typeof CallAggregatesQuery>;

export const CallAggregate = Type.Object({
  period: Type.Unsafe<string>({ ...Iso(), description: 'Start of the period in which the calls began' }),
  trunk_id: Nullable(
    Type.String({ description: 'Configuration that the calls used; null: none, or all with per=all' }),
  ),
  calls: count('Ended calls'),
  answered: count('Those that were answered'),
  asr_percent: Type.Number({ description: 'Answer-seizure ratio: answered of all calls' }),
  talk_seconds: Type.Number({ description: 'All answered calls together, from the answer to the end' }),
  acd_seconds: Nullable(
    Type.Number({ description: 'Average call duration of the answered ones; null: none was answered' }),
  ),
  measured: count('Calls with a MOS'),
  mos: Nullable(
    Type.Object(
      {
        p1: percentile('1 %'),
        p5: percentile('5 %'),
        p25: percentile('25 %'),
        p50: percentile('Half'),
        p75: percentile('75 %'),
        p95: percentile('95 %'),
      },
      { description: 'By nearest rank; null: no call was measured' },
    ),
  ),
});
export type CallAggregate = Static<typeof CallAggregate>;

export const CallAggregates = Plain(
  Type.Object({
    complete: Type.Boolean({
      description: 'False while the calls of a version without aggregates are being counted, newest first',
    }),
    aggregates: Type.Array(CallAggregate, { description: 'Oldest first, then by trunk' }),
    next: NextPage('after'),
  }),
);
