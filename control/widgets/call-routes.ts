/** POST /v1/widget/{id}/threads/{thread_id}/call: what a visitor's page needs to call the widget's agent (contract 7.5). */
import { NoMembers } from '#shared/api/common.ts';
import { ThreadCallAnswer, ThreadPath, widgetAnswer } from '#shared/api/widgets.ts';
import { ApiError } from '#shared/errors.ts';
import { longestPhoneCaller } from '#shared/phone-session.ts';
import { actorOf } from '../audit/index.ts';
import { fromJson, type WidgetRow } from '../db/index.ts';
import { type App, keepAnswer } from '../http/index.ts';
import { isoTime } from '../organizations/index.ts';
import { agentTarget, createPhoneSession } from '../phone-sessions/index.ts';
import { agentErrors } from './agent-check.ts';
import { countCalls, insertCall } from './calls-store.ts';
import type { WidgetDeps } from './deps.ts';
import { endOf, isAllowedOrigin, requireIds } from './rules.ts';
import type { WidgetParts } from './start.ts';
import { findThread } from './store.ts';
import { configOf, versionView } from './views.ts';
import { requireOwnThread, requireWidget } from './visitors.ts';

/** A page calls as soon as it has its session. */
const expiresInS = 60;

export function callRoutes(app: App, services: WidgetDeps, { metrics, visitors }: WidgetParts): void {
  const { clock, database } = services;
  const { db } = database;
  app.route({
    method: 'POST',
    url: '/v1/widget/:id/threads/:thread_id/call',
    config: {
      access: 'member',
      admits: visitors.admits,
      atomic: true,
      errors: [
        'WIDGET_NOT_FOUND',
        'THREAD_NOT_FOUND',
        'THREAD_ENDED',
        'VOICE_DISABLED',
        'ORIGIN_NOT_ALLOWED',
        ...agentErrors,
        'QUOTA_EXCEEDED',
        'SERVICE_UNAVAILABLE',
      ],
    },
    schema: {
      summary: 'Credentials for one call to the widget’s agent; what is said becomes messages of the thread',
      params: ThreadPath,
      body: NoMembers,
      response: { 200: ThreadCallAnswer },
    },
    handler: async (request, reply) => {
      const { params, visitor } = request;
      requireIds(params);
      const widget = await requireWidget(db, request, params.id);
      requireOwnThread(request, params.thread_id);
      const config = configOf(widget);
      if (visitor && !isAllowedOrigin(config, request.headers.origin))
        throw ApiError.of('ORIGIN_NOT_ALLOWED');
      const thread = await findThread(db, widget.id, params.thread_id);
      if (!thread) throw ApiError.of('THREAD_NOT_FOUND');
      if (!config.voice || thread.live_agent_handoff_at !== null) throw ApiError.of('VOICE_DISABLED');
      if (endOf(thread, isoTime(clock)) !== null) throw ApiError.of('THREAD_ENDED');
      if (visitor) await visitors.limitCalls(request, reply, widget.id);
      visitors.requireRoomForCall(await countCalls(db, widget.id, isoTime(clock)));
      const { variables } = fromJson<{ variables: Record<string, unknown> }>(thread.facts);
      const target = await agentTarget(db, widget.org_id, agentOf(widget), {
        request_data: variables,
        ...(config.greeting !== null && { first_sentence: config.greeting }),
      });
      const order = {
        orgId: widget.org_id,
        target,
        caller: callerOf(widget),
        purpose: `thread ${thread.id}`,
        calls: 1,
        expiresInS,
        actor: actorOf(request),
      };
      const answer = await createPhoneSession(services, order, async (trx, { row, credentials }) => {
        // Of those that come at once, each is counted.
        visitors.requireRoomForCall(await countCalls(trx, widget.id, isoTime(clock)));
        await insertCall(trx, {
          session_id: row.id,
          widget_id: widget.id,
          thread_id: thread.id,
          copied_part: 0,
          expires_at: row.expires_at,
        });
        const { id: phone_session_id, expires_at } = row;
        return keepAnswer(trx, request, widgetAnswer({ phone_session_id, credentials, expires_at }));
      });
      metrics.callAllowed();
      return answer;
    },
  });
}

function agentOf({ pathway_id, pathway_version, persona_id }: WidgetRow) {
  if (pathway_id === null) return { persona_id: persona_id ?? '' };
  return { pathway_id, pathway_version: versionView(pathway_version) ?? 'production' };
}

/** Shown as the caller in the call log, on one line. */
function callerOf({ name }: WidgetRow): string {
  return `Visitor, ${name.replace(/[\s\p{Cc}]+/gu, ' ').trim()}`.slice(0, longestPhoneCaller).trim();
}
