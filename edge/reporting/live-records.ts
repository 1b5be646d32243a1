/** The latest record of each live call, JSON text. */
import type { HeldReport } from './held-reports.ts';

export class LiveRecords {
  readonly #records = new Map<string, string>();
  /** Characters of all. */
  octets = 0;

  /** By id of the call. */
  get records(): ReadonlyMap<string, string> {
    return this.#records;
  }

  /** Takes what a report says of a call. */
  follow({ call }: HeldReport): void {
    if (call?.ended) this.#drop(call.id);
    else if (call) this.keep(call.id, call.record);
  }

  keep(id: string, record: string): void {
    this.#drop(id);
    this.#records.set(id, record);
    this.octets += record.length;
  }

  clear(): void {
    this.#records.clear();
    this.octets = 0;
  }

  #drop(id: string): void {
    this.octets -= this.#records.get(id)?.length ?? 0;
    this.#records.delete(id);
  }
}
