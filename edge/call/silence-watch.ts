/**
 * Watches that the peer of a call is still there. While media is due, silence is the end; on hold nothing is due, so a
 * silent peer is asked instead (OPTIONS in the dialog), or a call whose peer has vanished would last until its
 * longest duration.
 */
import type { Clock, Timer } from '#shared/clock.ts';

/** The peer, as far as the watch needs it. */
export interface WatchedPeer {
  /** Milliseconds since its last packet, RTP or RTCP. */
  silentForMs(): number;
  /** Asks it for a sign of life. `answered` gets why it is gone; null: it is there, or nobody can tell. */
  ask(answered: (gone: string | null) => void): void;
}

/** What comes of the watch: each ends the call. */
export interface SilenceEvents {
  /** Media was due, and none came. */
  silent(): void;
  /** @param why one sentence for a person */
  gone(why: string): void;
}

export class SilenceWatch {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #peer: WatchedPeer;
  readonly #events: SilenceEvents;
  #timer: Timer | null = null;
  #since = 0;
  /** Counts what was expected one after the other: the answer to an earlier question says nothing. */
  #turn = 0;

  /** @param limitMs silence after which the call ends, or the peer is asked; 0: never */
  constructor(clock: Clock, limitMs: number, peer: WatchedPeer, events: SilenceEvents) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#peer = peer;
    this.#events = events;
  }

  /** Media is due from now on: at the start, and when a hold is over. */
  expectMedia(): void {
    this.#begin(() => this.#events.silent());
  }

  /** No media is due: on hold. */
  expectNothing(): void {
    this.#begin(() => this.#ask());
  }

  /** At the end. */
  stop(): void {
    this.#turn += 1;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #begin(onSilence: () => void): void {
    this.stop();
    this.#since = this.#clock.now();
    if (this.#limitMs > 0) this.#checkIn(this.#limitMs, onSilence);
  }

  #checkIn(ms: number, onSilence: () => void): void {
    this.#timer = this.#clock.after(ms, () => {
      const silent = Math.min(this.#peer.silentForMs(), this.#clock.now() - this.#since);
      if (silent >= this.#limitMs) onSilence();
      else this.#checkIn(this.#limitMs - silent, onSilence);
    });
  }

  #ask(): void {
    const turn = this.#turn;
    this.#peer.ask((gone) => {
      if (turn !== this.#turn) return;
      // Packets that came meanwhile count for more than a question without an answer.
      if (gone !== null && this.#peer.silentForMs() >= this.#limitMs) this.#events.gone(gone);
      else this.expectNothing();
    });
  }
}
