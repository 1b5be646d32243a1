/**
 * A media shard as a thread, without packets: its legs are fakes. An offer that contains `throw` or `hang` ends it or
 * makes it hang.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '#shared/clock.ts';
import type { LocalLeg, MediaLegOptions } from '../../../edge/call/ports/media.ts';
import { CallRefused } from '../../../edge/call/refused.ts';
import { Channel } from '../../../edge/shards/channel.ts';
import { toMain, toShard } from '../../../edge/shards/messages.ts';
import { ShardHost } from '../../../edge/shards/shard-host.ts';
import { FakeAgents } from '../fakes/fake-agents.ts';
import { FakeMedia } from '../fakes/fake-media.ts';

/** What such a thread is started with. */
export interface FakeShardData {
  /** Legs that it can have. */
  readonly ports: number;
  /** Says that it cannot be used. */
  readonly unusable?: string;
}

class FragileMedia extends FakeMedia {
  readonly #ports: number;

  constructor(ports: number) {
    super();
    this.#ports = ports;
  }

  get open(): number {
    return this.legs.filter(({ closed }) => closed === 0).length;
  }

  override async createLeg(options: MediaLegOptions): Promise<LocalLeg> {
    if (this.open >= this.#ports) throw new CallRefused(503, 'no RTP port is free');
    await super.createLeg(options);
    const leg = this.last;
    const answer = leg.answer.bind(leg);
    leg.answer = async (offer) => {
      if (offer.includes('throw')) setImmediate(() => failUncaught());
      // A thread that hangs sleeps in its loop: the core is for the other tests.
      for (const never = new Int32Array(new SharedArrayBuffer(4)); offer.includes('hang'); )
        Atomics.wait(never, 0, 0, 10);
      return answer(offer);
    };
    return leg;
  }
}

function failUncaught(): never {
  throw new Error('a bug in the shard');
}

const port = parentPort;
if (port) {
  const { ports, unusable } = workerData as FakeShardData;
  const channel = new Channel(
    { post: (message) => port.postMessage(message), listen: (receive) => void port.on('message', receive) },
    (error) => {
      throw error;
    },
  );
  const media = new FragileMedia(ports);
  new ShardHost({ channel, clock: systemClock, media, agents: new FakeAgents() });
  channel.onTell(toShard.configure, () => {});
  channel.onAsk(toShard.stop, () => ({}));
  channel.onAsk(toShard.state, () => ({
    legs: media.open,
    ports_in_use: media.open,
    worker_deaths: 1,
    worker_hangs: 1,
    packets_here: 10,
    legs_without_keys: 0,
    packets_beyond_rate: 0,
    skipped_frames: 2,
    counters: { requests: 1 },
    gauges: { inside: 1 },
  }));
  if (unusable === undefined) channel.tell(toMain.ready, { codecs: ['PCMU'], ports });
  else {
    channel.tell(toMain.unusable, { why: unusable });
    port.close();
  }
}
