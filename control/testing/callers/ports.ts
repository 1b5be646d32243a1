/** The interface of the simulated caller: what it hears, and what it does. */
import type { Evaluator } from '#shared/agent/interfaces.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import type { ChatLine } from '../judging/ports.ts';

/** A caller's move. */
export type CallerMove =
  | {
      readonly type: 'say';
      readonly text: string;
      /** Why the caller hangs up after the agent's next answer; absent: it stays. */
      readonly leaves?: string;
    }
  /** One complete entry of keys. */
  | { readonly type: 'keys'; readonly keys: string; readonly leaves?: string }
  | { readonly type: 'silence'; readonly leaves?: string }
  /** Without last words. */
  | { readonly type: 'hangup'; readonly reason: string };

/** What a caller knows: only what was said. */
export interface CallerView {
  readonly history: readonly ChatLine[];
  /** The agent's lines since the caller's last move. */
  readonly heard: readonly string[];
  /** Moves left, including this one. */
  readonly movesLeft: number;
}

/** One caller of one conversation. */
export interface Caller {
  readonly evaluator: Evaluator;
  /** Rejects with ModelUnavailable when its model fails. */
  next(view: CallerView, signal: AbortSignal): Promise<CallerMove>;
}

/** The definition of a caller. */
export type CallerBrief = Pick<
  Scenario,
  | 'category'
  | 'tester_persona_prompt'
  | 'tester_persona_name'
  | 'advanced_instructions'
  | 'input_messages'
  | 'metadata'
>;
