/** The quality of a call and the turns of its conversation (contract 3.4). */
import { CallQuality, CallQualityQuery, CallTimeline, CallTimelineQuery } from '#shared/api/call-quality.ts';
import { plain } from '#shared/api/common.ts';
import { LoggedCallPath } from '#shared/api/sip-calls.ts';
import { mostSampledMs, mostTurns } from '#shared/edge-protocol/measured.ts';
import type { CallRow } from '../db/index.ts';
import { type App, nextAfter, orgOf } from '../http/index.ts';
import type { CallDeps } from './deps.ts';
import { requireCall } from './logged-call.ts';
import { qualitySample, turnsOf } from './measured-rules.ts';
import { findMarks, findQuality } from './measured-store.ts';

const defaultPage = 100;

export function measuredRoutes(app: App, { database: { db }, clock }: CallDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/sip/calls/:call_id/quality',
    config: { access: 'read', errors: ['CALL_NOT_FOUND'] },
    schema: {
      summary: 'The quality of a call, every 5 seconds, also while it is in progress',
      params: LoggedCallPath,
      querystring: CallQualityQuery,
      response: { 200: CallQuality },
    },
    handler: async (request) => {
      const call = await requireCall(db, orgOf(request), request.params.call_id);
      const { after_ms: after = -1 } = request.query;
      const { items, receivedAt } = await findQuality(db, call.id);
      return plain({
        ...measuredCall(call, receivedAt, clock.now()),
        truncated: lengthOf(call, clock.now()) > mostSampledMs,
        samples: items.filter(([at]) => at > after).map(qualitySample),
      });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sip/calls/:call_id/timeline',
    config: { access: 'read', errors: ['CALL_NOT_FOUND'] },
    schema: {
      summary: 'The turns of a conversation: what was heard, understood and said when',
      params: LoggedCallPath,
      querystring: CallTimelineQuery,
      response: { 200: CallTimeline },
    },
    handler: async (request) => {
      const call = await requireCall(db, orgOf(request), request.params.call_id);
      const { after = -1, limit = defaultPage } = request.query;
      const { items, receivedAt } = await findMarks(db, call.id, after + 1, limit);
      const turns = turnsOf(items).slice(0, limit);
      return plain({
        ...measuredCall(call, receivedAt, clock.now()),
        truncated: turns.at(-1)?.turn === mostTurns - 1,
        turns,
        next: nextAfter(turns, limit, ({ turn }) => String(turn)),
      });
    },
  });
}

function lengthOf({ started_at, ended_at }: CallRow, now: number): number {
  return (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at);
}

function measuredCall({ id, started_at, ended_at }: CallRow, reported_at: string | null, now: number) {
  const isLive = ended_at === null && reported_at !== null;
  return {
    id,
    started_at,
    ended_at,
    reported_at,
    age_ms: isLive ? Math.max(0, now - Date.parse(reported_at)) : null,
  };
}
