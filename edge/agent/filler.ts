import type { Timers } from '#shared/timers.ts';

export interface FillerParts {
  /** silence after which the text is said, ms */
  readonly afterMs: number;
  readonly timers: Timers;
  /** Resolves when what was said before has been played. */
  readonly played: () => Promise<void>;
  /** @param wanted aborted when the answer is there: what does not sound yet is not said */
  readonly say: (wanted: AbortSignal) => Promise<void>;
  /** Stops the text. */
  readonly stop: () => void;
}

/** Fills the silence while the caller waits for an answer, which ends the text at once. Rejects when `answer` does. */
export async function filled<T>(answer: Promise<T>, parts: FillerParts): Promise<T> {
  const { afterMs, timers, played, say, stop } = parts;
  const there = new AbortController();
  const wanted = there.signal;
  let begun = false;
  const wait = async () => {
    await played();
    if (wanted.aborted) return;
    await new Promise<void>((resolve) => timers.after(afterMs, resolve));
    if (wanted.aborted) return;
    begun = true;
    await say(wanted);
  };
  // Who says it reports why it cannot be said. The caller waits for the answer either way.
  wait().catch(() => {});
  try {
    return await answer;
  } finally {
    there.abort();
    if (begun) stop();
  }
}
