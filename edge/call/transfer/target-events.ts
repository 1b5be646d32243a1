import type { Termination } from '../ending.ts';

/** How the leg to the target tells its transfer what happens. */
export interface TargetEvents {
  ringing(): void;
  /** The target is there, and whoever speaks to it says that it may be joined. */
  join(): void;
  /** Once, also when the leg could not be begun. */
  ended(termination: Termination): void;
}
