/**
 * Bridged calls: two SRTP parties each, 50 packets a second in each direction. First, as a baseline, each party with an
 * agent, then relayed inside the media worker, then transcoded. The far ends run in a separate process on the same
 * machine and share its cores.
 */
import type { AudioEndpoint, MediaLeg } from '../../edge/call/ports/media.ts';
import { createMedia, type RunningMedia } from '../../edge/media/media.ts';
import { type Column, markdownTable } from '../../scripts/bench/table.ts';
import { acceptTestWorker, testWorkerBin } from '../kit/fakes/media-worker.ts';
import { FarEnds } from './far-ends.ts';
import type { LoadCodec } from './media-load.ts';

export interface BridgeBenchOptions {
  /** Bridged calls of two parties each; 100 unless given. */
  readonly calls?: number;
  /** Seconds that are measured, after two to settle; 10 unless given. */
  readonly seconds?: number;
}

export interface BridgeBenchRow {
  readonly calls: number;
  readonly what: string;
  /** Percent of one core. */
  readonly workerPercent: number;
  readonly nodePercent: number;
  readonly loadPercent: number;
  /** Worker and Node together, percent of one core per call of two parties. */
  readonly percentPerCall: number;
  /** Packets that reached Node. */
  readonly packetsHere: number;
  /** Milliseconds for one bridge, one after the other. */
  readonly bridgingMs: number;
  readonly packets: number;
  readonly lost: number;
  readonly latenessP99Ms: number;
  readonly skippedFrames: number;
}

interface Scene {
  readonly what: string;
  /** Of the two parties. */
  readonly codecs: readonly [LoadCodec, LoadCodec];
  readonly mode: 'relayed' | 'transcoded' | 'agents';
}

const scenes: readonly Scene[] = [
  { what: 'baseline: two agent legs, PCMU', codecs: ['PCMU', 'PCMU'], mode: 'agents' },
  { what: 'relayed, PCMU', codecs: ['PCMU', 'PCMU'], mode: 'relayed' },
  { what: 'relayed, Opus', codecs: ['Opus', 'Opus'], mode: 'relayed' },
  { what: 'transcoded, PCMU and PCMA', codecs: ['PCMU', 'PCMA'], mode: 'transcoded' },
  { what: 'transcoded, PCMU and G.722', codecs: ['PCMU', 'G.722'], mode: 'transcoded' },
  { what: 'transcoded, PCMU and Opus', codecs: ['PCMU', 'Opus'], mode: 'transcoded' },
];

/** @throws Error when a call could not be set up or bridged */
export async function runBridgeBench(options: BridgeBenchOptions = {}): Promise<BridgeBenchRow[]> {
  const { calls = 100, seconds = 10 } = options;
  const rows: BridgeBenchRow[] = [];
  for (const scene of scenes) rows.push(await measure(scene, calls, seconds));
  return rows;
}

async function measure(scene: Scene, calls: number, seconds: number): Promise<BridgeBenchRow> {
  const media = await createMedia({
    listenIp: '127.0.0.1',
    publicIp: null,
    portMin: 20_000,
    portMax: 29_999,
    workers: 1,
    workerBin: testWorkerBin(),
    acceptUnmarkedWorker: acceptTestWorker(),
  });
  const farEnds = new FarEnds();
  try {
    const legs: MediaLeg[] = [];
    const answers: string[] = [];
    for (const offer of await farEnds.open(2 * calls, scene.codecs)) {
      const leg = await media.createLeg({ callId: `bench-${legs.length}`, codecs: [...scene.codecs] });
      legs.push(leg);
      answers.push(await leg.answer(offer));
    }
    const began = performance.now();
    await join(media, legs, scene.mode);
    const bridgingMs = scene.mode === 'agents' ? 0 : (performance.now() - began) / calls;
    farEnds.start(answers);
    await new Promise((resolve) => setTimeout(resolve, 2000));

    farEnds.measure();
    const before = media.stats();
    const workerBefore = sum(await media.workerCpuSeconds());
    const nodeBefore = process.cpuUsage();
    const start = performance.now();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const elapsed = (performance.now() - start) / 1000;
    const node = process.cpuUsage(nodeBefore);
    const worker = sum(await media.workerCpuSeconds()) - workerBefore;
    const after = media.stats();
    const result = await farEnds.stop();

    const nodePercent = ((node.user + node.system) / 1e6 / elapsed) * 100;
    const workerPercent = (worker / elapsed) * 100;
    return {
      calls,
      what: scene.what,
      workerPercent,
      nodePercent,
      loadPercent: (result.cpuSeconds / elapsed) * 100,
      percentPerCall: (nodePercent + workerPercent) / calls,
      packetsHere: after.packetsHere - before.packetsHere,
      bridgingMs,
      packets: result.received,
      lost: result.lost,
      latenessP99Ms: result.latenessP99MeanMs,
      skippedFrames: after.skippedFrames - before.skippedFrames,
    };
  } finally {
    await media.close();
    await farEnds.close();
  }
}

/** Joins the legs in pairs. */
async function join(media: RunningMedia, legs: readonly MediaLeg[], mode: Scene['mode']): Promise<void> {
  for (let i = 0; i + 1 < legs.length; i += 2) {
    const [one, other] = [legs[i], legs[i + 1]];
    if (!one || !other) continue;
    if (mode === 'agents') {
      one.attach(agent());
      other.attach(agent());
      continue;
    }
    const bridge = await media.bridge(one, other, { transcode: mode === 'transcoded' });
    if (bridge.mode !== mode) throw new Error(`the bridge is ${bridge.mode}, not ${mode}`);
  }
}

/** One second of a 500 Hz tone as the agent's speech: generating it is not measured. */
const speech = Int16Array.from({ length: 160 }, (_, i) => 12_000 * Math.sin((2 * Math.PI * 500 * i) / 8000));

function agent(): AudioEndpoint {
  return {
    sampleRate: 8000,
    read(frame) {
      frame.set(speech);
      return true;
    },
    write() {},
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The rows as a Markdown table. */
export function formatBridgeBench(rows: readonly BridgeBenchRow[]): string {
  const columns: Column<BridgeBenchRow>[] = [
    ['calls of two SRTP parties, 50 packets/s each way', (row) => `${row.calls}, ${row.what}`],
    ['worker, % of a core', (row) => row.workerPercent.toFixed(1)],
    ['Node, % of a core', (row) => row.nodePercent.toFixed(1)],
    ['both, % per call', (row) => row.percentPerCall.toFixed(3)],
    ['capacity, calls per core', (row) => (100 / row.percentPerCall).toFixed(0)],
    ['far ends, % of a core', (row) => row.loadPercent.toFixed(1)],
    ['into Node, packets', (row) => String(row.packetsHere)],
    ['bridging, ms per call', (row) => (row.bridgingMs > 0 ? row.bridgingMs.toFixed(1) : '')],
    ['lost, packets', (row) => `${row.lost} of ${row.packets}`],
    ['skipped, frames', (row) => String(row.skippedFrames)],
    ['lateness p99, ms', (row) => row.latenessP99Ms.toFixed(1)],
  ];
  return markdownTable(columns, rows);
}

if (import.meta.main) {
  const rows = await runBridgeBench({
    calls: Number(process.argv[2] ?? 100),
    seconds: Number(process.argv[3] ?? 10),
  });
  process.stdout.write(`${formatBridgeBench(rows)}\n`);
}
