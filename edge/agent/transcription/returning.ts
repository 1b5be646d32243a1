/**
 * The way back of one call from a server that was a fallback: the connection to the better one is opened beside the one
 * in use, and replaces it between two turns.
 *
 *     [ none ] --a better server is free--> [ opening ] --> [ ready ] --between turns--> in use
 *         ^-------------------- failed, lost, dropped ----------+
 */
import type { Clock } from '#shared/clock.ts';
import type { ProviderConnection, ProviderEvents, TranscriptionProvider } from './provider.ts';
import type { ProviderChoice } from './provider-choice.ts';

/** Pause after an attempt that has failed, ms: other calls may still use that server, and say that it works. */
const pauseMs = 30_000;

export interface Opened {
  readonly provider: TranscriptionProvider;
  readonly connection: ProviderConnection;
  /** Tells the connection's events to the call from now on. */
  readonly use: (events: ProviderEvents) => void;
}

type Open = (provider: TranscriptionProvider, events: ProviderEvents) => Promise<ProviderConnection>;

export class Returning {
  readonly #choice: ProviderChoice;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #open: Open;
  #ready: Opened | null = null;
  #opening = false;
  /** Number of the attempt of now: what becomes of former ones is of no interest. */
  #attempt = 0;
  #notBefore = 0;

  constructor(choice: ProviderChoice, clock: Pick<Clock, 'elapsed'>, open: Open) {
    this.#choice = choice;
    this.#clock = clock;
    this.#open = open;
  }

  /** Between turns, while `current` is in use. @returns the connection to use instead; null: none is ready */
  take(current: TranscriptionProvider): Opened | null {
    const ready = this.#ready;
    this.#ready = null;
    if (!ready && !this.#opening && this.#clock.elapsed() >= this.#notBefore) {
      const better = this.#choice.better(current);
      if (better) this.#begin(better);
    }
    return ready;
  }

  /** The call connects in another way. */
  drop(): void {
    this.#attempt++;
    this.#opening = false;
    this.#ready?.connection.close();
    this.#ready = null;
  }

  #begin(provider: TranscriptionProvider): void {
    const attempt = ++this.#attempt;
    let used: ProviderEvents | null = null;
    const lost = (error: Error, given: boolean) => {
      if (used) used.lost(error, given);
      else if (attempt === this.#attempt) {
        // Others may have words from it: a connection that it drops says nothing of those.
        if (this.#choice.isOnTrial(provider)) this.#choice.failed(provider);
        this.#failed();
      }
    };
    // Nothing is sent before the connection is used, so no words of the caller come from it.
    const events: ProviderEvents = {
      partial: (words) => used?.partial(words),
      settled: (words, throughMs) => used?.settled(words, throughMs),
      finished: (throughMs) => used?.finished(throughMs),
      turn: (signal) => used?.turn(signal),
      turnFailed: (error) => used?.turnFailed(error),
      lost,
    };
    this.#opening = true;
    this.#open(provider, events).then(
      (connection) => {
        if (attempt !== this.#attempt) {
          connection.close();
          return;
        }
        this.#opening = false;
        const use = (of: ProviderEvents) => {
          used = of;
        };
        this.#ready = { provider, connection, use };
      },
      () => {
        if (attempt !== this.#attempt) return;
        this.#choice.failed(provider);
        this.#failed();
      },
    );
  }

  #failed(): void {
    this.drop();
    this.#notBefore = this.#clock.elapsed() + pauseMs;
  }
}
