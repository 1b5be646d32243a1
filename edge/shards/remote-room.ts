/** A room in a shard, as calls see it from the main thread. */
import type { AudioEndpoint, MediaLeg, MediaRoom, RoomOptions } from '../call/ports/media.ts';
import { LegsApart } from '../call/refused.ts';
import type { Channel } from './channel.ts';
import { toShard } from './messages.ts';
import { RemoteAgent } from './remote-agent.ts';
import { RemoteLeg } from './remote-leg.ts';

export class RemoteRoom implements MediaRoom {
  readonly id: number;
  readonly #channel: Channel;
  readonly #options: RoomOptions;
  readonly #used: (inUse: boolean) => void;
  readonly #legs = new Map<number, MediaLeg>();
  /** Ids of legs and agents; no two have the same. */
  readonly #members = new Set<number>();

  /** @param used told when its first member enters, and when its last one has left */
  constructor(id: number, channel: Channel, options: RoomOptions, used: (inUse: boolean) => void) {
    this.id = id;
    this.#channel = channel;
    this.#options = options;
    this.#used = used;
  }

  enter(leg: MediaLeg, tones: boolean): void {
    const id = this.#idOf(leg);
    this.#legs.set(id, leg);
    this.#enter(id);
    this.#channel.tell(toShard.enterRoom, { room: this.id, leg: id, tones });
  }

  mute(leg: MediaLeg, on: boolean): void {
    this.#channel.tell(toShard.muteInRoom, { room: this.id, leg: this.#idOf(leg), on });
  }

  leave(leg: MediaLeg): void {
    const id = this.#idOf(leg);
    if (!this.#legs.delete(id)) return;
    this.#channel.tell(toShard.leaveRoom, { room: this.id, leg: id });
    this.#leave(id);
  }

  enterAgent(agent: AudioEndpoint): void {
    if (!(agent instanceof RemoteAgent) || agent.channel !== this.#channel) throw new LegsApart();
    if (this.#members.has(agent.id)) return;
    this.#enter(agent.id);
    this.#channel.tell(toShard.agentEntersRoom, { room: this.id, agent: agent.id });
  }

  leaveAgent(agent: AudioEndpoint): void {
    if (!(agent instanceof RemoteAgent) || !this.#members.has(agent.id)) return;
    this.#channel.tell(toShard.agentLeavesRoom, { room: this.id, agent: agent.id });
    this.#leave(agent.id);
  }

  #enter(id: number): void {
    if (this.#members.size === 0) this.#used(true);
    this.#members.add(id);
  }

  #leave(id: number): void {
    this.#members.delete(id);
    if (this.#members.size === 0) this.#used(false);
  }

  /** The shard has heard a leg. */
  heard(legId: number, speaks: boolean): void {
    const leg = this.#legs.get(legId);
    if (leg) this.#options.heard?.(leg, speaks);
  }

  /** The room is broken in the shard. */
  fail(error: Error): void {
    this.#options.failed?.(error);
  }

  /** An agent has failed, and has left the room in the shard. */
  agentFailed(error: Error): void {
    this.#options.agentFailed?.(error);
  }

  #idOf(leg: MediaLeg): number {
    if (!(leg instanceof RemoteLeg) || leg.channel !== this.#channel) throw new LegsApart();
    return leg.id;
  }
}
