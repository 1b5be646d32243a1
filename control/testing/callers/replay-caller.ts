/**
 * Repeats the caller's moves of an earlier conversation, in order (contract 6.1 REPLAY): its lines verbatim, and `Pressed
 * 12#` and `(silence)`, as transcripts have them.
 */
import type { Evaluator } from '#shared/agent/interfaces.ts';
import type { Caller, CallerBrief, CallerMove } from './ports.ts';

export const replayEvaluator: Evaluator = { provider: 'embedded', model: 'replay', deterministic: true };

export function replayCaller({ input_messages }: CallerBrief): Caller {
  const lines = (input_messages ?? []).filter(({ role }) => role === 'user').map(({ content }) => content);
  let next = 0;
  return {
    evaluator: replayEvaluator,
    next: async () => {
      const text = lines[next++];
      if (text === undefined) return { type: 'hangup', reason: 'All recorded lines were said.' };
      const move = moveOf(text);
      return next < lines.length ? move : { ...move, leaves: 'All recorded lines were said.' };
    },
  };
}

function moveOf(text: string): Exclude<CallerMove, { type: 'hangup' }> {
  const keys = /^Pressed ([0-9*#]{1,64})$/.exec(text)?.[1];
  if (keys !== undefined) return { type: 'keys', keys };
  return text === '(silence)' ? { type: 'silence' } : { type: 'say', text };
}
