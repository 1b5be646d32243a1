/**
 * One reading of the API, kept current while somebody can see it: after events, every few seconds, when the page is seen
 * again and when the connection is back. A failed one is tried again by itself, later each time.
 */
import { effect, type Signal, signal, untracked } from '@preact/signals';
import { follow } from '../api/follow.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { healed } from '../connection.ts';
import { visible } from '../visible.ts';
import { type Renewal, unchanging } from './renewal.ts';
import { isSame } from './same.ts';

interface State<T> {
  /** null: not yet. Stays while it is read again. */
  readonly data: T | null;
  readonly problem: Problem | null;
  readonly loading: boolean;
}

export interface Asked<T> {
  /** Throws what `request` throws. */
  readonly load: (signal: AbortSignal) => Promise<T>;
  readonly renewal: (data: T) => Renewal;
}

/** Between two readings after events, unless their renewal says more: events come many at once, ms. */
const soonMs = 500;
/** Read again this often when events are expected and none arrive, for example at the limit of streams, ms. */
const withoutEventsMs = 10_000;
/** A page that was hidden for less shows data that is still good. */
const staleMs = 5000;
/** A page that is hidden for longer follows nothing: streams are limited, and a browser has few connections, ms. */
const hiddenMs = 30_000;
const [firstRetryMs, longestRetryMs] = [5000, 60_000];

/** @param failures one after the other */
export function retryMs(failures: number, problem: Problem | null): number {
  const waitMs = Math.min(firstRetryMs * 2 ** (failures - 1), longestRetryMs);
  return Math.max(waitMs, (problem?.retryAfterS ?? 0) * 1000);
}

export class Reading<T> {
  readonly state: Signal<State<T>> = signal({ data: null, problem: null, loading: true });
  /** Whether events arrive. */
  readonly following = signal(false);
  /** As the screen asks now. */
  asked: Asked<T>;
  readonly #follow: typeof follow;
  #stop: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hidden: ReturnType<typeof setTimeout> | undefined;
  #stream: { readonly key: string; readonly end: () => void } | null = null;
  /** When it was read last, by `performance.now`. */
  #readAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  /** It may have changed since the last reading began. */
  #isOld = false;
  /** Who has changed something may be gone when that is done. */
  #isOver = false;

  constructor(asked: Asked<T>, followed = follow) {
    this.asked = asked;
    this.#follow = followed;
  }

  /** @returns ends it */
  start(): () => void {
    this.#read();
    const ends = [onChange(healed, this.reload), onChange(visible, () => this.#seen())];
    return () => {
      this.#isOver = true;
      for (const end of ends) end();
      this.#stop?.abort();
      clearTimeout(this.#timer);
      clearTimeout(this.#hidden);
      this.#unfollow();
    };
  }

  /** For somebody who asks for it, or has changed something: a reading that runs may be older. */
  readonly reload = (): void => {
    const { data, problem } = this.state.peek();
    // Gone until the answer: a problem that stays is told once more to who asked.
    if (problem) this.state.value = { data, problem: null, loading: true };
    this.#read();
  };

  /** What was read may have changed: soon read again, once for all that comes until then. */
  readonly changed = (): void => {
    this.#isOld = true;
    this.#plan();
  };

  #read(): void {
    if (this.#isOver) return;
    this.#stop?.abort();
    clearTimeout(this.#timer);
    const stop = new AbortController();
    this.#stop = stop;
    this.#isOld = false;
    this.asked.load(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) this.#took(data);
      },
      (error: unknown) => {
        if (!stop.signal.aborted) this.#failed(problemOf(error));
      },
    );
  }

  #took(data: T): void {
    const before = this.state.peek();
    const isNew = before.data === null || !isSame(before.data, data);
    this.#failures = 0;
    if (isNew || before.problem || before.loading)
      this.state.value = { data: isNew ? data : before.data, problem: null, loading: false };
    this.#wasRead();
  }

  #failed(problem: Problem): void {
    const before = this.state.peek();
    this.#failures++;
    // A note that is drawn again is read aloud again.
    const isTold =
      before.problem && isSame({ ...before.problem, requestId: null }, { ...problem, requestId: null });
    if (!isTold) this.state.value = { data: before.data, problem, loading: false };
    this.#wasRead();
  }

  #wasRead(): void {
    this.#stop = null;
    this.#readAt = performance.now();
    this.#followWhatMatters();
    this.#plan();
  }

  get #renewal(): Renewal {
    const { data } = this.state.peek();
    return data === null ? unchanging : this.asked.renewal(data);
  }

  /** When the next reading is due; Infinity: never, as far as is known. */
  #waitMs(): number {
    if (this.#failures > 0) return retryMs(this.#failures, this.state.peek().problem);
    const { events, everyMs = Number.POSITIVE_INFINITY, gapMs = soonMs } = this.#renewal;
    if (this.#isOld) return gapMs;
    return events && !this.following.peek() ? Math.min(everyMs, withoutEventsMs) : everyMs;
  }

  #plan(): void {
    clearTimeout(this.#timer);
    if (this.#isOver || this.#stop || !visible.peek()) return;
    const dueMs = this.#readAt + this.#waitMs() - performance.now();
    if (dueMs !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#read(), Math.max(0, dueMs));
  }

  #seen(): void {
    clearTimeout(this.#hidden);
    if (!visible.peek()) {
      clearTimeout(this.#timer);
      this.#hidden = setTimeout(() => this.#unfollow(), hiddenMs);
      return;
    }
    this.#followWhatMatters();
    const isStale = performance.now() - this.#readAt >= staleMs;
    if (!this.#stop && isStale && this.#waitMs() !== Number.POSITIVE_INFINITY) this.#read();
    else this.#plan();
  }

  #followWhatMatters(): void {
    const { events } = this.#renewal;
    const key = events ? JSON.stringify(events) : '';
    if (key === (this.#stream?.key ?? '') || !visible.peek()) return;
    this.#unfollow();
    if (!events) return;
    const end = this.#follow(events, {
      // It was read just before, and may have changed until now.
      onStale: this.changed,
      onEvent: (event) => {
        if (this.#renewal.matters?.(event) ?? true) this.changed();
      },
      onState: (following) => {
        this.following.value = following;
        this.#plan();
      },
    });
    this.#stream = { key, end };
  }

  #unfollow(): void {
    this.#stream?.end();
    this.#stream = null;
    this.following.value = false;
  }
}

/** @returns ends it */
function onChange(of: Signal<unknown>, act: () => void): () => void {
  let isFirst = true;
  return effect(() => {
    of.value;
    if (!isFirst) untracked(act);
    isFirst = false;
  });
}
