/**
 * Memory of standing calls in each process of a whole Trunkline: calls over one TLS connection with SRTP in both
 * directions, each with the demo pathway, which has spoken and waits for a key.
 *
 * The calls come in equal steps and all stay up. What a call costs is the slope of a straight line through what was seen
 * after each step (Theil and Sen): what they share (compiled code, buffers, V8's young generation) grows with the first of
 * them, and a single difference has a whole nursery or the garbage that happens to wait at its two ends.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { demoNumber } from '../../control/bootstrap.ts';
import { type Column, markdownTable } from '../../scripts/bench/table.ts';
import { SipCaller, sipRequest, toTagOf } from '../kit/fakes/sip-caller.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { freeUdpRange } from '../kit/programs/ports.ts';
import { anonymousMiB, commandLine, residentMiB } from '../kit/programs/processes.ts';
import { slopeOf } from '../soak/regression.ts';
import { FarEnds } from './far-ends.ts';

/** The processes, by what their command lines have. */
const programs = {
  edge: 'edge/main.ts',
  worker: 'mediasoup-worker',
  engine: 'engine/main.ts',
  control: 'control/main.ts',
} as const;
const parts = ['edge', 'worker', 'engine', 'control'] as const;
type Part = keyof typeof programs;
type Memory = Readonly<Record<Part, number>>;

export interface StandingCallsRow {
  readonly calls: number;
  /** MiB per call. */
  readonly resident: Memory;
  /** Of it what is no file's, MiB per call. */
  readonly anonymous: Memory;
  /** Calls and MiB after each step. */
  readonly seen: readonly Look[];
}

interface Look {
  readonly calls: number;
  readonly resident: Memory;
  readonly anonymous: Memory;
}

const steps = 4;
/** The greeting has been spoken. */
const greetingMs = 8000;
/** Two looks, a second apart, that differ by less than this in sum agree. */
const agreeMiB = 0.25;
/** Then the garbage of 30 s is part of what is seen. */
const mostLooks = 30;

/** @throws Error when a call is not answered */
export async function measureStandingCalls(calls: number): Promise<StandingCallsRow> {
  const step = Math.ceil(calls / steps);
  // The share of calls of tests is a third.
  const ports = 3 * step * steps;
  const first = await freeUdpRange(ports);
  const system = await TestSystem.start({
    RTP_PORT_MIN: String(first),
    RTP_PORT_MAX: String(first + ports - 1),
  });
  const callers: Callers[] = [];
  const seen: Look[] = [];
  try {
    for (let count = step; count <= step * steps; count += step) {
      callers.push(await Callers.call(system, step, `step-${count}`));
      await pause(greetingMs);
      seen.push({ calls: count, ...(await settled(system)) });
    }
    for (const caller of callers) await caller.hangUp();
    return {
      calls: step * steps,
      resident: slopes(seen, ({ resident }) => resident),
      anonymous: slopes(seen, ({ anonymous }) => anonymous),
      seen,
    };
  } finally {
    for (const caller of callers) await caller.close();
    await system.stop();
  }
}

/** Some calls of one connection. */
class Callers {
  readonly #caller: SipCaller;
  readonly #farEnds = new FarEnds();
  readonly #dialogs: { readonly callId: string; readonly toTag: string | undefined }[] = [];
  readonly #uri = `sip:${demoNumber}@127.0.0.1`;

  private constructor(caller: SipCaller) {
    this.#caller = caller;
  }

  /** Sets up calls, one after the other, and starts their audio. */
  static async call(system: TestSystem, calls: number, name: string): Promise<Callers> {
    const callers = new Callers(await SipCaller.connect(system.sipPort, system.ca));
    try {
      await callers.#setUp(calls, name);
      return callers;
    } catch (error) {
      await callers.close();
      throw error;
    }
  }

