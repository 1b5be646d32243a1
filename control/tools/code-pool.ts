/**
 * Threads that run customers' code, so that a loop in it blocks nobody: code of tools, and expressions and paths whose
 * running time is unknown. Organizations take turns, and none gets all threads.
 */
import { Worker } from 'node:worker_threads';

export interface CodeWork {
  readonly kind: 'code';
  /** Body of a function with `input` and `variables`; without `return` its last value is the result. */
  readonly code: string;
  /** JSON texts. */
  readonly input: string;
  readonly variables: string;
  /** CPU time limit of the code, ms. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

/** A value's schema violations, as returned by `violations`. */
interface CheckWork {
  readonly kind: 'check';
  /** JSON texts. */
  readonly schema: string;
  readonly value: string;
}

/** The variables that JSON paths take from a response. */
interface PathsWork {
  readonly kind: 'paths';
  /** JSON texts; `entries` of `response_data`. */
  readonly entries: string;
  readonly response: string;
}

export type ThreadWork = CodeWork | CheckWork | PathsWork;

export interface ThreadQuestion {
  readonly id: number;
  readonly work: ThreadWork;
}

export type CodeAnswer = { readonly id: number } & (
  | { readonly json: string }
  | { readonly error: string; readonly broken?: true }
);

export interface CodePoolLimits {
  readonly threads: number;
  /** Most runs of one organization waiting for a thread; more are rejected. */
  readonly mostWaiting: number;
  /** ms beyond `cpuMs` after which an unresponsive thread is terminated. */
  readonly graceMs: number;
}

interface Order {
  readonly orgId: string;
  /** Timeout for waiting and running together, ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Job {
  readonly orgId: string;
  readonly question: ThreadQuestion;
  readonly done: (answer: Outcome) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | null;
  limit: NodeJS.Timeout | undefined;
}

type Outcome = { readonly value: unknown } | { readonly error: string };

/** CPU time limit of a check or paths, ms; the code of tools has its own. */
export const threadMs = 100;

export class CodePool {
  readonly #limits: CodePoolLimits;
  /** Most busy threads of one organization: one is left for the others if there are two. */
  readonly #mostBusy: number;
  readonly #onKilled: () => void;
  readonly #threads = new Set<Thread>();
  /** By organization; the first one has the next turn. */
  readonly #waiting = new Map<string, Job[]>();
  #nextId = 1;
  #closed = false;

  /** @param onKilled called for every terminated thread */
  constructor(limits: CodePoolLimits, onKilled: () => void) {
    this.#limits = limits;
    this.#mostBusy = Math.max(1, limits.threads - 1);
    this.#onKilled = onKilled;
  }

