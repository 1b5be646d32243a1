/**
 * What one call may have of the memory for reports that the disk has not taken yet. That memory is for all: when it runs
 * out new calls are refused. So once a quarter of it is in use, a call that already has its share gets no further lines
 * and traces into it, and its transcript says so, and no measurements of any call and no refused ones get into it. Records of calls are
 * never dropped for this.
 */
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { newId } from '#shared/ids.ts';
import { reportOf } from './call-records.ts';
import type { HeldReport } from './held-reports.ts';

/** Octets of lines and traces of a call that wait for the disk, once a quarter of the memory is in use. */
const callShareBytes = 65_536;

const sentence =
  'Lines are left out here: the edge could not store them, and this call had its share of the memory.';

export class CallShares {
  readonly #quarter: number;
  readonly #octets = new Map<string, number>();
  readonly #told = new Set<string>();

  /** @param maxBytes of the memory */
  constructor(maxBytes: number) {
    this.#quarter = maxBytes / 4;
  }

  /**
   * @param used octets of the memory that are in use
   * @returns the report; once a sentence in its place; null: it is dropped
   */
  admit(at: string, body: ReportBody, used: number): HeldReport | null {
    const report = reportOf(at, body);
    // Of several calls, and worth the least.
    if (body.type === 'measured' || body.type === 'refused') return used < this.#quarter ? report : null;
    if (body.type !== 'transcript' && body.type !== 'trace') return report;
    const id = body.call_id;
    const before = this.#octets.get(id) ?? 0;
    if (used < this.#quarter || before < callShareBytes) {
      this.#octets.set(id, before + report.body.length);
      return report;
    }
    if (this.#told.has(id)) return null;
    this.#told.add(id);
    const line = {
      id: newId(),
      at,
      user: 'agent-action' as const,
      text: sentence,
      node_id: null,
      node_name: null,
      fact: { kind: 'lines_left_out' as const },
    };
    return reportOf(at, { type: 'transcript', call_id: id, entries: [line] });
  }

  /** The disk has taken all. */
  clear(): void {
    this.#octets.clear();
    this.#told.clear();
  }
}
