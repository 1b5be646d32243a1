/**
 * An agent in a room: it hears the mix and speaks into it, as a leg's endpoint does, but there is no leg. So it has a turn
 * of its own every 20 ms, and the room seats it like a leg.
 */
import type { AudioEndpoint, RoomLeg } from '../../call/ports/media.ts';
import { frameConverter } from '../codec/resample.ts';
import type { PacedLeg, Playout } from '../playout.ts';

export class AgentParty implements RoomLeg, PacedLeg {
  /** The codecs of the others decide about the room's rate. */
  readonly codec = null;
  readonly #agent: AudioEndpoint;
  readonly #playout: Playout;
  readonly #failed: (error: Error) => void;
  #seat: AudioEndpoint | null = null;
  #stop: (() => void) | null = null;
  #spoken = new Int16Array(0);
  #mixed = new Int16Array(0);
  #toRoom = frameConverter(8000, 8000);
  #toAgent = frameConverter(8000, 8000);

  /** @param failed called when the agent throws; it is closed */
  constructor(agent: AudioEndpoint, playout: Playout, failed: (error: Error) => void) {
    this.#agent = agent;
    this.#playout = playout;
    this.#failed = failed;
  }

  attach(seat: AudioEndpoint | null): void {
    this.#seat = seat;
    if (!seat) {
      this.close();
      return;
    }
    const own = this.#agent.sampleRate;
    this.#spoken = new Int16Array(own / 50);
    this.#mixed = new Int16Array(seat.sampleRate / 50);
    this.#toRoom = frameConverter(own, seat.sampleRate);
    this.#toAgent = frameConverter(seat.sampleRate, own);
    this.#stop ??= this.#playout.add(this);
  }

  close(): void {
    this.#seat = null;
    this.#stop?.();
    this.#stop = null;
  }

  tick(): void {
    const seat = this.#seat;
    if (!seat) return;
    if (this.#agent.read(this.#spoken)) seat.write?.(this.#toRoom(this.#spoken));
    if (!seat.read(this.#mixed)) this.#mixed.fill(0);
    this.#agent.write?.(this.#toAgent(this.#mixed));
  }

  skip(): void {}

  failed(error: Error): void {
    this.close();
    this.#failed(error);
  }
}
