/**
 * Concurrent SRTP calls, 50 packets a second in each direction, each with an agent that plays a tone. The far ends run
 * in a separate process on the same machine and share its cores.
 */
import type { AudioEndpoint, LocalLeg } from '../../edge/call/ports/media.ts';
import { createMedia } from '../../edge/media/media.ts';
import { type Column, markdownTable } from '../../scripts/bench/table.ts';
import { acceptTestWorker, testWorkerBin } from '../kit/fakes/media-worker.ts';
import { FarEnds } from './far-ends.ts';
import { formatStandingCalls, measureStandingCalls, type StandingCallsRow } from './standing-calls.ts';

export interface MediaBenchOptions {
  /** 200 unless given. */
  readonly calls?: number;
  /** Seconds that are measured, after two to settle; 10 unless given. */
  readonly seconds?: number;
  /** Media workers, 1 unless given: one carries these calls. */
  readonly workers?: number;
}

export interface MediaBenchResult {
  readonly load: readonly MediaBenchRow[];
  readonly standing: readonly StandingCallsRow[];
}

export interface MediaBenchRow {
  readonly calls: number;
  readonly what: string;
  /** Milliseconds from an offer to its answer, one after the other. */
  readonly setUpMs: number;
  /** Percent of one core. */
  readonly workerPercent: number;
  readonly nodePercent: number;
  readonly loadPercent: number;
  /** Worker and Node together, percent of one core per call. */
  readonly percentPerCall: number;
  readonly packetsToAgents: number;
  readonly lostToAgents: number;
  readonly packetsToPeers: number;
  readonly lostToPeers: number;
  readonly jitterMs: number;
  readonly latenessP99Ms: number;
  readonly skippedFrames: number;
}

/** One second of a 500 Hz tone as the agent's speech: generating it is not measured. */
const speech = Int16Array.from({ length: 160 }, (_, i) => 12_000 * Math.sin((2 * Math.PI * 500 * i) / 8000));

function agent(listening: boolean): AudioEndpoint {
  const read = (frame: Int16Array) => {
    frame.set(speech);
    return true;
  };
  return listening ? { sampleRate: 8000, read, write() {} } : { sampleRate: 8000, read };
}

/**
 * Runs the calls, first with an agent that only speaks, then with one that also listens, and returns their cost; then the
 * memory of twice as many calls in a whole Trunkline.
 * @throws Error when a call could not be set up
 */
export async function runMediaBench(options: MediaBenchOptions = {}): Promise<MediaBenchResult> {
  const { calls = 200, seconds = 10, workers = 1 } = options;
  const load: MediaBenchRow[] = [];
  for (const listening of [false, true]) load.push(await measureCalls(calls, seconds, workers, listening));
  return { load, standing: [await measureStandingCalls(2 * calls)] };
}

async function measureCalls(
  calls: number,
  seconds: number,
  workers: number,
  listening: boolean,
): Promise<MediaBenchRow> {
  const media = await createMedia({
    listenIp: '127.0.0.1',
    publicIp: null,
    portMin: 20_000,
    portMax: 29_999,
    workers,
    workerBin: testWorkerBin(),
    acceptUnmarkedWorker: acceptTestWorker(),
  });
  const farEnds = new FarEnds();
  try {
    const offers = await farEnds.open(calls, ['PCMU']);
    const legs: LocalLeg[] = [];
    const answers: string[] = [];
    const began = performance.now();
    for (const offer of offers) {
      const leg = await media.createLeg({ callId: `bench-${legs.length}`, codecs: ['PCMU'] });
      legs.push(leg);
      answers.push(await leg.answer(offer));
    }
    const setUpMs = (performance.now() - began) / calls;
    for (const leg of legs) leg.attach(agent(listening));
    farEnds.start(answers);
    await new Promise((resolve) => setTimeout(resolve, 2000));

    farEnds.measure();
    const received = () => legs.reduce((total, leg) => total + leg.report().packets_received, 0);
    const lost = () => legs.reduce((total, leg) => total + leg.report().packets_lost, 0);
    const before = { received: received(), lost: lost(), skipped: media.stats().skippedFrames };
    const workerBefore = sum(await media.workerCpuSeconds());
    const nodeBefore = process.cpuUsage();
    const start = performance.now();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const elapsed = (performance.now() - start) / 1000;
    const node = process.cpuUsage(nodeBefore);
    const worker = sum(await media.workerCpuSeconds()) - workerBefore;
    const result = await farEnds.stop();

    const nodePercent = ((node.user + node.system) / 1e6 / elapsed) * 100;
    const workerPercent = (worker / elapsed) * 100;
    return {
      calls,
      what: listening ? 'agent speaks and listens' : 'agent speaks',
      setUpMs,
      workerPercent,
      nodePercent,
      loadPercent: (result.cpuSeconds / elapsed) * 100,
      percentPerCall: (nodePercent + workerPercent) / calls,
      packetsToAgents: received() - before.received,
      lostToAgents: lost() - before.lost,
      packetsToPeers: result.received,
      lostToPeers: result.lost,
      jitterMs: result.jitterMs,
      latenessP99Ms: result.latenessP99MeanMs,
      skippedFrames: media.stats().skippedFrames - before.skipped,
    };
  } finally {
    await media.close();
    await farEnds.close();
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The results as Markdown tables. */
export function formatMediaBench({ load, standing }: MediaBenchResult): string {
  const columns: Column<MediaBenchRow>[] = [
    ['calls, SRTP, PCMU, 50 packets/s each way', (row) => `${row.calls}, ${row.what}`],
    ['worker, % of a core', (row) => row.workerPercent.toFixed(1)],
    ['Node, % of a core', (row) => row.nodePercent.toFixed(1)],
    ['both, % per call', (row) => row.percentPerCall.toFixed(3)],
    ['far ends, % of a core', (row) => row.loadPercent.toFixed(1)],
    ['set-up, ms per call', (row) => row.setUpMs.toFixed(1)],
    ['lost to agents, packets', (row) => `${row.lostToAgents} of ${row.packetsToAgents}`],
    ['lost to peers, packets', (row) => `${row.lostToPeers} of ${row.packetsToPeers}`],
    ['skipped, frames', (row) => String(row.skippedFrames)],
    ['jitter, ms', (row) => row.jitterMs.toFixed(2)],
    ['lateness p99, ms', (row) => row.latenessP99Ms.toFixed(1)],
  ];
  return `${markdownTable(columns, load)}\n\n${formatStandingCalls(standing)}`;
}

if (import.meta.main) {
  const result = await runMediaBench({
    calls: Number(process.argv[2] ?? 200),
    seconds: Number(process.argv[3] ?? 10),
  });
  process.stdout.write(`${formatMediaBench(result)}\n`);
}
