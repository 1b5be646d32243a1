/**
 * Detects that the peer of a call is gone. While media is due, silence ends the call. On hold no media is due, so a
 * silent peer is probed with OPTIONS in the dialog; otherwise a call whose peer has vanished would last until its
 * maximum duration.
 */
import type { Clock, Timer } from '#shared/clock.ts';

/** The peer, as far as the watch needs it. */
export interface WatchedPeer {
  /** Milliseconds since its last packet, RTP or RTCP. */
  silentForMs(): number;
  /** Probes it. `answered` gets the reason why it is gone; null: it is there, or the result is unclear. */
  ask(answered: (gone: string | null) => void): void;
}

/** Results of the watch: each ends the call. */
export interface SilenceEvents {
  /** Media was due, and none arrived. */
  silent(): void;
  /** @param why one sentence for a person */
  gone(why: string): void;
}

/** Silence before action is taken, ms. */
export interface SilenceLimits {
  /** While media is due; 0: no limit. */
  readonly mediaMs: number;
  /** On hold. */
  readonly holdMs: number;
}

export class SilenceWatch {
  readonly #clock: Clock;
  readonly #limits: SilenceLimits;
  readonly #peer: WatchedPeer;
  readonly #events: SilenceEvents;
  #timer: Timer | null = null;
  #since = 0;
  /** Counts changes of what is expected: a late result of an earlier probe is ignored. */
  #turn = 0;

  constructor(clock: Clock, limits: SilenceLimits, peer: WatchedPeer, events: SilenceEvents) {
    this.#clock = clock;
    this.#limits = limits;
    this.#peer = peer;
    this.#events = events;
  }

  /** Media is due from now on: at the start, and after a hold. */
  expectMedia(): void {
    this.#begin(this.#limits.mediaMs, () => this.#events.silent());
  }

  /** No media is due: on hold. */
  expectNothing(): void {
    this.#begin(this.#limits.holdMs, () => this.#ask());
  }

  /** At the end. */
  stop(): void {
    this.#turn += 1;
    this.#timer?.cancel();
    this.#timer = null;
  }

  #begin(limitMs: number, onSilence: () => void): void {
    this.stop();
    this.#since = this.#clock.elapsed();
    if (limitMs > 0) this.#checkIn(limitMs, limitMs, onSilence);
  }

  #checkIn(ms: number, limitMs: number, onSilence: () => void): void {
    this.#timer = this.#clock.after(ms, () => {
      const silent = Math.min(this.#peer.silentForMs(), this.#clock.elapsed() - this.#since);
      if (silent >= limitMs) onSilence();
      else this.#checkIn(limitMs - silent, limitMs, onSilence);
    });
  }

  #ask(): void {
    const turn = this.#turn;
    this.#peer.ask((gone) => {
      if (turn !== this.#turn) return;
      // Packets received in the meantime outweigh a failed probe.
      if (gone !== null && this.#peer.silentForMs() >= this.#limits.holdMs) this.#events.gone(gone);
      else this.expectNothing();
    });
  }
}
