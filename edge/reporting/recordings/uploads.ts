/**
 * Sends recordings to control while their calls go on, in parts, and deletes what control has all of.
 *
 *     <id>.part ──end of the call──> <id>.rec ──complete──> deleted
 *      │   └── a crash: the next start, or `complete`, keeps what is whole ──┘
 *      └──begin, parts──> control
 *
 * Each look takes the files one after the other, the oldest first and those that fail last: of a growing one a part of
 * whole chunks at most, of a complete one the rest. Control says how much it has: after an outage of either side the next
 * part is the one it lacks. What control refuses for good stays as `<id>.refused`, for the operator.
 */
import { type FileHandle, open, readdir, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Timer } from '#shared/clock.ts';
import { completeSuffix, growingSuffix } from '#shared/recording/format.ts';
import { ControlRecordings, Refused, type StoredRecording, Unreachable } from './control-recordings.ts';
import { headerOf, readPart, sizeOf, wholeBytes, wholeChunks } from './growing-file.ts';

const refusedSuffix = '.refused';
/** Of one request. */
const partBytes = 524_288;
/** New octets of a growing file that are worth a request: ten seconds. */
const growthBytes = 163_840;
/** How often the folder is looked at, ms. */
const lookEveryMs = 2_000;
/** Longest pause after failures, ms. */
const longestPauseMs = 60_000;
/** Recordings that fail in one look, although control can be reached, before the rest waits. */
const failuresPerLook = 5;
/**
 * A file that has not grown for this long, ms, is not written any more: it could not get its final name. Longer than any
 * call, which may be on hold all the time.
 */
const abandonedMs = 13 * 3_600_000;

export interface RecordingUploadsOptions {
  readonly folder: string;
  readonly room: { count(bytes: number): void; discount(bytes: number): void };
  /** http(s) base URL of the control plane */
  readonly controlUrl: string;
  readonly edgeToken: string;
  readonly clock: Clock;
  readonly log: Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>;
  readonly count: (outcome: 'sent' | 'deleted' | 'refused' | 'failed') => void;
}

/** A growing file, as it was at the last look. */
interface Growing {
  size: number;
  /** `clock.elapsed()` when it had another size. */
  since: number;
  /** Octets that control has; null: unknown. `never`: it takes no more, which the end of the call settles. */
  received: number | 'never' | null;
}

export class RecordingUploads {
  readonly #options: RecordingUploadsOptions;
  readonly #control: ControlRecordings;
  readonly #ending = new AbortController();
  readonly #growing = new Map<string, Growing>();
  /** Names of growing files whose writer is gone. */
  readonly #left = new Set<string>();
  /** Names of files that failed at their last attempt, by themselves or by control's answer: others go before them. */
  readonly #failing = new Set<string>();
  #timer: Timer | null = null;
  #running: Promise<void> = Promise.resolve();
  /** Looks in a row that sent nothing because of a failure. */
  #failures = 0;

  constructor(options: RecordingUploadsOptions) {
    this.#options = options;
    this.#control = new ControlRecordings({ ...options, ending: this.#ending.signal });
  }

  /**
   * Completes what an earlier process left, and counts it. Call before anything is recorded. What fails is tried again with
   * each look: one file keeps neither the others nor the edge.
   */
  async recover(): Promise<void> {
    const { folder, room } = this.#options;
    for (const name of await this.#names()) {
      if (name.endsWith(growingSuffix)) this.#left.add(name);
      else room.count(await sizeOf(join(folder, name)));
    }
    await this.#completeLeft();
  }

  async #completeLeft(): Promise<void> {
    const names = new Set(await this.#names());
    for (const name of [...this.#left]) {
      try {
        if (names.has(name)) await this.#completeAndCount(name);
        this.#left.delete(name);
      } catch (error) {
        this.#options.log.warn(
          { file: name, error: textOf(error) },
          'a recording could not be completed; it is tried again',
        );
      }
    }
  }

