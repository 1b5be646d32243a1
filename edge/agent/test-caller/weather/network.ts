/** The caller's network: loses, delays and reorders its packets, by seed. */
import type { Weather } from '#shared/agent-test-weather.ts';
import type { Chance } from '#shared/chance.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import type { PacketWay } from '../../../call/ports/media.ts';

/** A packet that is overtaken comes so much later: behind the next one or two of 20 ms, ms. */
const overtakenMs = 50;
/** Two packets that are not to be reordered are this far apart, ms. */
const apartMs = 0.5;
/** A shorter delay is none, ms. */
const leastMs = 1;

export class CallerNetwork implements PacketWay {
  readonly #weather: Weather;
  readonly #chance: Chance;
  readonly #clock: Clock;
  readonly #waiting = new Set<Timer>();
  #isLosing = false;
  #wasOvertaken = false;
  /** When the last packet that kept its place left. */
  #lastAt = 0;
  #beganAt: number | null = null;
  readonly counts = { packets: 0, dropped: 0, overtaken: 0 };

  constructor(weather: Weather, chance: Chance, clock: Clock) {
    this.#weather = weather;
    this.#chance = chance;
    this.#clock = clock;
  }

  send(packet: Buffer, pass: (packet: Buffer) => void): void {
    this.counts.packets++;
    const now = this.#clock.elapsed();
    this.#beganAt ??= now;
    if (this.#loses()) {
      this.counts.dropped++;
      return;
    }
    const isOvertaken = this.#isOvertaken();
    let at = now + this.#delayAt(now - this.#beganAt);
    if (isOvertaken) {
      at += overtakenMs;
      this.counts.overtaken++;
    } else {
      at = Math.max(at, this.#lastAt + apartMs);
      this.#lastAt = at;
    }
    if (at - now < leastMs) {
      pass(packet);
      return;
    }
    // The sender uses its buffer again.
    const copy = Buffer.from(packet);
    const timer = this.#clock.after(at - now, () => {
      this.#waiting.delete(timer);
      pass(copy);
    });
    this.#waiting.add(timer);
  }

  /** Packets on their way are lost. */
  close(): void {
    for (const timer of this.#waiting) timer.cancel();
    this.#waiting.clear();
  }

  /** A fast clock sends ever earlier than ours: it has a lead to use up. @param sinceMs since the first packet */
  #delayAt(sinceMs: number): number {
    const { drift_ppm: drift = 0, jitter_ms: jitter = 0 } = this.#weather;
    const lead = drift < 0 ? leadMs : 0;
    return Math.max(0, lead + (sinceMs * drift) / 1e6) + (jitter > 0 ? this.#chance.next() * jitter : 0);
  }

  /** Two states (Gilbert): the wanted share, in bursts of the wanted mean length. */
  #loses(): boolean {
    const { loss_percent = 0, loss_burst = 1 } = this.#weather;
    const share = loss_percent / 100;
    if (share === 0) return false;
    const leaves = 1 / Math.max(loss_burst, 1 / (1 - share));
    const enters = (share * leaves) / (1 - share);
    this.#isLosing = this.#chance.next() < (this.#isLosing ? 1 - leaves : enters);
    return this.#isLosing;
  }

  /** Never two in a row: the second would not overtake the first. */
  #isOvertaken(): boolean {
    const share = (this.#weather.reorder_percent ?? 0) / 100;
    if (share === 0) return false;
    this.#wasOvertaken = !this.#wasOvertaken && this.#chance.next() < share / (1 - share);
    return this.#wasOvertaken;
  }
}

/** Enough for seven minutes at the fastest clock, ms. */
const leadMs = 200;
