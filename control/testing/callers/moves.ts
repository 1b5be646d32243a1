/** A caller's moves as a transcript shows them, and how they end a conversation. */
import type { Ending } from '../judging/ports.ts';
import type { CallerMove } from './ports.ts';

/** Any but hanging up. */
export type SpokenMove = Exclude<CallerMove, { type: 'hangup' }>;

/** As in `chat_history`, and as a REPLAY reads it. */
export function shownMove(move: SpokenMove): string {
  if (move.type === 'say') return move.text;
  return move.type === 'keys' ? `Pressed ${move.keys}` : '(silence)';
}

/** The caller hangs up after the answer to this move; null: it stays. */
export function leaving({ leaves }: SpokenMove): Ending | null {
  return leaves === undefined ? null : { by: 'caller', reason: leaves };
}
