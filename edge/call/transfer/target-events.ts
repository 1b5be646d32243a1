import type { Termination } from '../ending.ts';

/** Events from the target leg to its transfer. */
export interface TargetEvents {
  ringing(): void;
  /** The target answered, and its agent asks to bridge. */
  join(): void;
  /** Called once, also when the leg could not be started. */
  ended(termination: Termination): void;
}
