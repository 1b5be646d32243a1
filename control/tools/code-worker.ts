/**
 * The thread that runs customers' code. Every run of code has its own engine: QuickJS compiled to WebAssembly, without
 * network, files, modules or any object of this program. Text goes in, text comes out.
 */
import { parentPort } from 'node:worker_threads';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSWASMModule,
  RELEASE_SYNC,
} from 'quickjs-emscripten';
import { keepWasmCode } from '#shared/wasm-code.ts';
import {
  type CodeAnswer,
  type CodeWork,
  type ThreadQuestion,
  type ThreadWork,
  threadMs,
} from './code-pool.ts';

const stackBytes = 512 * 1024;
/** WebAssembly page. */
const pageBytes = 64 * 1024;
/** The engine's own memory. */
const enginePages = 256;
/** Most characters of a result. */
const mostCharacters = 1_048_576;
/** Promise jobs between two checks of the time. */
const jobsAtOnce = 1000;

type Outcome = { readonly json: string } | { readonly error: string };

parentPort?.on('message', ({ id, work }: ThreadQuestion) => {
  run(work).then(
    (outcome) => parentPort?.postMessage({ id, ...outcome } satisfies CodeAnswer),
    () => {
      // The engine is in an unknown state: this thread is unusable.
      const answer: CodeAnswer = { id, error: 'the sandbox failed', broken: true };
      parentPort?.postMessage(answer);
    },
  );
});

async function run(work: ThreadWork): Promise<Outcome> {
  if (work.kind === 'code') return runCode(work);
  // Loaded only by runs that need it.
  const { OutOfTime } = await import('./within-time.ts');
  try {
    return bounded(await computed(work));
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    return { error: error.message };
  }
}

/** @throws OutOfTime */
async function computed(work: Exclude<ThreadWork, CodeWork>): Promise<unknown> {
  if (work.kind === 'check') {
    const { violations } = await import('./validate.ts');
    const { withLinearPatterns } = await import('./linear-patterns.ts');
    return violations(withLinearPatterns(JSON.parse(work.schema)), JSON.parse(work.value), threadMs);
  }
  const { responseVariables } = await import('./response-data.ts');
  return responseVariables(JSON.parse(work.entries), JSON.parse(work.response), threadMs);
}

function bounded(value: unknown): Outcome {
  const json = JSON.stringify(value);
  if (json.length > mostCharacters) return { error: `the result has more than ${mostCharacters} characters` };
  return { json };
}

let engine: { readonly memoryBytes: number; readonly module: Promise<QuickJSWASMModule> } | undefined;

/**
 * The engine of this thread, with a fixed memory limit. The engine's own limit catches single blocks that are too
 * large, but under WebAssembly it does not know the sizes of allocated ones.
 */
function engineWithin(memoryBytes: number): Promise<QuickJSWASMModule> {
  if (engine?.memoryBytes !== memoryBytes) {
    keepWasmCode();
    const maximum = enginePages + Math.ceil(memoryBytes / pageBytes);
    const wasmMemory = new WebAssembly.Memory({ initial: enginePages, maximum });
    const module = newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory }));
    engine = { memoryBytes, module };
  }
  return engine.module;
}

async function runCode(work: CodeWork): Promise<Outcome> {
  const quickJs = await engineWithin(work.memoryBytes);
  const runtime = quickJs.newRuntime();
  try {
    runtime.setMemoryLimit(work.memoryBytes);
    runtime.setMaxStackSize(stackBytes);
    const sandbox = new Sandbox(runtime, work);
    try {
      return sandbox.outcome();
    } finally {
      sandbox.dispose();
    }
  } finally {
    runtime.dispose();
  }
}

/** Code with `return` or `await` is a function body; other code is a script whose last value is the result. */
function asProgram(code: string): string {
  if (!/\b(?:return|await)\b/.test(code)) return code;
  return `(${/\bawait\b/.test(code) ? 'async ' : ''}() => {\n${code}\n})()`;
}

class Sandbox {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #question: CodeWork;
  /** The earliest time at which the limit can be reached, ms. */
  readonly #deadline: number;
  readonly #began: NodeJS.CpuUsage;

  constructor(runtime: QuickJSRuntime, question: CodeWork) {
    this.#runtime = runtime;
    this.#context = runtime.newContext();
    this.#question = question;
    this.#began = process.threadCpuUsage();
    this.#deadline = performance.now() + question.cpuMs;
    runtime.setInterruptHandler(() => this.#isLate);
  }

  dispose(): void {
    this.#context.dispose();
  }

  outcome(): Outcome {
    const { code, input, variables } = this.#question;
    this.#define('input', input);
    this.#define('variables', variables);
    const result = this.#context.evalCode(asProgram(code), 'tool.js');
    if (result.error) return this.#failure(result.error);
    return result.value.consume((value) => this.#settled(value));
  }

  /** Defines a global variable of the code, parsed from JSON by the sandbox itself. */
  #define(name: string, json: string): void {
    const context = this.#context;
    context.newString(json).consume((handle) => context.setProp(context.global, name, handle));
    context.unwrapResult(context.evalCode(`globalThis.${name} = JSON.parse(${name})`)).dispose();
  }

  /** Runs a promise's jobs as long as they may settle it. */
  #settled(value: QuickJSHandle): Outcome {
    for (;;) {
      const state = this.#context.getPromiseState(value);
      if (state.type === 'rejected') return this.#failure(state.error);
      if (state.type === 'fulfilled') {
        if (state.notAPromise) return this.#json(value);
        return state.value.consume((settled) => this.#json(settled));
      }
      if (this.#isLate) return this.#late;
      if (!this.#runtime.hasPendingJob()) return { error: 'the result is a promise that nothing settles' };
      const ran = this.#runtime.executePendingJobs(jobsAtOnce);
      if (ran.error) return this.#failure(ran.error);
    }
  }

  #json(value: QuickJSHandle): Outcome {
    const context = this.#context;
    context.setProp(context.global, 'result', value);
    const written = context.evalCode('JSON.stringify(result) ?? "null"');
    if (written.error) return this.#failure(written.error);
    const json = written.value.consume((text) => context.getString(text));
    if (json.length > mostCharacters) {
      return { error: `the result has more than ${mostCharacters} characters` };
    }
    return { json };
  }

  /** The thrown error, as one line. */
  #failure(error: QuickJSHandle): Outcome {
    return error.consume((thrown) => {
      if (this.#isLate) return this.#late;
      const context = this.#context;
      const words = ['name', 'message'].map((member) =>
        context.getProp(thrown, member).consume((part) => this.#text(part)),
      );
      const said = words.filter((word) => word !== '').join(': ') || this.#text(thrown);
      return { error: (said || 'the code threw a value').replaceAll(/\s+/g, ' ').slice(0, 300) };
    });
  }

  #text(value: QuickJSHandle): string {
    return this.#context.typeof(value) === 'string' ? this.#context.getString(value) : '';
  }

  /** By the thread's CPU time: on a busy machine the clock runs on without it. */
  get #isLate(): boolean {
    if (performance.now() < this.#deadline) return false;
    const { user, system } = process.threadCpuUsage(this.#began);
    return user + system >= this.#question.cpuMs * 1000;
  }

  get #late(): Outcome {
    return { error: `the code ran longer than ${this.#question.cpuMs} ms` };
  }
}
