/**
 * Key presses of a peer that may send each one twice: as RFC 4733 event and as SIP INFO. The two come over different
 * paths, so either may be first, and the event is reported at its end while the INFO may be sent at its beginning.
 * Two reports of one key from the two ways are one press when the times at which the key was down are less than
 * `slackMs` apart. Each report is matched once: a caller who presses 1 twice has pressed it twice.
 */
import type { DtmfEvent } from '../../call/ports/media.ts';

export type KeyWay = 'event' | 'info';

/** An INFO may wait for a retransmission of its TCP segment. */
const slackMs = 1_000;
/** More presses than can be made within the slack of a long one. */
const remembered = 32;

interface Unmatched extends DtmfEvent {
  readonly way: KeyWay;
  readonly endedMs: number;
}

export class KeyMerge {
  /** Reported presses that the other way has not reported, oldest first. */
  #unmatched: Unmatched[] = [];

  /**
   * @param nowMs on any monotonic clock
   * @returns whether it is a press that has not been reported yet
   */
  isNew(way: KeyWay, press: DtmfEvent, nowMs: number): boolean {
    const { digit, durationMs } = press;
    const twin = this.#unmatched.findIndex(
      (other) =>
        other.way !== way &&
        other.digit === digit &&
        // The later report ends last; its press began `durationMs` before.
        nowMs - durationMs - other.endedMs < slackMs,
    );
    if (twin >= 0) {
      this.#unmatched.splice(twin, 1);
      return false;
    }
    this.#unmatched.push({ digit, durationMs, way, endedMs: nowMs });
    if (this.#unmatched.length > remembered) this.#unmatched.shift();
    return true;
  }
}
