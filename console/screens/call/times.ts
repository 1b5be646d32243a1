/** The time axis that all parts of a call share: milliseconds since the call began. */
import { signal } from '@preact/signals';

/** Room at the left of lanes and plots, for names and figures, so that both begin at the same place; px. */
export const gutter = 64;
/** Room at their right; px. */
export const margin = 10;

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The part of the call that is shown, and the moment under the pointer or the focus. */
export class Axis {
  readonly shown = signal<Span>({ fromMs: 0, toMs: 1000 });
  readonly pointed = signal<number | null>(null);
  #whole: Span = { fromMs: 0, toMs: 1000 };

  get whole(): Span {
    return this.#whole;
  }

  /** The call has become longer. A part that somebody chose stays. */
  stretch(toMs: number): void {
    const before = this.#whole;
    this.#whole = { fromMs: 0, toMs: Math.max(toMs, 1000) };
    const { fromMs, toMs: end } = this.shown.peek();
    if (fromMs === before.fromMs && end === before.toMs) this.shown.value = this.#whole;
  }

  show({ fromMs, toMs }: Span): void {
    this.shown.value = within({ fromMs, toMs }, this.#whole);
  }

  /** @param factor below 1: closer */
  zoom(factor: number): void {
    const { fromMs, toMs } = this.shown.peek();
    const middle = this.pointed.peek() ?? (fromMs + toMs) / 2;
    this.show({ fromMs: middle - (middle - fromMs) * factor, toMs: middle + (toMs - middle) * factor });
  }

  /** @param share of what is shown; below 0: earlier */
  move(share: number): void {
    const { fromMs, toMs } = this.shown.peek();
    const step = (toMs - fromMs) * share;
    this.show({ fromMs: fromMs + step, toMs: toMs + step });
  }
}

/** Less is not shown, ms. */
const shortestMs = 200;

/** Moves a span into the whole and keeps its length, if there is room. */
export function within({ fromMs, toMs }: Span, whole: Span): Span {
  const length = Math.min(Math.max(toMs - fromMs, shortestMs), whole.toMs - whole.fromMs);
  const from = Math.min(Math.max(fromMs, whole.fromMs), whole.toMs - length);
  return { fromMs: from, toMs: from + length };
}

/** Round distances of marks, ms. */
const steps = [
  10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  1_800_000, 3_600_000,
];

/** The moments that get a mark, about one for each `each` of `pixels`. */
export function marks({ fromMs, toMs }: Span, pixels: number, each = 90): number[] {
  const rough = (toMs - fromMs) / Math.max(1, pixels / each);
  const step = steps.find((one) => one >= rough) ?? 7_200_000;
  const first = Math.ceil(fromMs / step) * step;
  const count = Math.max(0, Math.floor((toMs - first) / step) + 1);
  return Array.from({ length: count }, (_, index) => first + index * step);
}

/** `0:07`, with fractions where marks are closer than a second. */
export function markText(ms: number, { fromMs, toMs }: Span): string {
  const minutes = Math.floor(ms / 60_000);
  const seconds = (ms % 60_000) / 1000;
  const digits = toMs - fromMs < 8000 ? (toMs - fromMs < 1000 ? 2 : 1) : 0;
  return `${minutes}:${seconds.toFixed(digits).padStart(digits === 0 ? 2 : digits + 3, '0')}`;
}

/** The last item that began at or before the moment; -1: none. @param starts ascending */
export function lastBegun(starts: readonly number[], ms: number): number {
  return starts.findLastIndex((start) => start <= ms);
}
