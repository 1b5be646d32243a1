/** Rules of widgets and their threads: pure decisions (contract section 7). */
import type { WidgetConfig, WidgetConfigWrite, WidgetCreate, WidgetUpdate } from '#shared/api/widgets.ts';
import { ApiError } from '#shared/errors.ts';
import type { WidgetMessageRow, WidgetRow, WidgetThreadRow } from '../db/index.ts';

export const defaultConfig: WidgetConfig = {
  timeoutSeconds: 86_400,
  greeting: null,
  blockedWords: [],
  allowedOrigins: [],
  voice: false,
};

const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** On widget paths a malformed id is a bad request, not an unknown id. @throws ApiError INVALID_PARAMETER */
export function requireIds(params: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(params)) {
    if (!idForm.test(value)) throw ApiError.invalid(`:${name}`, 'must be a uuid in lower case');
  }
}

/** @throws ApiError INVALID_PARAMETER unless there is exactly one agent */
export function checkSource({
  pathway_id,
  persona_id,
  pathway_version,
}: Pick<WidgetCreate, 'pathway_id' | 'persona_id' | 'pathway_version'>): void {
  if ((pathway_id === undefined) === (persona_id === undefined)) {
    throw ApiError.invalid('/pathway_id', 'give exactly one of pathway_id and persona_id');
  }
  if (persona_id !== undefined && pathway_version !== undefined) {
    throw ApiError.invalid('/pathway_version', 'belongs to pathway_id');
  }
}

type Source = Pick<WidgetRow, 'pathway_id' | 'persona_id' | 'pathway_version'>;

/**
 * The agent after an update: a pathway replaces a persona, and vice versa.
 * @throws ApiError INVALID_PARAMETER
 */
export function changedSource(stored: Source, update: WidgetUpdate): Partial<Source> {
  const { pathway_id, persona_id, pathway_version } = update;
  if (pathway_id !== undefined || persona_id !== undefined) {
    checkSource(update);
    if (persona_id !== undefined) return { persona_id, pathway_id: null, pathway_version: null };
    const kept = pathway_id === stored.pathway_id ? stored.pathway_version : null;
    return {
      pathway_id: pathway_id ?? null,
      persona_id: null,
      pathway_version: String(pathway_version ?? kept ?? 'production'),
    };
  }
  if (pathway_version === undefined) return {};
  if (stored.pathway_id === null) throw ApiError.invalid('/pathway_version', 'belongs to pathway_id');
  return { pathway_version: String(pathway_version) };
}

/**
 * The configuration, merged with the previous one or the defaults. @throws ApiError INVALID_PARAMETER for an invalid
 * origin
 */
export function acceptConfig(
  config: WidgetConfigWrite = {},
  before: WidgetConfig = defaultConfig,
): WidgetConfig {
  for (const [index, origin] of (config.allowedOrigins ?? []).entries()) {
    if (!isOrigin(origin)) {
      throw ApiError.invalid(
        `/config/allowedOrigins/${index}`,
        'must be * or an origin as browsers write it, such as https://www.example.com',
      );
    }
  }
  return { ...before, ...config };
}

function isOrigin(text: string): boolean {
  if (text === '*') return true;
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** @param origin of the request; undefined when its header is missing */
export function isAllowedOrigin({ allowedOrigins }: WidgetConfig, origin: string | undefined): boolean {
  return origin !== undefined && (allowedOrigins.includes('*') || allowedOrigins.includes(origin));
}

/** When a thread ended, including a time-out not yet swept. @param now ISO */
export function endOf(thread: Pick<WidgetThreadRow, 'ended_at' | 'ends_at'>, now: string): string | null {
  if (thread.ended_at !== null) return thread.ended_at;
  return thread.ends_at <= now ? thread.ends_at : null;
}

/**
 * The agent's input: the visitor's unanswered messages, for example after a model failure. A resent message counts
 * once. What was spoken was answered in the call.
 */
export function unansweredText(
  messages: readonly Pick<WidgetMessageRow, 'call_id' | 'content' | 'number' | 'sender_type'>[],
  answeredCount: number,
): string {
  const waiting = messages.filter(
    (one) => one.sender_type === 'USER' && one.number > answeredCount && one.call_id === null,
  );
  return [...new Set(waiting.map((message) => message.content))].join('\n');
}
