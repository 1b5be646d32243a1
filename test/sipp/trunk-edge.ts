/** An edge with outbound trunks, for SIPp as the far end. Engine, signaling, routes and media are real. */
import { systemClock } from '#shared/clock.ts';
import { parseNetworks } from '#shared/outgoing-targets.ts';
import { ToneAgent } from '../../edge/agent/tone-agent.ts';
import { createMedia, type RunningMedia } from '../../edge/media/media.ts';
import { DnsClient } from '../../edge/trunks/dns-client.ts';
import { failoverMemory } from '../../edge/trunks/failover-store.ts';
import { Trunks } from '../../edge/trunks/trunks.ts';
import { TestEdge } from '../kit/edge/signaling.ts';
import { FakeAgents } from '../kit/fakes/fake-agents.ts';
import { acceptTestWorker, testWorkerBin } from '../kit/fakes/media-worker.ts';
import { freeUdpRange } from '../kit/programs/ports.ts';

export interface TrunkEdge {
  readonly edge: TestEdge;
  readonly trunks: Trunks;
  readonly media: RunningMedia;
  stop(): Promise<void>;
}

class ToneAgents extends FakeAgents {
  override create() {
    return new ToneAgent(400);
  }
}

/** Media of one worker on `ports` free ports of loopback. */
export async function testMedia(ports: number): Promise<RunningMedia> {
  const portMin = await freeUdpRange(ports);
  return createMedia({
    listenIp: '127.0.0.1',
    publicIp: null,
    portMin,
    portMax: portMin + ports - 1,
    workers: 1,
    workerBin: testWorkerBin(),
    acceptUnmarkedWorker: acceptTestWorker(),
  });
}

/** Trunks that may use loopback and are not probed. */
export function loopbackTrunks(): Trunks {
  const allowed = parseNetworks(['127.0.0.0/8']);
  return new Trunks({
    clock: systemClock,
    random: () => 0.5,
    store: failoverMemory(),
    dns: new DnsClient({ servers: [], timeoutMs: 1_000, tries: 1 }),
    allowed: () => allowed,
    ca: [],
    // A SIPp scenario would handle a probe as its call.
    prober: { probe: () => new Promise(() => {}) },
    report: () => {},
    moved: () => {},
  });
}

/** Starts an edge whose agents are a tone, with {@link loopbackTrunks}. */
export async function startTrunkEdge(options: { readonly noResponseMs?: number } = {}): Promise<TrunkEdge> {
  const media = await testMedia(100);
  const trunks = loopbackTrunks();
  const edge = await TestEdge.start({
    media,
    agents: new ToneAgents(),
    outbound: { routes: trunks, ringTimeoutMs: 20_000 },
    ...options,
  });
  return {
    edge,
    trunks,
    media,
    stop: async () => {
      await edge.stop();
      trunks.close();
      await media.close();
    },
  };
}
