/**
 * Whose recordings take the places of the work on storages, so that no storage takes them from the others: those of
 * organizations leave some to the operator's, slow ones leave some to fast ones, and a failing one has one.
 */
import type { Db, RecordingObjectRow, Without } from '../../db/index.ts';
import { type DueObject, dueObjects, storagesOf } from './objects-store.ts';

/** Of all places, those of storages of organizations. */
const mostOfOwn = 6;
/** Of all places, those of storages that were slow. */
const mostOfSlow = 4;
/** A slow attempt takes longer than this and a second for each megabyte, ms. */
const slowAfterMs = 5_000;
const bytesPerMs = 1_000;
/** Time after a slow attempt for which a storage counts as slow, ms. */
const slowForMs = 600_000;
/** Storages that are remembered as slow; the oldest are forgotten. */
const mostRemembered = 1_000;

export class Shares {
  /** Until when; in the order of that. Of this replica: each learns it by itself. */
  readonly #slow = new Map<string, number>();

  /** An attempt has ended. @param now ms @param tookMs how long it took */
  took({ storage_id, size }: RecordingObjectRow, now: number, tookMs: number): void {
    if (tookMs <= slowAfterMs + size / bytesPerMs) return;
    this.#slow.delete(storage_id);
    this.#slow.set(storage_id, now + slowForMs);
    const [oldest] = this.#slow.keys();
    if (this.#slow.size > mostRemembered && oldest !== undefined) this.#slow.delete(oldest);
  }

  /** What of the due may begin. @param now ISO @param without as of `DueWork`; its ids are what is running */
  async due(db: Db, now: string, without: Without, limit: number): Promise<RecordingObjectRow[]> {
    const at = Date.parse(now);
    const isSlow = ({ storage_id }: Pick<DueObject, 'storage_id'>) => (this.#slow.get(storage_id) ?? 0) > at;
    const running: Pick<DueObject, 'storage_id' | 'owner' | 'failing_since'>[] = [
      ...(await storagesOf(db, without.ids)),
    ];
    const count = (counts: (one: (typeof running)[number]) => boolean) => running.filter(counts).length;
    const ownFull = () => count(({ owner }) => owner !== null) >= mostOfOwn;
    const slowFull = () => count(isSlow) >= mostOfSlow;
    const failing = running.filter(({ failing_since }) => failing_since !== null);
    const storages = failing.map(({ storage_id }) => storage_id);
    if (slowFull()) storages.push(...[...this.#slow.keys()].filter((storage_id) => isSlow({ storage_id })));
    const found = await dueObjects(db, now, { ...without, storages, own: ownFull() }, limit);
    return found.filter((one) => {
      const isFailing =
        one.failing_since !== null && count((other) => other.storage_id === one.storage_id) > 0;
      if (isFailing || (one.owner !== null && ownFull()) || (isSlow(one) && slowFull())) return false;
      running.push(one);
      return true;
    });
  }
}
