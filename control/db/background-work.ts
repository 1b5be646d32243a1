/** What the control plane does without being asked, as seen by its caller. */

export interface BackgroundWork {
  /**
   * Begins nothing more. What runs goes on and stays written down as under way: after a fault it may be what the fault
   * was in, and then counts as a try.
   */
  hold(): void;
  /** Begins nothing more, breaks off what runs, and resolves when nothing is under way. */
  close(): Promise<void>;
}

/** Several as one; they close at the same time. */
export function together(parts: readonly BackgroundWork[]): BackgroundWork {
  return {
    hold: () => {
      for (const part of parts) part.hold();
    },
    close: async () => {
      await Promise.all(parts.map((part) => part.close()));
    },
  };
}

/** Of rounds that leave nothing behind when they are stopped. @param stop may be called twice */
export function rounds(stop: () => Promise<void>): BackgroundWork {
  return { hold: () => void stop(), close: stop };
}
