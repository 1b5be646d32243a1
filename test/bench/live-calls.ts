/** Calls in progress, as an edge reports them, that speak, end and are followed by others. */
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord, type EdgeClient, reportFrame } from '../kit/control/edge-client.ts';
import { uuid } from '../kit/uuid.ts';

/** Reports in a frame. */
const framed = 200;

export class LiveCalls {
  readonly #edge: EdgeClient;
  readonly #orgId: string;
  readonly #calls: CallRecord[] = [];
  readonly #beginsAt = Date.now() - 3_600_000;
  #seq = 1;
  #made = 0;
  #moves = 0;

  constructor(edge: EdgeClient, orgId: string) {
    this.#edge = edge;
    this.#orgId = orgId;
  }

  /** Who placed the call that began first. */
  get oldest(): string {
    return this.#calls[0]?.from ?? '';
  }

  /** Resolves when control has stored that many calls. */
  async begin(count: number): Promise<void> {
    while (this.#made < count) {
      const calls = Array.from({ length: Math.min(framed, count - this.#made) }, () => this.#next());
      await this.#report(calls.map((call) => ({ type: 'call', call })));
    }
  }

  /** Of ten changes eight are words that are said, one is the end of a call, and one a new call. */
  async move(changes: number): Promise<void> {
    const reports = Array.from({ length: changes }, (): ReportBody => {
      const move = this.#moves++;
      // Anywhere in the table, but never the oldest.
      const place = 1 + ((move * 7919) % (this.#calls.length - 1));
      const call = this.#calls[place];
      if (call === undefined || move % 10 === 1) return { type: 'call', call: this.#next() };
      if (move % 10 === 0) {
        this.#calls.splice(place, 1);
        return { type: 'call', call: { ...call, ended_at: new Date().toISOString(), status: 'completed' } };
      }
      const at = new Date().toISOString();
      const entry = { id: uuid(2, move), at, node_id: null, node_name: null };
      const said = `What I said as number ${move} of all.`;
      return {
        type: 'transcript',
        call_id: call.id,
        entries: [{ ...entry, user: move % 2 === 0 ? 'user' : 'assistant', text: said }],
      };
    });
    await this.#report(reports);
  }

  #next(): CallRecord {
    const index = this.#made++;
    // One after the other, so that it is known which began first.
    const started = new Date(this.#beginsAt + index).toISOString();
    const call = callRecord(this.#orgId, {
      id: uuid(1, index),
      sip_call_id: `${index}@pbx.example.com`,
      from: `+141555${String(index).padStart(5, '0')}`,
      started_at: started,
      answered_at: started,
      ended_at: null,
      status: 'in-progress',
      sip_code: null,
      sip_reason: null,
      termination: null,
      hangup_by: null,
      media: null,
    });
    this.#calls.push(call);
    return call;
  }

  async #report(reports: readonly ReportBody[]): Promise<void> {
    this.#edge.send(reportFrame(this.#seq, reports, new Date().toISOString()));
    this.#seq += reports.length;
    await this.#edge.next('ack');
  }
}
