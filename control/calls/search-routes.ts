/** GET /v1/calls/transcripts: what was said in calls (contract 9.6). */
import { type FoundLine, FoundLines, TranscriptQuery } from '#shared/api/calls.ts';
import { plain } from '#shared/api/common.ts';
import { ApiError } from '#shared/errors.ts';
import { type Db, findParts, fromJson } from '../db/index.ts';
import { type App, orgOf } from '../http/index.ts';
import type { CallDeps } from './deps.ts';
import { countWords, lineWith, mostSearchWords, readPhrases } from './search-rules.ts';
import { findCall, findCallsOf, findPartOfLine } from './store.ts';

const defaultPage = 20;

export function searchRoutes(app: App, { database: { db } }: Pick<CallDeps, 'database'>): void {
  app.route({
    method: 'GET',
    url: '/v1/calls/transcripts',
    config: {
      access: 'read',
      limits: [{ scope: 'organization_searches', limit: 60, windowSeconds: 60 }],
      errors: ['INVALID_CURSOR'],
    },
    schema: {
      summary: 'Search what was said in calls, newest first',
      querystring: TranscriptQuery,
      response: { 200: FoundLines },
    },
    handler: async (request) => {
      const { query, before, limit = defaultPage } = request.query;
      const phrases = readPhrases(query);
      if (phrases.length === 0) throw ApiError.invalid('?query', 'must have a word of letters or digits');
      if (countWords(phrases) > mostSearchWords)
        throw ApiError.invalid('?query', `must have at most ${mostSearchWords} words`);
      const orgId = orgOf(request);
      const last = before === undefined ? Number.MAX_SAFE_INTEGER : await cursorOf(db, orgId, before);
      const parts = await findParts(db, orgId, phrases, last, limit);
      const calls = await findCallsOf(db, orgId, [...new Set(parts.map(({ call_id }) => call_id))]);
      const lines = parts.flatMap(({ call_id, entries }): FoundLine[] => {
        const call = calls.get(call_id);
        const line = lineWith(fromJson(entries), phrases);
        if (!call || !line) return [];
        return [
          {
            id: `${call_id}:${line.id}`,
            call_id,
            created_at: line.at,
            user: line.user,
            text: line.text,
            direction: call.direction,
            from: call.from_number,
            to: call.to_number,
            started_at: call.started_at,
          },
        ];
      });
      const next = parts.length < limit ? null : (lines.at(-1)?.id ?? null);
      return plain({ lines, next });
    },
  });
}

/** The part that a page ended with. @throws ApiError INVALID_CURSOR */
async function cursorOf(db: Db, orgId: string, before: string): Promise<number> {
  const [callId = '', lineId = ''] = before.split(/:(.*)/s);
  const call = await findCall(db, orgId, callId);
  const part = call && (await findPartOfLine(db, call.id, lineId));
  if (part === undefined) throw ApiError.of('INVALID_CURSOR', { path: '?before' });
  return part;
}
