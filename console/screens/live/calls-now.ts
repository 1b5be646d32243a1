/** The calls in progress: read once, kept current by events. */
import { signal } from '@preact/signals';
import { request } from '../../api/client.ts';
import { follow, type LiveEvent } from '../../api/follow.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import type { LoggedCall } from '../../parts/call-columns.tsx';

/** Calls that are read at first, in pages; those that begin later come with their events. */
const pageRows = 500;
const mostRead = 1000;

export interface Words {
  readonly user: 'user' | 'assistant' | 'agent-action';
  readonly text: string;
}

export class CallsNow {
  /** Newest first. */
  readonly calls = signal<readonly LoggedCall[] | null>(null);
  /** What was said last, by call. */
  readonly words = signal<ReadonlyMap<string, Words>>(new Map());
  readonly following = signal(false);
  readonly problem = signal<Problem | null>(null);
  readonly #known = new Map<string, LoggedCall>();
  /** Events since the reading began: they are newer than what is read. */
  #meanwhile: Set<string> | null = null;
  #end: () => void = () => undefined;

  start(): () => void {
    this.#end = follow(
      { types: 'call,transcript' },
      {
        onStale: () => void this.read(),
        onEvent: (event) => this.#take(event),
        onState: (following) => {
          this.following.value = following;
        },
      },
    );
    return () => this.#end();
  }

  async read(): Promise<void> {
    const meanwhile = new Set<string>();
    this.#meanwhile = meanwhile;
    try {
      const read = await readAll();
      if (this.#meanwhile !== meanwhile) return;
      for (const id of this.#known.keys()) if (!meanwhile.has(id)) this.#known.delete(id);
      for (const call of read) if (!meanwhile.has(call.id)) this.#known.set(call.id, call);
      this.#meanwhile = null;
      this.problem.value = null;
      this.#show();
    } catch (error) {
      this.problem.value = problemOf(error);
    } finally {
      if (this.#meanwhile === meanwhile) this.#meanwhile = null;
    }
  }

  #take({ type, subject, data }: LiveEvent): void {
    const id = subject.call_id;
    if (id === undefined) return;
    if (data === null) return void this.read();
    if (data.line) {
      // A line may come after the end of its call: nobody would take it away.
      if (this.#known.has(id)) this.words.value = new Map(this.words.value).set(id, data.line);
      return;
    }
    if (!data.call) return;
    this.#meanwhile?.add(id);
    if (type === 'call.ended' || data.call.ended_at !== null) {
      this.#known.delete(id);
      const words = new Map(this.words.value);
      if (words.delete(id)) this.words.value = words;
    } else this.#known.set(id, data.call);
    this.#show();
  }

  #show(): void {
    // Before the first reading is complete, the events alone would look like all.
    if (this.calls.value === null && this.#meanwhile !== null) return;
    this.calls.value = [...this.#known.values()].sort((a, b) =>
      a.started_at < b.started_at ? 1 : a.started_at > b.started_at ? -1 : 0,
    );
  }
}

async function readAll(): Promise<LoggedCall[]> {
  const all: LoggedCall[] = [];
  for (;;) {
    const last = all.at(-1)?.id;
    const query = { status: 'in_progress', limit: pageRows, ...(last !== undefined && { before: last }) };
    const { calls } = (await request('GET /v1/sip/calls', { query })).data;
    all.push(...calls);
    if (calls.length < pageRows || all.length >= mostRead) return all;
  }
}
