/** Tools and runs as the API shows them. */
import type { Tool, ToolLog } from '#shared/api/tools.ts';
import type { SecretBox, ToolRow, ToolRunRow } from '../db/index.ts';
import { draftOf, toolIdOf } from './store.ts';

export function toolView(secrets: SecretBox, row: ToolRow): Tool {
  const { response_data, ...draft } = draftOf(secrets, row);
  return {
    id: toolIdOf(row.id),
    ...draft,
    response_data: response_data && [...response_data],
    is_active: true,
    is_draft: false,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

export function logView(row: ToolRunRow): ToolLog {
  const { id, started_at, source, conversation_id, status_code, duration_ms, attempts, error } = row;
  return {
    id,
    started_at,
    source,
    conversation_id,
    success: row.success === 1,
    cached: row.cached === 1,
    status_code,
    duration_ms,
    attempts,
    error,
  };
}

export function pagination(page: number, limit: number, total: number) {
  const hasMore = page * limit < total;
  return { page, limit, hasMore, nextPage: hasMore ? page + 1 : null };
}
