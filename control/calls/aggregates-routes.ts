/** GET /v1/sip/calls/aggregates: calls by hour or day and trunk (contract 3.4). */
import { type CallAggregate, CallAggregates, CallAggregatesQuery } from '#shared/api/call-aggregates.ts';
import { plain } from '#shared/api/common.ts';
import { ApiError } from '#shared/errors.ts';
import { type App, orgOf, readSpan } from '../http/index.ts';
import { type CellRow, type Position, readAggregates } from './aggregates-store.ts';
import { periodChars } from './call-sums.ts';
import type { CallDeps } from './deps.ts';
import { uncountedSince } from './earlier-calls.ts';

const defaultPage = 100;

export function aggregateRoutes(app: App, { database: { db } }: Pick<CallDeps, 'database'>): void {
  app.route({
    method: 'GET',
    url: '/v1/sip/calls/aggregates',
    config: { access: 'read', errors: ['INVALID_CURSOR'] },
    schema: {
      summary: 'How many calls there were, how many were answered, how long they took and how they sounded',
      description:
        'By hour or day in which the calls began, and trunk; oldest first. A page may have fewer entries than limit; next says whether it is the last.',
      querystring: CallAggregatesQuery,
      response: { 200: CallAggregates },
    },
    handler: async (request) => {
      const { by = 'hour', per = 'trunk', trunk_id, direction, after, limit = defaultPage } = request.query;
      const position = after === undefined ? undefined : positionOf(after);
      if (position === null) throw ApiError.of('INVALID_CURSOR', { path: '?after' });
      const { from, to } = readSpan(request.query);
      const filter = {
        orgId: orgOf(request),
        unit: by,
        byTrunk: per === 'trunk',
        ...(trunk_id !== undefined && { trunkId: trunk_id }),
        ...(direction !== undefined && { direction }),
        ...(from !== undefined && { first: from.slice(0, periodChars[by]) }),
        ...(to !== undefined && { last: lastPeriodBefore(to, by) }),
        ...(position && { after: position }),
      };
      const { cells, next } = await readAggregates(db, filter, limit);
      return plain({
        complete: (await uncountedSince(db)) === null,
        aggregates: cells.map(aggregateOf),
        next: next && `${next.period} ${next.trunk_id}`,
      });
    },
  });
}

function lastPeriodBefore(time: string, unit: keyof typeof periodChars): string {
  return new Date(Date.parse(time) - 1).toISOString().slice(0, periodChars[unit]);
}

/** The end of the page before; null: the cursor is none. */
function positionOf(text: string): Position | null {
  const [, period, trunk_id] = /^(\d{4}-\d\d-\d\d(?:T\d\d)?) (.*)$/s.exec(text) ?? [];
  return period === undefined || trunk_id === undefined ? null : { period, trunk_id };
}

function aggregateOf(row: CellRow): CallAggregate {
  const { calls, answered, measured, talk_ms } = row;
  return {
    period: `${row.period}${row.period.length === periodChars.day ? 'T00' : ''}:00:00.000Z`,
    trunk_id: row.trunk_id || null,
    calls,
    answered,
    asr_percent: Math.round((answered / calls) * 10_000) / 100,
    talk_seconds: talk_ms / 1000,
    acd_seconds: answered === 0 ? null : Math.round(talk_ms / answered) / 1000,
    measured,
    mos: measured === 0 ? null : mosOf(row),
  };
}

function mosOf({ p1, p5, p25, p50, p75, p95 }: CellRow): NonNullable<CallAggregate['mos']> {
  const of = (hundredths: number | null) => (hundredths ?? 0) / 100;
  return { p1: of(p1), p5: of(p5), p25: of(p25), p50: of(p50), p75: of(p75), p95: of(p95) };
}
