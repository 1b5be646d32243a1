import type { CallMachine, CallState, SetupAction } from '../call-state.ts';

/** How a call comes about in one direction, up to the answer. */
export interface Setup {
  readonly machine: CallMachine;
  /** The state in which the call begins. */
  readonly first: CallState;
  /** Starts it; the call is then answered, or ends, by itself. */
  begin(): void;
  perform(action: SetupAction): void;
  /** The call ends: abandons what is under way. */
  close(): void;
}
