/** The border of the simulated caller: what it hears, and what it does. */
import type { Evaluator } from '#shared/agent/interfaces.ts';
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import type { ChatLine } from '../judging/ports.ts';

/** What a caller does when it is its turn. */
export type CallerMove =
  | {
      readonly type: 'say';
      readonly text: string;
      /** Why the caller hangs up once the agent has answered this; absent: it stays. */
      readonly leaves?: string;
    }
  /** One complete entry of keys. */
  | { readonly type: 'keys'; readonly keys: string }
  | { readonly type: 'silence' }
  /** Without a word. */
  | { readonly type: 'hangup'; readonly reason: string };

/** What a caller knows: nothing but what was said. */
export interface CallerView {
  readonly history: readonly ChatLine[];
  /** The agent's lines since the caller's last move. */
  readonly heard: readonly string[];
  /** Moves that are left, this one included. */
  readonly movesLeft: number;
}

/** One caller of one conversation. */
export interface Caller {
  readonly evaluator: Evaluator;
  /** Rejects with ModelUnavailable when the model behind it fails. */
  next(view: CallerView, signal: AbortSignal): Promise<CallerMove>;
}

/** What a caller is made of. */
export type CallerBrief = Pick<
  Scenario,
  | 'category'
  | 'tester_persona_prompt'
  | 'tester_persona_name'
  | 'advanced_instructions'
  | 'input_messages'
  | 'metadata'
>;
