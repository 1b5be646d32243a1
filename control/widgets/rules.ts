/** What widgets and their threads may be: pure decisions (contract section 7). */
import type { WidgetConfig, WidgetConfigWrite, WidgetCreate } from '#shared/api/widgets.ts';
import { ApiError } from '#shared/errors.ts';
import type { WidgetMessageRow, WidgetThreadRow } from '../db/tables.ts';

const defaults: WidgetConfig = {
  timeoutSeconds: 86_400,
  greeting: null,
  blockedWords: [],
  allowedOrigins: [],
};

const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** On widget paths a malformed id is a bad request, not an unknown one. @throws ApiError INVALID_PARAMETER */
export function requireIds(params: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(params)) {
    if (!idForm.test(value)) throw ApiError.invalid(`:${name}`, 'must be a uuid in lower case');
  }
}

/** @throws ApiError INVALID_PARAMETER unless there is exactly one who answers */
export function checkSource({ pathway_id, persona_id, pathway_version }: WidgetCreate): void {
  if ((pathway_id === undefined) === (persona_id === undefined)) {
    throw ApiError.invalid('/pathway_id', 'give exactly one of pathway_id and persona_id');
  }
  if (persona_id !== undefined && pathway_version !== undefined) {
    throw ApiError.invalid('/pathway_version', 'belongs to pathway_id');
  }
}

/** The configuration with its defaults. @throws ApiError INVALID_PARAMETER for what is no origin */
export function acceptConfig(config: WidgetConfigWrite = {}): WidgetConfig {
  for (const [index, origin] of (config.allowedOrigins ?? []).entries()) {
    if (!isOrigin(origin)) {
      throw ApiError.invalid(
        `/config/allowedOrigins/${index}`,
        'must be * or an origin as browsers write it, such as https://www.example.com',
      );
    }
  }
  return { ...defaults, ...config };
}

function isOrigin(text: string): boolean {
  if (text === '*') return true;
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** @param origin of the request; undefined when its header is missing */
export function isAllowedOrigin({ allowedOrigins }: WidgetConfig, origin: string | undefined): boolean {
  return origin !== undefined && (allowedOrigins.includes('*') || allowedOrigins.includes(origin));
}

/** When a thread ended, its time-out included even when no sweep has come by yet. @param now ISO */
export function endOf(thread: Pick<WidgetThreadRow, 'ended_at' | 'ends_at'>, now: string): string | null {
  if (thread.ended_at !== null) return thread.ended_at;
  return thread.ends_at <= now ? thread.ends_at : null;
}

/**
 * What the agent is told: the visitor's messages that it has not answered yet, as after a failure of the model.
 * A message that was sent again is told once.
 */
export function unansweredText(
  messages: readonly Pick<WidgetMessageRow, 'content' | 'number' | 'sender_type'>[],
  answeredCount: number,
): string {
  const waiting = messages.filter((one) => one.sender_type === 'USER' && one.number > answeredCount);
  return [...new Set(waiting.map((message) => message.content))].join('\n');
}
