/** The calls in progress: read once, kept current by events. */
import { type Signal, signal } from '@preact/signals';
import { request } from '../../api/client.ts';
import { follow, type LiveEvent, type QualitySample } from '../../api/follow.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import type { LoggedCall } from '../../parts/call-columns.tsx';
import { retryMs } from '../../parts/reading.ts';

/** Calls are read at first, in pages; those that begin later come with their events. */
const pageRows = 500;
/** With thousands of calls events come faster than anybody reads: it is drawn at most this often, ms. */
const drawnMs = 100;

interface Words {
  readonly user: 'user' | 'assistant' | 'agent-action';
  readonly text: string;
}

/** What changes often: a change redraws only the cells that show it. */
interface CallNow {
  /** What was said last. */
  readonly words: Signal<Words | null>;
  /** Of the last 5 s or so. */
  readonly sample: Signal<QualitySample | null>;
}

export class CallsNow {
  /** Newest first. */
  readonly calls = signal<readonly LoggedCall[] | null>(null);
  /** Whether there may be more than were read. */
  readonly more = signal(false);
  readonly following = signal(false);
  readonly problem = signal<Problem | null>(null);
  readonly #mostRead: number;
  readonly #known = new Map<string, LoggedCall>();
  readonly #now = new Map<string, CallNow>();
  /** Events since the reading began: they are newer than what is read. */
  #meanwhile: Set<string> | null = null;
  #failures = 0;
  #again: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  #drawn: ReturnType<typeof setTimeout> | null = null;
  #changed = false;

  /** @param mostRead calls that are read at first */
  constructor(mostRead: number) {
    this.#mostRead = mostRead;
  }

  /** @param events as `GET /v1/events` takes them: those of calls, and others that are left out here */
  start(events: Readonly<Record<string, string>>): () => void {
    this.#isOver = false;
    const end = follow(events, {
      onStale: () => void this.read(),
      onEvent: (event) => this.#take(event),
      onState: (following) => {
        this.following.value = following;
      },
    });
    return () => {
      end();
      this.#isOver = true;
      clearTimeout(this.#again);
      if (this.#drawn !== null) clearTimeout(this.#drawn);
    };
  }

  /** Of a call that is known. */
  of(id: string): CallNow {
    const known = this.#now.get(id);
    if (known) return known;
    const now = { words: signal(null), sample: signal(null) };
    this.#now.set(id, now);
    return now;
  }

  async read(): Promise<void> {
    clearTimeout(this.#again);
    const meanwhile = new Set<string>();
    this.#meanwhile = meanwhile;
    try {
      const read = await readAll(this.#mostRead);
      if (this.#meanwhile !== meanwhile) return;
      for (const id of this.#known.keys()) if (!meanwhile.has(id)) this.#known.delete(id);
      for (const call of read) if (!meanwhile.has(call.id)) this.#known.set(call.id, call);
      for (const id of this.#now.keys()) if (!this.#known.has(id)) this.#now.delete(id);
      this.#meanwhile = null;
      this.#failures = 0;
      this.problem.value = null;
      this.more.value = read.length >= this.#mostRead;
      this.#show();
    } catch (error) {
      this.#tryAgain(problemOf(error), meanwhile);
    } finally {
      if (this.#meanwhile === meanwhile) this.#meanwhile = null;
    }
  }

  /** The stream goes on after a lost connection as if nothing had been, so that nothing else asks for another reading. */
  #tryAgain(problem: Problem, meanwhile: Set<string>): void {
    if (this.#isOver || this.#meanwhile !== meanwhile) return;
    this.problem.value = problem;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.read(), retryMs(++this.#failures, problem));
  }

  #take({ type, subject, data }: LiveEvent): void {
    const id = subject.call_id;
    if (id === undefined) return;
    if (data === null) return void this.read();
    if (data.line || data.sample) {
      // It may come after the end of its call: nobody would take it away.
      if (!this.#known.has(id)) return;
      const now = this.of(id);
      if (data.line) now.words.value = data.line;
      if (data.sample) now.sample.value = data.sample;
      return;
    }
    if (!data.call) return;
    this.#meanwhile?.add(id);
    if (type === 'call.ended' || data.call.ended_at !== null) {
      this.#known.delete(id);
      this.#now.delete(id);
    } else this.#known.set(id, data.call);
    this.#soon();
  }

  /** The first change at once, those that follow it together. */
  #soon(): void {
    this.#changed = this.#drawn !== null;
    if (this.#changed) return;
    this.#show();
    this.#drawn = setTimeout(() => {
      this.#drawn = null;
      if (this.#changed) this.#soon();
    }, drawnMs);
  }

  #show(): void {
    // Before the first reading is complete, the events alone would look like all.
    if (this.calls.value === null && this.#meanwhile !== null) return;
    this.calls.value = [...this.#known.values()].sort((a, b) =>
      a.started_at < b.started_at ? 1 : a.started_at > b.started_at ? -1 : 0,
    );
  }
}

async function readAll(most: number): Promise<LoggedCall[]> {
  const all: LoggedCall[] = [];
  for (;;) {
    const last = all.at(-1)?.id;
    const query = { status: 'in_progress', limit: pageRows, ...(last !== undefined && { before: last }) };
    const { calls } = (await request('GET /v1/sip/calls', { query })).data;
    all.push(...calls);
    if (calls.length < pageRows || all.length >= most) return all;
  }
}
