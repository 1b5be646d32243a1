import type { TraceMessage } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { CollectedTrace } from './trace-collector.ts';

/** Maximum characters of messages per report; JSON needs up to twelve for one, including the start line. */
const maxTraceCharacters = 1_000_000;

/**
 * Splits a trace into reports below the largest frame that control takes: a report too large for control would block the outbox
 * permanently.
 */
export function traceBodies({ callId, messages, truncated }: CollectedTrace): ReportBody[] {
  const parts: TraceMessage[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const message of messages) {
    characters += message.raw.length;
    const last = parts.at(-1);
    if (last && characters <= maxTraceCharacters) last.push(message);
    else {
      parts.push([message]);
      characters = message.raw.length;
    }
  }
  return parts.map((part) => ({ type: 'trace', call_id: callId, messages: part, truncated }));
}