  async #setUp(calls: number, name: string): Promise<void> {
    const answers: string[] = [];
    for (const [index, offer] of (await this.#farEnds.open(calls, ['PCMU'])).entries()) {
      const callId = `${name}-${index}`;
      this.#caller.send(sipRequest('INVITE', { callId, uri: this.#uri, body: offer }));
      const answer = await this.#caller.final();
      if (!answer?.startLine.startsWith('SIP/2.0 200'))
        throw new Error(`call ${callId} was not answered: ${answer?.startLine ?? 'connection closed'}`);
      const toTag = toTagOf(answer);
      this.#caller.send(sipRequest('ACK', { callId, uri: this.#uri, toTag }));
      this.#dialogs.push({ callId, toTag });
      answers.push(answer.body);
    }
    this.#farEnds.start(answers);
  }

  async hangUp(): Promise<void> {
    for (const { callId, toTag } of this.#dialogs) {
      this.#caller.send(sipRequest('BYE', { callId, cseq: 2, uri: this.#uri, toTag }));
      const answer = await this.#caller.final();
      // The figures are about calls that stand.
      if (!answer?.startLine.startsWith('SIP/2.0 200'))
        throw new Error(`call ${callId} had ended before: ${answer?.startLine ?? 'connection closed'}`);
    }
  }

  async close(): Promise<void> {
    this.#caller.close();
    await this.#farEnds.close();
  }
}

/** Looks until two looks agree. */
async function settled(system: TestSystem): Promise<Omit<Look, 'calls'>> {
  let last = look(system);
  for (let looks = 1; looks < mostLooks; looks++) {
    await pause(1000);
    const before = sum(last.resident);
    last = look(system);
    if (Math.abs(sum(last.resident) - before) < agreeMiB) break;
  }
  return last;
}

function look(system: TestSystem): Omit<Look, 'calls'> {
  const pids = system.processes();
  const of = (memory: (pid: number) => number): Memory => {
    const all = (part: Part) =>
      pids
        .filter((pid) => commandLine(pid).includes(programs[part]))
        .reduce((total, pid) => total + memory(pid), 0);
    return { edge: all('edge'), worker: all('worker'), engine: all('engine'), control: all('control') };
  };
  return { resident: of(residentMiB), anonymous: of(anonymousMiB) };
}

function sum(memory: Memory): number {
  return parts.reduce((total, part) => total + memory[part], 0);
}

function slopes(seen: readonly Look[], memoryOf: (look: Look) => Memory): Memory {
  const of = (part: Part) => {
    const points = seen.map((look) => ({ calls: look.calls, value: memoryOf(look)[part], segment: 0 }));
    return (slopeOf(points)?.per1000 ?? 0) / 1000;
  };
  return { edge: of('edge'), worker: of('worker'), engine: of('engine'), control: of('control') };
}

/** As Markdown tables: per call, and what was seen. */
export function formatStandingCalls(rows: readonly StandingCallsRow[]): string {
  const both = (row: StandingCallsRow, of: (memory: Memory) => number) =>
    `${of(row.resident).toFixed(3)} / ${of(row.anonymous).toFixed(3)}`;
  const perCall: Column<StandingCallsRow>[] = [
    [
      `standing calls with an agent, SRTP, PCMU, in ${steps} steps; MiB per call, resident / anonymous`,
      (row) => String(row.calls),
    ],
    ['edge', (row) => both(row, ({ edge }) => edge)],
    ['media workers', (row) => both(row, ({ worker }) => worker)],
    ['engine', (row) => both(row, ({ engine }) => engine)],
    ['control', (row) => both(row, ({ control }) => control)],
    ['edge, media workers and engine', (row) => both(row, (memory) => sum(memory) - memory.control)],
    ['all processes', (row) => both(row, sum)],
  ];
  const steady: Column<Look>[] = [
    ['calls up; MiB resident', ({ calls }) => String(calls)],
    ['edge', ({ resident }) => resident.edge.toFixed(1)],
    ['media workers', ({ resident }) => resident.worker.toFixed(1)],
    ['engine', ({ resident }) => resident.engine.toFixed(1)],
    ['control', ({ resident }) => resident.control.toFixed(1)],
  ];
  return `${markdownTable(perCall, rows)}\n\n${markdownTable(
    steady,
    rows.flatMap(({ seen }) => seen),
  )}`;
}

if (import.meta.main) {
  const row = await measureStandingCalls(Number(process.argv[2] ?? 400));
  process.stdout.write(`${formatStandingCalls([row])}\n`);
}
