/**
 * Media shards, by their number: what an agent's call costs, how late its frames are while other calls are set up, and
 * whether transcoded bridges keep their pace. The far ends run in a separate process on the same machine and share its
 * cores, so more shards than half the cores show what too many cost and not what more cores bring.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { toneNumber } from '../../control/bootstrap.ts';
import { type Column, markdownTable } from '../../scripts/bench/table.ts';
import { SipCaller, sipRequest, toTagOf } from '../kit/fakes/sip-caller.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { type CoreUse, parts, type Uses, useOf, usesOf } from './core-use.ts';
import { FarEnds } from './far-ends.ts';
import { measureTranscoding, type TranscodingRow } from './shard-bridges.ts';
import { runSipp } from './sipp-load.ts';
import { Wire } from './wire.ts';

export interface ShardsBenchOptions {
  /** Numbers of shards; 1, 2 and 4 unless given. */
  readonly shards?: readonly number[];
  /** Calls of an agent that stand; 200 unless given. */
  readonly calls?: number;
  /** Calls that are set up and torn down per second meanwhile; 100 unless given. */
  readonly rate?: number;
  /** Bridges between PCMU and Opus; 100 unless given. */
  readonly bridges?: number;
  /** Seconds of each measurement; 10 unless given. */
  readonly seconds?: number;
}

export interface ShardsBenchResult {
  readonly agents: readonly AgentCallsRow[];
  readonly bridges: readonly TranscodingRow[];
}

/** What standing calls heard, and what the machine did meanwhile. */
interface Heard {
  /** When packets were on the wire: what the edge is to blame for. */
  readonly wire: Lateness;
  /** When the far ends read them, which need a core for that. */
  readonly farEnds: Lateness;
  readonly received: number;
  readonly lost: number;
  readonly cores: Cores;
}