  /** Runs waiting for a thread. */
  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, jobs) => sum + jobs.length, 0);
  }

  /**
   * Resolves with the result, or with the error; never rejects. The thread of an aborted or timed-out run is
   * terminated.
   */
  run(work: ThreadWork, { orgId, timeoutMs, signal }: Order): Promise<Outcome> {
    if (this.#closed) return Promise.resolve({ error: 'the service is stopping' });
    if (signal.aborted) return Promise.resolve({ error: 'the run was aborted' });
    if ((this.#waiting.get(orgId)?.length ?? 0) >= this.#limits.mostWaiting) {
      return Promise.resolve({ error: 'too much code waits to be run; try again' });
    }
    return new Promise((resolve) => {
      const job: Job = { orgId, question: { id: this.#nextId++, work }, done: finish };
      const give = () => this.#giveUp(job, 'the run was aborted', 'the run was aborted');
      const timer = setTimeout(() => {
        this.#giveUp(
          job,
          `no thread was free for the code within ${timeoutMs} ms`,
          tookLonger(work, timeoutMs),
        );
      }, timeoutMs);
      function finish(outcome: Outcome): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', give);
        resolve(outcome);
      }
      signal.addEventListener('abort', give, { once: true });
      this.#waiting.set(orgId, [...(this.#waiting.get(orgId) ?? []), job]);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of [...this.#waiting.values()].flat()) job.done({ error: 'the service is stopping' });
    this.#waiting.clear();
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, 'the service is stopping')));
  }

  /** @param waited the error if it still waits @param ran the error if it runs: its thread is terminated */
  #giveUp(job: Job, waited: string, ran: string): void {
    const jobs = this.#waiting.get(job.orgId) ?? [];
    if (jobs.includes(job)) {
      this.#keep(
        job.orgId,
        jobs.filter((other) => other !== job),
      );
      job.done({ error: waited });
      return;
    }
    const thread = [...this.#threads].find((one) => one.job === job);
    if (!thread) return;
    this.#onKilled();
    void this.#end(thread, ran);
  }

  /** Replaces an organization's queue; its turn stays the same. */
  #keep(orgId: string, jobs: Job[]): void {
    if (jobs.length > 0) this.#waiting.set(orgId, jobs);
    else this.#waiting.delete(orgId);
  }

  #next(): void {
    for (let job = this.#due(); job && !this.#closed; job = this.#due()) {
      const idle = [...this.#threads].find((thread) => thread.job === null);
      const thread = idle ?? (this.#threads.size < this.#limits.threads ? this.#open() : null);
      if (!thread) return;
      const [, ...others] = this.#waiting.get(job.orgId) ?? [];
      this.#waiting.delete(job.orgId);
      this.#keep(job.orgId, others);
      this.#begin(thread, job);
    }
  }

  /** The first job of the first organization below its thread limit. */
  #due(): Job | undefined {
    const busy = [...this.#threads].flatMap(({ job }) => job?.orgId ?? []);
    for (const [orgId, [job]] of this.#waiting) {
      if (busy.filter((one) => one === orgId).length < this.#mostBusy) return job;
    }
    return undefined;
  }

  #begin(thread: Thread, job: Job): void {
    const { work } = job.question;
    const cpuMs = work.kind === 'code' ? work.cpuMs : threadMs;
    thread.job = job;
    // Longer than the sandbox's own limit, which stops nearly everything; loading the engine takes time, too.
    thread.limit = setTimeout(() => {
      this.#onKilled();
      void this.#end(thread, tookLonger(work, cpuMs));
    }, cpuMs + this.#limits.graceMs);
    thread.worker.postMessage(job.question);
  }

  #open(): Thread {
    const worker = new Worker(new URL('./code-worker.ts', import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    });
    const thread: Thread = { worker, job: null, limit: undefined };
    this.#threads.add(thread);
    worker.on('message', (answer: CodeAnswer) => {
      if ('broken' in answer) return void this.#end(thread, answer.error);
      this.#settle(thread, 'json' in answer ? parsedOutcome(answer.json) : { error: answer.error });
      this.#next();
    });
    worker.on('error', () => void this.#end(thread, 'the sandbox failed'));
    // An idle thread does not keep the process alive.
    worker.unref();
    return thread;
  }

  #settle(thread: Thread, outcome: Outcome): void {
    const job = thread.job;
    clearTimeout(thread.limit);
    thread.job = null;
    job?.done(outcome);
  }

  async #end(thread: Thread, why: string): Promise<void> {
    this.#threads.delete(thread);
    this.#settle(thread, { error: why });
    await thread.worker.terminate();
    this.#next();
  }
}

/** The sandbox's JSON.stringify may have been replaced, so its text is not trusted to be JSON. */
function parsedOutcome(json: string): Outcome {
  try {
    return { value: JSON.parse(json) };
  } catch {
    return { error: 'the result is not JSON' };
  }
}

/** The same words as in the thread. */
function tookLonger({ kind }: ThreadWork, ms: number): string {
  return `${kind === 'code' ? 'the code ran' : 'took'} longer than ${ms} ms`;
}
