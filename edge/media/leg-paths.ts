/** The path of a leg's packets, the one before it while its last packets may still come, and one that is offered. */
import type { Clock, Timer } from '#shared/clock.ts';
import type { SrtpPath } from './srtp-path.ts';

export class LegPaths {
  /** null before the first description. */
  current: SrtpPath | null = null;
  readonly #clock: Clock;
  readonly #drainMs: number;
  #draining: { path: SrtpPath; timer: Timer } | null = null;
  /** In an offer that has not been answered, beside the current one. */
  #offered: SrtpPath | null = null;

  constructor(clock: Clock, drainMs: number) {
    this.#clock = clock;
    this.#drainMs = drainMs;
  }

  /** `path` is in our offer; what was offered before is not answered any more. */
  offer(path: SrtpPath): void {
    this.dropOffered();
    if (!this.current) this.current = path;
    else if (path !== this.current) this.#offered = path;
  }

  /** The path of our last offer. */
  get lastOffered(): SrtpPath | null {
    return this.#offered ?? this.current;
  }

  dropOffered(): void {
    this.#offered?.close();
    this.#offered = null;
  }

  /** Makes `path` the current one. */
  move(path: SrtpPath): void {
    const old = this.current;
    this.current = path;
    if (path === this.#offered) this.#offered = null;
    if (!old || old === path) return;
    this.#endDrain();
    this.#draining = { path: old, timer: this.#clock.after(this.#drainMs, () => this.#endDrain()) };
  }

  /** A packet came over `path`. */
  heard(path: SrtpPath): void {
    if (path === this.current && this.#draining) this.#endDrain();
  }

  close(): void {
    this.#endDrain();
    this.dropOffered();
    this.current?.close();
  }

  #endDrain(): void {
    this.#draining?.timer.cancel();
    this.#draining?.path.close();
    this.#draining = null;
  }
}
