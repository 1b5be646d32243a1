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
import { commandLine } from '../kit/programs/processes.ts';
import { cpuMs } from './cpu-time.ts';
import { FarEnds } from './far-ends.ts';
import { measureTranscoding, type TranscodingRow } from './shard-bridges.ts';
import { runSipp } from './sipp-load.ts';

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

interface Lateness {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly received: number;
  readonly lost: number;
}

interface AgentCallsRow {
  readonly shards: number;
  readonly calls: number;
  /** Of the edge with its shards, without the media workers, percent of a core per call; nothing else goes on. */
  readonly edgePercent: number;
  readonly workerPercent: number;
  readonly quiet: Lateness;
  /** While other calls are set up. */
  readonly busy: Lateness;
  readonly setUp: number;
  readonly failed: number;
  readonly setUpMs: number;
}

/** Every call of the load rests its ports for five seconds. */
const rtpPorts = { RTP_PORT_MIN: '20000', RTP_PORT_MAX: '29999' };
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
  const system = await TestSystem.start({ ...rtpPorts, MEDIA_WORKERS: String(shards) });
  try {
    const quiet = new StandingCalls(system);
    const cpu = await quiet.during(calls, async () => {
      const before = cpuOf(system);
      await pause(1000 * seconds);
      const after = cpuOf(system);
      const percent = (part: keyof Cpu) => (after[part] - before[part]) / (10 * seconds * calls);
      return { edgePercent: percent('edge'), workerPercent: percent('worker') };
    });
    const busy = new StandingCalls(system);
    const ca = join(system.folder, 'bench-ca.crt');
    writeFileSync(ca, system.ca);
    const load = await busy.during(calls, () =>
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
    return {
      shards,
      calls,
      ...cpu,
      quiet: quiet.lateness,
      busy: busy.lateness,
      setUp: load.succeeded,
      failed: load.failed,
      setUpMs: load.setUpMs,
    };
  } finally {
    await system.stop();
  }
}

/** Calls that hear the tone of the line check. */
class StandingCalls {
  readonly #system: TestSystem;
  lateness: Lateness = { p50Ms: Number.NaN, p99Ms: Number.NaN, received: 0, lost: 0 };

  constructor(system: TestSystem) {
    this.#system = system;
  }

  /** Has `work` done while the calls stand, and measures their audio meanwhile. */
  async during<T>(calls: number, work: () => Promise<T>): Promise<T> {
    const farEnds = new FarEnds();
    const caller = await SipCaller.connect(this.#system.sipPort, this.#system.ca);
    const uri = `sip:${toneNumber}@127.0.0.1`;
    try {
      const dialogs: { readonly callId: string; readonly toTag: string | undefined }[] = [];
      const answers: string[] = [];
      for (const [index, offer] of (await farEnds.open(calls, ['PCMU'])).entries()) {
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
      farEnds.measure();
      const done = await work();
      const { latenessP50MeanMs: p50Ms, latenessP99MeanMs: p99Ms, received, lost } = await farEnds.stop();
      this.lateness = { p50Ms, p99Ms, received, lost };
      for (const { callId, toTag } of dialogs) {
        caller.send(sipRequest('BYE', { callId, cseq: 2, uri, toTag }));
        await caller.final();
      }
      return done;
    } finally {
      caller.close();
      await farEnds.close();
    }
  }
}

interface Cpu {
  readonly edge: number;
  readonly worker: number;
}

/** CPU time so far, ms. */
function cpuOf(system: TestSystem): Cpu {
  const sum = (has: string) =>
    system
      .processes()
      .filter((pid) => commandLine(pid).includes(has))
      .reduce((all, pid) => all + cpuMs(pid), 0);
  return { edge: sum('edge/main.ts'), worker: sum('mediasoup-worker') };
}

/** The results as Markdown tables. */
export function formatShardsBench({ agents, bridges }: ShardsBenchResult): string {
  const late = ({ p50Ms, p99Ms }: Lateness) => `${p50Ms.toFixed(1)} / ${p99Ms.toFixed(1)}`;
  const lost = ({ lost: packets, received }: Lateness) => `${packets} of ${received}`;
  const ofAgents: Column<AgentCallsRow>[] = [
    ['shards, calls of an agent that speaks, SRTP, PCMU', (row) => `${row.shards}, ${row.calls}`],
    ['edge, % of a core per call', (row) => row.edgePercent.toFixed(3)],
    ['media workers, % of a core per call', (row) => row.workerPercent.toFixed(3)],
    ['lateness p50 / p99, ms', (row) => late(row.quiet)],
    ['lost, packets', (row) => lost(row.quiet)],
    ['other calls set up', (row) => `${row.setUp}, ${row.failed} failed`],
    ['their set-up p99, ms', (row) => row.setUpMs.toFixed(0)],
    ['lateness meanwhile, ms', (row) => late(row.busy)],
    ['lost meanwhile, packets', (row) => lost(row.busy)],
  ];
  const ofBridges: Column<TranscodingRow>[] = [
    ['shards, bridges, PCMU to Opus', (row) => `${row.shards}, ${row.bridges}`],
    ['shards and main thread, % of a core', (row) => row.nodePercent.toFixed(1)],
    ['media workers, % of a core', (row) => row.workerPercent.toFixed(1)],
    ['skipped, frames', (row) => String(row.skippedFrames)],
    ['lateness p50 / p99, ms', (row) => `${row.latenessP50Ms.toFixed(1)} / ${row.latenessP99Ms.toFixed(1)}`],
    ['lost, packets', (row) => `${row.lost} of ${row.packets}`],
  ];
  return `${markdownTable(ofAgents, agents)}\n\n${markdownTable(ofBridges, bridges)}`;
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
