import type { Timers } from '#shared/timers.ts';
import type { LiveDeps } from './live-deps.ts';
import type { ProviderConnection, ProviderEvents, TranscriptionProvider } from './provider.ts';
import type { TranscriptionOptions } from './transcription.ts';

interface OpeningParts {
  readonly options: TranscriptionOptions;
  readonly limits: LiveDeps['limits'];
  readonly timers: Timers;
  /** The transcription is closed. */
  readonly over: AbortSignal;
}

/** A connection within the time that one has to open. @throws Error that says which server, and why */
export async function openedInTime(
  provider: TranscriptionProvider,
  events: ProviderEvents,
  { options, limits, timers, over }: OpeningParts,
): Promise<ProviderConnection> {
  const limit = new AbortController();
  const timer = timers.after(limits.openTimeoutMs, () => {
    limit.abort(new Error(`${provider.name} did not open within ${limits.openTimeoutMs} ms`));
  });
  try {
    return await provider.connect(options, events, AbortSignal.any([over, limit.signal]));
  } catch (error) {
    throw error instanceof Error ? error : new Error(String(error));
  } finally {
    timer.cancel();
  }
}
