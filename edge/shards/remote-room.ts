/** A room in a shard, as calls see it from the main thread. */
import type { MediaLeg, MediaRoom, RoomOptions } from '../call/ports/media.ts';
import { LegsApart } from '../call/refused.ts';
import type { Channel } from './channel.ts';
import { toShard } from './messages.ts';
import { RemoteLeg } from './remote-leg.ts';

export class RemoteRoom implements MediaRoom {
  readonly id: number;
  readonly #channel: Channel;
  readonly #options: RoomOptions;
  readonly #used: (inUse: boolean) => void;
  readonly #legs = new Map<number, MediaLeg>();

  /** @param used told when its first leg enters, and when its last one has left */
  constructor(id: number, channel: Channel, options: RoomOptions, used: (inUse: boolean) => void) {
    this.id = id;
    this.#channel = channel;
    this.#options = options;
    this.#used = used;
  }

  enter(leg: MediaLeg, tones: boolean): void {
    const id = this.#idOf(leg);
    if (this.#legs.size === 0) this.#used(true);
    this.#legs.set(id, leg);
    this.#channel.tell(toShard.enterRoom, { room: this.id, leg: id, tones });
  }

  mute(leg: MediaLeg, on: boolean): void {
    this.#channel.tell(toShard.muteInRoom, { room: this.id, leg: this.#idOf(leg), on });
  }

  leave(leg: MediaLeg): void {
    const id = this.#idOf(leg);
    if (!this.#legs.delete(id)) return;
    this.#channel.tell(toShard.leaveRoom, { room: this.id, leg: id });
    if (this.#legs.size === 0) this.#used(false);
  }

  /** The shard has heard a leg. */
  heard(legId: number, speaks: boolean): void {
    const leg = this.#legs.get(legId);
    if (leg) this.#options.heard?.(leg, speaks);
  }

  #idOf(leg: MediaLeg): number {
    if (!(leg instanceof RemoteLeg) || leg.channel !== this.#channel) throw new LegsApart();
    return leg.id;
  }
}
