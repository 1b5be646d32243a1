/**
 * Detects that the peer of a call is gone. While media is due, silence ends the call. On hold no media is due, so a
 * silent peer is probed with OPTIONS in the dialog; otherwise a call whose peer has vanished would last until its
 * maximum duration.
 */
import type { Clock, Timer } from '#shared/clock.ts';
import type { LiveCall } from './live-call.ts';
import type { Soon } from './ports/media.ts';

/** Silence before action is taken, ms. */
export interface SilenceLimits {
  /** While media is due; 0: no limit. */
  readonly mediaMs: number;
  /** On hold. */
  readonly holdMs: number;
}

export class SilenceWatch {
  readonly #call: LiveCall;
  readonly #clock: Clock;
  readonly #limits: SilenceLimits;
  #timer: Timer | null = null;
  #since = 0;
  /** Counts changes of what is expected: a late result of an earlier probe is ignored. */
  #turn = 0;

  constructor(call: LiveCall, clock: Clock, limits: SilenceLimits) {
    this.#call = call;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Media is due from now on: at the start, and after a hold. */
  expectMedia(): void {
    const { mediaMs } = this.#limits;
    this.#begin(mediaMs, () =>
      this.#call.end({ code: 'media_timeout', detail: `No RTP arrived for ${mediaMs / 1000} s.` }),
    );
  }

  /** No media is due: on hold. */
  expectNothing(): void {
    this.#begin(this.#limits.holdMs, () => this.#probe());
  }

  /** At the end. */
  stop(): void {
    this.#turn += 1;
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Milliseconds since the peer's last packet, RTP or RTCP. */
  #silence(then: (silentMs: number) => void): void {
    const turn = this.#turn;
    const silentMs: Soon<number> = this.#call.media?.silentForMs() ?? 0;
    if (silentMs instanceof Promise) {
      void silentMs.then((ms) => {
        if (turn === this.#turn) this.#call.guarded(() => then(ms));
      });
    } else then(silentMs);
  }

  #begin(limitMs: number, onSilence: () => void): void {
    this.stop();
    this.#since = this.#clock.elapsed();
    if (limitMs > 0) this.#checkIn(limitMs, limitMs, onSilence);
  }

  #checkIn(ms: number, limitMs: number, onSilence: () => void): void {
    this.#timer = this.#clock.after(ms, () =>
      this.#silence((silentMs) => {
        const silent = Math.min(silentMs, this.#clock.elapsed() - this.#since);
        if (silent >= limitMs) onSilence();
        else this.#checkIn(limitMs - silent, limitMs, onSilence);
      }),
    );
  }

  #probe(): void {
    const turn = this.#turn;
    const call = this.#call;
    const { leg } = call.dialog;
    leg?.ask((gone) =>
      call.guarded(() => {
        if (turn !== this.#turn) return;
        // A dialog that was replaced in the meantime proves nothing.
        if (gone === null || leg !== call.dialog.leg) {
          this.expectNothing();
          return;
        }
        this.#silence((silentMs) => {
          // Packets outweigh a failed probe.
          if (silentMs >= this.#limits.holdMs) call.end({ code: 'peer_gone', detail: gone });
          else this.expectNothing();
        });
      }),
    );
  }
}
