/**
 * The lines of one call on their way into its thread. The edge reports a line of the agent when its sound begins, and
 * again when the caller cut it off, with the words that were heard, or none. So it waits until it is settled:
 *
 *     reported --(the caller's next line, the end of the call, or 10 s)--> settled: a message of the thread
 *
 * Pure.
 */
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';

export type SpokenLine = Pick<TranscriptEntry, 'id' | 'at' | 'user' | 'text'>;

interface Pending {
  line: SpokenLine;
  /** The part of the transcript that it came with. */
  readonly part: number;
  /** When it came, ms. */
  readonly since: number;
}

/** Longer than most lines take to say. */
const settledMs = 10_000;

export class PendingLines {
  /** In their order. */
  readonly #pending = new Map<string, Pending>();
  readonly #settled: Set<string>;
  #lastPart: number;

  /** @param settled lines that are in the thread @param lastPart the part of the transcript that was copied last */
  constructor(settled: readonly string[], lastPart: number) {
    this.#settled = new Set(settled);
    this.#lastPart = lastPart;
  }

  /** The part of the transcript that was read last. */
  get lastPart(): number {
    return this.#lastPart;
  }

  /** The last part of which all lines are settled. */
  get copiedPart(): number {
    const [first] = this.#pending.values();
    return first ? first.part - 1 : this.#lastPart;
  }

  get waiting(): readonly SpokenLine[] {
    return [...this.#pending.values()].map(({ line }) => line);
  }

  /** @returns lines that are in the thread and were not heard to their end */
  add(part: number, entries: readonly TranscriptEntry[], now: number): SpokenLine[] {
    this.#lastPart = part;
    const revised: SpokenLine[] = [];
    for (const line of entries) {
      if (line.user === 'agent-action') continue;
      const known = this.#pending.get(line.id);
      if (known) known.line = line;
      else if (this.#settled.has(line.id)) revised.push(line);
      else this.#pending.set(line.id, { line, part, since: now });
    }
    return revised;
  }

  /** Takes out the lines that are settled now. @param isOver whether the call has ended */
  settle(now: number, isOver: boolean): SpokenLine[] {
    const all = [...this.#pending.values()];
    const last = isOver
      ? all.length - 1
      : all.findLastIndex(({ line, since }) => line.user === 'user' || now - since >= settledMs);
    const settled = all.slice(0, last + 1).map(({ line }) => line);
    for (const { id } of settled) {
      this.#pending.delete(id);
      this.#settled.add(id);
    }
    return settled;
  }
}
