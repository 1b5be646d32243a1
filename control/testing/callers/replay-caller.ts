/** Says the caller's lines of an earlier conversation, verbatim and in order (contract 6.1 REPLAY). */
import type { Evaluator } from '#shared/agent/interfaces.ts';
import type { Caller, CallerBrief } from './ports.ts';

export const replayEvaluator: Evaluator = { provider: 'embedded', model: 'replay', deterministic: true };

export function replayCaller({ input_messages }: CallerBrief): Caller {
  const lines = (input_messages ?? []).filter(({ role }) => role === 'user').map(({ content }) => content);
  let next = 0;
  return {
    evaluator: replayEvaluator,
    next: async () => {
      const text = lines[next++];
      if (text === undefined) return { type: 'hangup', reason: 'All recorded lines were said.' };
      return next < lines.length
        ? { type: 'say', text }
        : { type: 'say', text, leaves: 'All recorded lines were said.' };
    },
  };
}