  /** Of this process: its room is counted. */
  async #completeAndCount(name: string): Promise<void> {
    const { folder, room } = this.#options;
    const kept = await this.#complete(name);
    if (kept) room.count(await sizeOf(join(folder, kept)));
  }

  /** The thread that wrote these recordings is gone: they are completed before the next files are sent. */
  complete(ids: readonly string[]): void {
    for (const id of ids) this.#left.add(id + growingSuffix);
  }

  start(): void {
    this.#lookAfter(lookEveryMs);
  }

  async close(): Promise<void> {
    this.#ending.abort();
    this.#timer?.cancel();
    await this.#running;
  }

  #lookAfter(pauseMs: number): void {
    this.#timer = this.#options.clock.after(pauseMs, () => {
      this.#running = this.#look();
    });
  }

  async #look(): Promise<void> {
    await this.#completeLeft();
    const names = await this.#names();
    this.#forgetAllBut(new Set(names));
    let [sent, failed] = [0, 0];
    for (const name of this.#inTurn(names)) {
      if (this.#ending.signal.aborted) return;
      const outcome = await this.#take(name);
      // Also one that failed before: it is behind those that have not been tried for longer.
      this.#failing.delete(name);
      if (outcome === 'failed') this.#failing.add(name);
      if (outcome === 'sent') sent++;
      if (outcome === 'failed') failed++;
      if (outcome === 'unreachable' || failed === failuresPerLook) {
        failed = failuresPerLook;
        break;
      }
    }
    if (this.#ending.signal.aborted) return;
    this.#failures = failed > 0 && sent === 0 ? this.#failures + 1 : 0;
    this.#lookAfter(Math.min(longestPauseMs, lookEveryMs * 2 ** Math.min(this.#failures, 10)));
  }

  #forgetAllBut(names: ReadonlySet<string>): void {
    for (const name of this.#growing.keys()) if (!names.has(name)) this.#growing.delete(name);
    for (const name of this.#failing) if (!names.has(name)) this.#failing.delete(name);
  }

  /** The oldest first; after them those that fail, each in its turn. */
  #inTurn(names: readonly string[]): string[] {
    return [...names.filter((name) => !this.#failing.has(name)).sort(), ...this.#failing];
  }

  async #take(name: string): Promise<'sent' | 'nothing' | 'failed' | 'unreachable'> {
    const { log, count } = this.#options;
    try {
      if (name.endsWith(completeSuffix)) return await this.#finish(name);
      return name.endsWith(growingSuffix) ? await this.#grow(name) : 'nothing';
    } catch (error) {
      if (this.#ending.signal.aborted) return 'nothing';
      const growing = this.#growing.get(name);
      if (growing) growing.received = error instanceof Refused ? 'never' : null;
      if (error instanceof Refused) return 'nothing';
      count('failed');
      log.warn({ file: name, error: textOf(error) }, 'a recording could not be sent; it is tried again');
      return error instanceof Unreachable ? 'unreachable' : 'failed';
    }
  }

  /** Sends a part of what a growing file has more than control. */
  async #grow(name: string): Promise<'sent' | 'nothing'> {
    const { folder, clock } = this.#options;
    const path = join(folder, name);
    const size = await sizeOf(path);
    const now = clock.elapsed();
    const known = this.#growing.get(name) ?? { size: 0, since: now, received: null };
    this.#growing.set(name, known);
    if (size !== known.size) Object.assign(known, { size, since: now });
    else if (now - known.since > abandonedMs) {
      // Its writer counted it when it ended.
      await this.#complete(name);
      return 'nothing';
    }
    const { received } = known;
    if (received === 'never' || size - (received ?? 0) < growthBytes) return 'nothing';
    return this.#opened<'sent'>(path, async (file) => {
      const stored = received === null ? await this.#begin(file) : { state: 'uploading', received };
      known.received = await this.#sendPart(file, idOf(name), stored);
      return 'sent';
    });
  }

  /** @returns octets that control has then; `never`: it takes no more */
  async #sendPart(
    file: FileHandle,
    id: string,
    { state, received }: { readonly state: string; readonly received: number },
  ): Promise<number | 'never'> {
    if (state !== 'uploading') return 'never';
    const part = await wholeChunks(file, received, partBytes);
    if (part.length === 0) return 'never';
    const after = await this.#control.part(id, received, part);
    return after.state === 'uploading' ? after.received : 'never';
  }

  async #begin(file: FileHandle): Promise<StoredRecording> {
    const header = await headerOf(file);
    if (!header) throw new Refused('the file has no header');
    return this.#control.begin(header);
  }

  /** Sends what control lacks of a complete file, and deletes it. */
  async #finish(name: string): Promise<'sent' | 'nothing'> {
    const { folder, room, log, count } = this.#options;
    const path = join(folder, name);
    const size = await sizeOf(path);
    try {
      const outcome = await this.#opened(path, (file) => this.#sendRest(file, idOf(name), size));
      if (outcome === 'nothing') return outcome;
      await rm(path, { force: true });
      room.discount(size);
      count(outcome);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      count('refused');
      log.error({ file: name, error: error.message }, 'control refuses a recording; it stays on this edge');
      await rename(path, path.slice(0, -completeSuffix.length) + refusedSuffix);
    }
    return 'sent';
  }

  async #sendRest(file: FileHandle, id: string, size: number): Promise<'sent' | 'deleted'> {
    let stored = await this.#begin(file);
    while (stored.state === 'uploading' && stored.received < size) {
      const { received } = stored;
      const part = await readPart(file, received, Math.min(size, received + partBytes));
      stored = await this.#control.part(id, received, part);
    }
    if (stored.state === 'uploading') stored = await this.#control.complete(id);
    return stored.state === 'deleted' ? 'deleted' : 'sent';
  }

  /** Gives a growing file that nobody writes its final name, with what is whole of it. @returns its name; null: nothing is */
  async #complete(name: string): Promise<string | null> {
    const { folder, log } = this.#options;
    const path = join(folder, name);
    const whole = await wholeBytes(path);
    if (whole === 0) {
      await rm(path, { force: true });
      return null;
    }
    log.info({ file: name, octets: whole }, 'a recording whose writer is gone was kept up to its end');
    await truncate(path, whole);
    await rename(path, join(folder, idOf(name) + completeSuffix));
    return idOf(name) + completeSuffix;
  }

  async #opened<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T | 'nothing'> {
    let file: FileHandle;
    try {
      file = await open(path, 'r');
    } catch (error) {
      // The call ended since the folder was read.
      if (isMissing(error)) return 'nothing';
      throw error;
    }
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  }

  async #names(): Promise<string[]> {
    return readdir(this.#options.folder).catch(() => []);
  }
}

function idOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
