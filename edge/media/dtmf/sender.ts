/**
 * Encodes key presses as RFC 4733 packets, one step per 20 ms:
 *
 *     step       0    1    2    3    4    5    6    7  |  0 of the next digit
 *     duration  20   40   60   80  100  100  100    -
 *     end bit                        E    E    E
 *
 * so a press lasts 100 ms and the next begins 60 ms later; its end is sent three times (section 2.5.1.4).
 */
import { codeOf, formatEvent } from './event.ts';

export interface DtmfPacket {
  readonly payload: Uint8Array;
  /** Set on the first packet of a press (section 2.5.1.1). */
  readonly marker: boolean;
  /** RTP timestamp of the start of the press, used in all its packets. */
  readonly timestamp: number;
}

const stepMs = 20;
const toneSteps = 5;
const endPackets = 3;
/** 100 ms of tone and 60 ms of pause. */
const digitSteps = 8;
/** `w`: half a second. */
const waitSteps = 25;
/** Volume reported to the peer, in dBm0 without the sign: that of an ordinary telephone. */
const volume = 10;

export class DtmfSender {
  /** Event codes; null for a wait. */
  readonly #queue: (number | null)[];
  readonly #ticksPerStep: number;
  #step = 0;
  #start = 0;

  /**
   * @param digits `0`-`9`, `*`, `#`, `A`-`D` and `w` (a pause of half a second), in either case
   * @param clockRate clock of the telephone-event format, Hz
   * @throws RangeError for any other character
   */
  constructor(digits: string, clockRate: number) {
    this.#queue = Array.from(digits, parseDigit);
    this.#ticksPerStep = (clockRate / 1000) * stepMs;
  }

  /** Whether steps remain. While true, events are sent instead of audio. */
  get active(): boolean {
    return this.#queue.length > 0;
  }

  /**
   * One step of 20 ms. Call it once per tick while `active`.
   * @param timestamp the stream's RTP timestamp at this tick
   * @returns the packet to send, or null in a pause
   */
  next(timestamp: number): DtmfPacket | null {
    const code = this.#queue[0];
    if (code === undefined) return null;
    const step = this.#step;
    this.#step++;
    if (this.#step === (code === null ? waitSteps : digitSteps)) {
      this.#queue.shift();
      this.#step = 0;
    }
    if (code === null || step >= toneSteps + endPackets - 1) return null;
    if (step === 0) this.#start = timestamp;
    const end = step >= toneSteps - 1;
    const duration = Math.min(step + 1, toneSteps) * this.#ticksPerStep;
    return {
      payload: formatEvent(code, end, volume, duration),
      marker: step === 0,
      timestamp: this.#start,
    };
  }
}

function parseDigit(digit: string): number | null {
  if (digit === 'w' || digit === 'W') return null;
  const code = codeOf(digit);
  if (code === undefined) {
    throw new RangeError(`'${digit}' is not a key: use 0-9, *, #, A-D, or w for a pause of half a second`);
  }
  return code;
}