interface Lateness {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Cores that were used, and how long threads waited for one, ms in each second. */
interface Cores {
  readonly used: Readonly<Record<keyof Uses, number>>;
  readonly waited: Readonly<Record<keyof Uses, number>>;
  readonly sipp: number;
  readonly farEnds: number;
  /** dumpcap and this process. */
  readonly measuring: number;
}

interface AgentCallsRow {
  readonly shards: number;
  readonly calls: number;
  /** Nothing else goes on. */
  readonly quiet: Heard;
  /** While other calls are set up. */
  readonly busy: Heard;
  readonly setUp: number;
  readonly failed: number;
  readonly setUpMs: number;
}

/** Every call of the load rests its ports for five seconds. */
const rtpPorts = { min: 20_000, max: 29_999 };
const settleMs = 3000;

/** @throws Error when a call could not be set up */
export async function runShardsBench(options: ShardsBenchOptions = {}): Promise<ShardsBenchResult> {
  const { shards = [1, 2, 4], calls = 200, rate = 100, bridges = 100, seconds = 10 } = options;
  const agents: AgentCallsRow[] = [];
  const transcoded: TranscodingRow[] = [];
  for (const count of shards) {
    agents.push(await measureAgents({ shards: count, calls, rate, seconds }));
    transcoded.push(await measureTranscoding({ shards: count, bridges, seconds }));
  }
  return { agents, bridges: transcoded };
}

interface Scene {
  readonly shards: number;
  readonly calls: number;
  readonly rate: number;
  readonly seconds: number;
}

async function measureAgents({ shards, calls, rate, seconds }: Scene): Promise<AgentCallsRow> {
  const system = await TestSystem.start({
    RTP_PORT_MIN: String(rtpPorts.min),
    RTP_PORT_MAX: String(rtpPorts.max),
    MEDIA_WORKERS: String(shards),
  });
  try {
    const quiet = await standing(system, calls, () => pause(1000 * seconds));
    const ca = join(system.folder, 'bench-ca.crt');
    writeFileSync(ca, system.ca);
    const busy = await standing(system, calls, () =>
      runSipp({
        folder: system.folder,
        ca,
        port: system.sipPort,
        number: toneNumber,
        rate,
        calls: rate * seconds,
        connectionPerCall: false,
      }),
    );
    const { done: load } = busy;
    const used = load.cpuMs / (1000 * load.seconds);
    return {
      shards,
      calls,
      quiet: quiet.heard,
      busy: { ...busy.heard, cores: { ...busy.heard.cores, sipp: used } },
      setUp: load.succeeded,
      failed: load.failed,
      setUpMs: load.setUpMs,
    };
  } finally {
    await system.stop();
  }
}

interface Standing<T> {
  readonly heard: Heard;
  readonly done: T;
}

/** Has `work` done while calls stand that hear the tone of the line check, and measures their audio meanwhile. */
async function standing<T>(system: TestSystem, calls: number, work: () => Promise<T>): Promise<Standing<T>> {
  const farEnds = new FarEnds();
  const caller = await SipCaller.connect(system.sipPort, system.ca);
  const uri = `sip:${toneNumber}@127.0.0.1`;
  let wire: Wire | null = null;
  try {
    const dialogs: { readonly callId: string; readonly toTag: string | undefined }[] = [];
    const answers: string[] = [];
    const offers = await farEnds.open(calls, ['PCMU']);
    for (const [index, offer] of offers.entries()) {
      const callId = `standing-${process.hrtime.bigint()}-${index}`;
      caller.send(sipRequest('INVITE', { callId, uri, body: offer }));
      const answer = await caller.final();
      if (!answer?.startLine.startsWith('SIP/2.0 200'))
        throw new Error(`call ${index} was not answered: ${answer?.startLine ?? 'connection closed'}`);
      const toTag = toTagOf(answer);
      caller.send(sipRequest('ACK', { callId, uri, toTag }));
      dialogs.push({ callId, toTag });
      answers.push(answer.body);
    }
    farEnds.start(answers);
    await pause(settleMs);
    wire = await Wire.capture(system.folder, rtpPorts);
    const before = { at: performance.now(), uses: usesOf(system.processes()), own: useOf(process.pid) };
    farEnds.measure();
    const done = await work();
    const after = { at: performance.now(), uses: usesOf(system.processes()), own: useOf(process.pid) };
    const onWire = await wire.stop(new Set(offers.map(portOf)));
    const { latenessP50MeanMs: p50Ms, latenessP99MeanMs: p99Ms, ...atFarEnds } = await farEnds.stop();
    for (const { callId, toTag } of dialogs) {
      caller.send(sipRequest('BYE', { callId, cseq: 2, uri, toTag }));
      await caller.final();
    }
    const ms = after.at - before.at;
    const each = (pick: (use: CoreUse) => number) =>
      Object.fromEntries(
        parts.map((part) => [part, (pick(after.uses[part]) - pick(before.uses[part])) / ms]),
      ) as Record<keyof Uses, number>;
    const cores: Cores = {
      used: each(({ ranMs }) => ranMs),
      waited: each(({ waitedMs }) => 1000 * waitedMs),
      sipp: 0,
      farEnds: (1000 * atFarEnds.cpuSeconds) / ms,
      measuring: (after.own.ranMs - before.own.ranMs + onWire.cpuMs) / ms,
    };
    const { received, lost } = atFarEnds;
    return { heard: { wire: onWire, farEnds: { p50Ms, p99Ms }, received, lost, cores }, done };
  } finally {
    caller.close();
    await wire?.close();
    await farEnds.close();
  }
}

/** Where a far end receives its audio. */
function portOf(offer: string): number {
  return Number(/^m=audio (\d+) /m.exec(offer)?.[1]);
}

/** The results as Markdown tables. */
export function formatShardsBench({ agents, bridges }: ShardsBenchResult): string {
  const late = ({ p50Ms, p99Ms }: Lateness) => `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`;
  const lost = ({ lost: packets, received }: Heard) => `${packets} of ${received}`;
  const perCall = ({ calls, quiet }: AgentCallsRow, ...of: (keyof Uses)[]) =>
    of.reduce((sum, part) => sum + (100 * quiet.cores.used[part]) / calls, 0).toFixed(3);
  const ofAgents: Column<AgentCallsRow>[] = [
    ['shards, calls of an agent that speaks, SRTP, PCMU', (row) => `${row.shards}, ${row.calls}`],
    ['edge, % of a core per call', (row) => perCall(row, 'signaling', 'shards', 'other threads')],
    ['media workers, % of a core per call', (row) => perCall(row, 'media workers')],
    ['lateness on the wire, p50 / p99, ms', (row) => late(row.quiet.wire)],
    ['at the far ends, ms', (row) => late(row.quiet.farEnds)],
    ['lost, packets', (row) => lost(row.quiet)],
    ['other calls set up', (row) => `${row.setUp}, ${row.failed} failed`],
    ['their set-up p99, ms', (row) => row.setUpMs.toFixed(0)],
    ['lateness on the wire meanwhile, ms', (row) => late(row.busy.wire)],
    ['at the far ends meanwhile, ms', (row) => late(row.busy.farEnds)],
    ['lost meanwhile, packets', (row) => lost(row.busy)],
  ];
  const ofCores: Column<{ readonly when: string; readonly cores: Cores }>[] = [
    ['shards, cores used', ({ when }) => when],
    ...parts.map((part): [string, (row: { readonly cores: Cores }) => string] => [
      part === 'signaling' || part === 'other threads' ? `${part} of the edge` : part,
      ({ cores }) => cores.used[part].toFixed(2),
    ]),
    ['SIPp', ({ cores }) => cores.sipp.toFixed(2)],
    ['far ends', ({ cores }) => cores.farEnds.toFixed(2)],
    ['measuring', ({ cores }) => cores.measuring.toFixed(2)],
    ['all', ({ cores }) => allOf(cores).toFixed(2)],
    ['shards waited for a core, ms/s', ({ cores }) => cores.waited.shards.toFixed(0)],
    ['media workers waited, ms/s', ({ cores }) => cores.waited['media workers'].toFixed(0)],
    ['signaling waited, ms/s', ({ cores }) => cores.waited.signaling.toFixed(0)],
  ];
  const cores = agents.flatMap(({ shards, quiet, busy }) => [
    { when: `${shards}, the calls alone`, cores: quiet.cores },
    { when: `${shards}, other calls set up meanwhile`, cores: busy.cores },
  ]);
  const ofBridges: Column<TranscodingRow>[] = [
    ['shards, bridges, PCMU to Opus', (row) => `${row.shards}, ${row.bridges}`],
    ['shards and main thread, % of a core', (row) => row.nodePercent.toFixed(1)],
    ['media workers, % of a core', (row) => row.workerPercent.toFixed(1)],
    ['skipped, frames', (row) => String(row.skippedFrames)],
    ['lateness p50 / p99, ms', (row) => `${row.latenessP50Ms.toFixed(1)} / ${row.latenessP99Ms.toFixed(1)}`],
    ['lost, packets', (row) => `${row.lost} of ${row.packets}`],
  ];
  return [
    markdownTable(ofAgents, agents),
    markdownTable(ofCores, cores),
    markdownTable(ofBridges, bridges),
  ].join('\n\n');
}

function allOf({ used, sipp, farEnds, measuring }: Cores): number {
  return Object.values(used).reduce((sum, one) => sum + one, 0) + sipp + farEnds + measuring;
}

if (import.meta.main) {
  const [shards = '1,2,4', calls = '200', rate = '100', bridges = '100', seconds = '10'] =
    process.argv.slice(2);
  const result = await runShardsBench({
    shards: shards.split(',').map(Number),
    calls: Number(calls),
    rate: Number(rate),
    bridges: Number(bridges),
    seconds: Number(seconds),
  });
  process.stdout.write(`${formatShardsBench(result)}\n`);
}
