/**
 * What was measured on calls since the last report about it, of all calls together. A few calls are reported at once; many
 * are gathered for a while, because each report about a call is a write to its rows.
 */
import type { MeasuredCall } from '#shared/edge-protocol/measured.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';

/** Samples and marks of a report: some 700 kB. */
const mostOfReport = 10_000;
/** Calls with something new at a time up to which nothing is held back: those of half a second of 500 calls. */
const fewCalls = 50;
/** How long more are gathered, ms: three samples of each. */
const gatherMs = 15_000;

interface Gathered {
  readonly quality: MeasuredCall['quality'];
  readonly marks: MeasuredCall['marks'];
}

export class MeasuredBatch {
  readonly #calls = new Map<string, Gathered>();
  #size = 0;
  /** When the first of it came. */
  #since = 0;

  /** @param now ms of the clock's elapsed time */
  isDue(now: number): boolean {
    if (this.#size >= mostOfReport) return true;
    return this.#calls.size > 0 && (this.#calls.size <= fewCalls || now - this.#since >= gatherMs);
  }

  add(calls: readonly MeasuredCall[], now: number): void {
    if (this.#calls.size === 0) this.#since = now;
    for (const { call_id, quality, marks } of calls) {
      const gathered = this.#calls.get(call_id) ?? { quality: [], marks: [] };
      this.#calls.set(call_id, gathered);
      gathered.quality.push(...quality);
      gathered.marks.push(...marks);
      this.#size += sizeOf({ quality, marks });
    }
  }

  /** The report of one call, or of all; it is forgotten. Null: nothing was measured. */
  take(callId?: string): Extract<ReportBody, { type: 'measured' }> | null {
    const ids = callId === undefined ? [...this.#calls.keys()] : [callId];
    const taken = ids.flatMap((id) => {
      const gathered = this.#calls.get(id);
      return gathered ? [{ call_id: id, ...gathered }] : [];
    });
    if (taken.length === 0) return null;
    for (const call of taken) {
      this.#calls.delete(call.call_id);
      this.#size -= sizeOf(call);
    }
    return { type: 'measured', calls: taken };
  }
}

function sizeOf({ quality, marks }: Gathered): number {
  return quality.reduce((sum, { samples }) => sum + samples.length, marks.length);
}
