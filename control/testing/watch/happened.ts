/** What an agent did on a production call, by the facts beside the lines of its transcript. Pure. */
import { Value } from 'typebox/value';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import { TranscriptFact } from '#shared/edge-protocol/transcript-facts.ts';
import type { RecordedToolCall, RecordedWebhook } from '../judging/ports.ts';
import { formerFact } from './former-lines.ts';

/** A line with what happened; null: nothing but what it says, or a kind of fact that a later version has. */
export interface Noted {
  readonly entry: TranscriptEntry;
  readonly fact: TranscriptFact | null;
}

export function notedIn(entries: readonly TranscriptEntry[]): Noted[] {
  return entries.map((entry) => {
    const { fact } = entry;
    if (fact === undefined) return { entry, fact: formerFact(entry) };
    return { entry, fact: Value.Check(TranscriptFact, fact) ? fact : null };
  });
}

/** The words of a line that the caller can have heard. */
export function heardOf({ entry, fact }: Noted): string {
  return fact?.kind === 'cut_off' ? (fact.heard ?? entry.text) : entry.text;
}

export interface ToolUse {
  readonly call: RecordedToolCall;
  /** Whether it is known how it ended. */
  readonly ended: boolean;
}

export function toolUsesIn(noted: readonly Noted[]): ToolUse[] {
  const found: ToolUse[] = [];
  for (const { entry, fact } of noted) {
    const last = found.at(-1);
    if (fact?.kind === 'tool_used') {
      const { at, node_id } = entry;
      const call = { name: fact.name, node_id, input: undefined, ok: false, result: undefined, at };
      found.push({ call: { ...call, mocked: false }, ended: false });
    } else if (fact?.kind === 'tool_ended' && last && !last.ended)
      found.splice(-1, 1, { call: { ...last.call, ok: fact.ok }, ended: true });
  }
  return found;
}

/** Those that were answered, or that failed; what was sent where is not recorded. */
export function webhookCallsIn(noted: readonly Noted[]): RecordedWebhook[] {
  return noted.flatMap(({ entry: { at, node_id }, fact }) => {
    if (fact?.kind !== 'webhook_answered' || node_id === null) return [];
    return [{ node_id, url: '', method: '', status_code: fact.status, at, body: null, mocked: false }];
  });
}
