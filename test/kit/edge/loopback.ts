/** A media shard in the thread of the test: both ends of its protocol, joined without a thread. */
import { type Clock, systemClock } from '#shared/clock.ts';
import type { Agents } from '../../../edge/call/ports/agents.ts';
import type { LocalMedia } from '../../../edge/call/ports/media.ts';
import { Channel, type Port } from '../../../edge/shards/channel.ts';
import { Shard } from '../../../edge/shards/shard.ts';
import { ShardHost } from '../../../edge/shards/shard-host.ts';

/** Two ports; what is posted at one arrives at the other at once, as a copy. */
export function portPair(): readonly [Port, Port] {
  const ends: ((message: unknown) => void)[] = [];
  const port = (own: number, other: number): Port => ({
    post: (message) => ends[other]?.(structuredClone(message)),
    listen: (receive) => {
      ends[own] = receive;
    },
  });
  return [port(0, 1), port(1, 0)];
}

const broken = (error: Error): never => {
  throw error;
};

/** @param media @param agents behind the protocol */
export function loopback(media: LocalMedia, agents: Agents, clock: Clock = systemClock) {
  const [ours, theirs] = portPair();
  const host = new ShardHost({ channel: new Channel(theirs, broken), clock, media, agents });
  const uses = new Map<string, number>();
  const shard = new Shard({
    channel: new Channel(ours, broken),
    keyKnown: () => {},
    used: ({ callId }) => void uses.set(callId, (uses.get(callId) ?? 0) + 1),
    unused: (callId) => {
      const left = (uses.get(callId) ?? 0) - 1;
      if (left > 0) uses.set(callId, left);
      else uses.delete(callId);
    },
  });
  return { shard, host, uses };
}
