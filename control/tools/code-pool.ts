/** Threads that run customers' code, so that a loop in it holds up nobody. */
import { Worker } from 'node:worker_threads';

export interface CodeQuestion {
  readonly id: number;
  /** Body of a function with `input` and `variables`; without `return` its last value is the result. */
  readonly code: string;
  /** JSON texts. */
  readonly input: string;
  readonly variables: string;
  /** Time that the code may compute, ms. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

export type CodeAnswer = { readonly id: number } & (
  | { readonly json: string }
  | { readonly error: string; readonly broken?: true }
);

export interface CodePoolLimits {
  readonly threads: number;
  /** Runs that wait for a thread; more are refused. */
  readonly mostWaiting: number;
  /** ms beyond `cpuMs` after which a thread that does not answer is ended. */
  readonly graceMs: number;
}

interface Job {
  readonly question: CodeQuestion;
  readonly done: (answer: Outcome) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | null;
  limit: NodeJS.Timeout | undefined;
}

type Outcome = { readonly value: unknown } | { readonly error: string };

export class CodePool {
  readonly #limits: CodePoolLimits;
  readonly #onKilled: () => void;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Job[] = [];
  #nextId = 1;
  #closed = false;

  /** @param onKilled called for every thread that had to be ended */
  constructor(limits: CodePoolLimits, onKilled: () => void) {
    this.#limits = limits;
    this.#onKilled = onKilled;
  }

  /** Resolves with the result, or with why there is none; never rejects. A run that is given up goes on alone. */
  run(question: Omit<CodeQuestion, 'id'>, signal: AbortSignal): Promise<Outcome> {
    if (this.#closed) return Promise.resolve({ error: 'the service is stopping' });
    if (this.#waiting.length >= this.#limits.mostWaiting) {
      return Promise.resolve({ error: 'too much code waits to be run; try again' });
    }
    return new Promise((resolve) => {
      const job: Job = { question: { ...question, id: this.#nextId++ }, done: finish };
      const give = () => {
        const place = this.#waiting.indexOf(job);
        if (place >= 0) this.#waiting.splice(place, 1);
        finish({ error: 'the run was given up' });
      };
      function finish(outcome: Outcome): void {
        signal.removeEventListener('abort', give);
        resolve(outcome);
      }
      signal.addEventListener('abort', give, { once: true });
      this.#waiting.push(job);
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) job.done({ error: 'the service is stopping' });
    await Promise.all([...this.#threads].map((thread) => this.#end(thread, 'the service is stopping')));
  }

  #next(): void {
    const job = this.#waiting[0];
    if (!job || this.#closed) return;
    const idle = [...this.#threads].find((thread) => thread.job === null);
    const thread = idle ?? (this.#threads.size < this.#limits.threads ? this.#open() : null);
    if (!thread) return;
    this.#waiting.shift();
    thread.job = job;
    const { cpuMs } = job.question;
    // Longer than the sandbox's own limit, which ends nearly everything; loading the engine takes time, too.
    thread.limit = setTimeout(() => {
      this.#onKilled();
      void this.#end(thread, `the code ran longer than ${cpuMs} ms`);
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
    // An idle thread keeps no process alive.
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

/** The sandbox's own JSON.stringify may have been replaced, so its text is not trusted to be JSON. */
function parsedOutcome(json: string): Outcome {
  try {
    return { value: JSON.parse(json) };
  } catch {
    return { error: 'the result is not JSON' };
  }
}
