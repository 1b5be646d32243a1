/** The path of a leg's packets, and the one before it while its last packets may still come. */
import type { Clock, Timer } from '#shared/clock.ts';
import type { SrtpPath } from './srtp-path.ts';

export class LegPaths {
  /** null before the first description. */
  current: SrtpPath | null = null;
  readonly #clock: Clock;
  readonly #drainMs: number;
  #draining: { path: SrtpPath; timer: Timer } | null = null;

  constructor(clock: Clock, drainMs: number) {
    this.#clock = clock;
    this.#drainMs = drainMs;
  }

  /** Makes `path` the current one. */
  move(path: SrtpPath): void {
    const old = this.current;
    this.current = path;
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
    this.current?.close();
  }

  #endDrain(): void {
    this.#draining?.timer.cancel();
    this.#draining?.path.close();
    this.#draining = null;
  }
}
