/** What runs beside requests, and how it ends. */
export interface BackgroundWork {
  /**
   * Starts nothing more. Running work continues and stays recorded as under way: it may have caused the fault, and then
   * counts as an attempt.
   */
  hold(): void;
  /** Starts nothing more, aborts running work, and resolves when none is left. */
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

/** For rounds that leave nothing behind when stopped. @param stop may be called twice */
export function rounds(stop: () => Promise<void>): BackgroundWork {
  return { hold: () => void stop(), close: stop };
}
