/**
 * The facts behind lines of transcripts that edges reported before lines carried facts, as those versions worded them. Once
 * edges of such versions are not supported, this file can go.
 */
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { TranscriptFact } from '#shared/edge-protocol/transcript-facts.ts';

const formers: readonly (readonly [RegExp, (group: string) => TranscriptFact])[] = [
  [/^Uses the tool (.*)$/s, (name) => ({ kind: 'tool_used', name })],
  [
    /^the tool (?:"[^"]*" )?(succeeded|failed)\b/s,
    (how) => ({ kind: 'tool_ended', ok: how === 'succeeded' }),
  ],
  [
    /^the webhook answered (.*)$/s,
    (answer) => ({
      kind: 'webhook_answered',
      status: /^\d{3}$/.test(answer) ? Number(answer) : null,
    }),
  ],
  [/^Lines (?:of this transcript )?are left out\b/, () => ({ kind: 'lines_left_out' })],
];

export function formerFact({ text, user }: TranscriptEntry): TranscriptFact | null {
  if (user !== 'agent-action') return null;
  for (const [pattern, fact] of formers) {
    const match = pattern.exec(text);
    if (match) return fact(match[1] ?? '');
  }
  return null;
}
