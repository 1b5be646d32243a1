/**
 * One soak: start, load with disturbances, then silence, in which everything that belonged to calls must be gone.
 *
 *     start -> prepare -> load (calls, operations, weather, outages, restarts, samples) -> calls end -> idle -> verify -> stop
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describeMachine } from '../../scripts/bench/machine.ts';
import { Random } from '../simulation/random.ts';
import { Chaos } from './chaos.ts';
import { PostgresData, SqliteData, type StoredData } from './database.ts';
import { Deployment, roles } from './deployment.ts';
import { Disturbances } from './disturbances.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import type { SoakOptions } from './options.ts';
import { type Report, slopeLine } from './report.ts';
import { type Restart, restartsOf } from './restarts.ts';
import { boundUdpPorts, Sampler, zeroWhenIdle } from './sampler.ts';
import type { Series } from './series.ts';
import { type Prepared, prepare } from './setup.ts';
import { Stalls } from './stalls.ts';

const hourMs = 3_600_000;
/** After the last call: the media time-out of callers that vanished, transactions (64 s with RFC 3261's timers), reports. */
const idleLimitMs = 180_000;
const verifyEveryMs = 2_000;
/** Until every record is verified or missing for good (ledger.ts). */
const verifyLimitMs = 240_000;

const network =
  'a proxy for TCP and UDP between each carrier and the edge, inside the soak: delay, jitter, loss, reordering, cuts';

export class Soak {
  readonly #options: SoakOptions;
  readonly #say: (line: string) => void;
  readonly #restarts: (random: Random, totalMs: number) => readonly Restart[];
  readonly #early = new AbortController();
  readonly #disturbances = new Disturbances();
  readonly #ledger: Ledger;
  #deployment: Deployment | null = null;
  #sampler: Sampler | null = null;

  /** @param restarts plan of restarts; by the seed unless given */
  constructor(
    options: SoakOptions,
    say: (line: string) => void,
    restarts: (random: Random, totalMs: number) => readonly Restart[] = restartsOf,
  ) {
    this.#options = options;
    this.#say = say;
    this.#ledger = new Ledger(this.#disturbances, say);
    this.#restarts = restarts;
  }

  get series(): readonly Series[] {
    const used = this.#sampler?.series.filter(isUsed) ?? [];
    return used.toSorted((one, other) => placeOf(one) - placeOf(other));
  }

  /** Ends the load now; the rest follows. */
  endEarly(): void {
    this.#early.abort();
  }

  /** Ends all programs at once; for a soak that fails itself. */
  kill(): void {
    this.#deployment?.kill();
  }

  async run(): Promise<Report> {
    const { hours, seed, rate, database } = this.#options;
    const totalMs = hours * hourMs;
    const folder = mkdtempSync(join(tmpdir(), 'trunkline-soak-'));
    const begunAt = new Date().toISOString();
    const machine = describeMachine(new Date());
    this.#say(`starting Trunkline in ${folder}`);
    const deployment = await Deployment.start(folder, database === null ? {} : { DATABASE_URL: database });
    this.#deployment = deployment;
    const data = database === null ? new SqliteData(join(folder, 'control.db')) : new PostgresData(database);
    const scale = Math.min(1, hours);
    const prepared = await prepare(deployment, seed, scale);
    const sampler = new Sampler(deployment, data, warmUpOf(totalMs));
    this.#sampler = sampler;
    const load = new Load(prepared, this.#ledger, seed, rate, scale);
    const chaos = new Chaos({
      deployment,
      carriers: prepared.carriers,
      disturbances: this.#disturbances,
      ledger: this.#ledger,
      random: new Random(seed * 104_729 + 5),
      scale,
      say: this.#say,
      signal: this.#early.signal,
    });
    this.#say(`load: ${rate} calls/s for ${(totalMs / 60_000).toFixed(1)} minutes, seed ${seed}`);
    const stalls = new Stalls(this.#disturbances);
    const seconds = await this.#load(load, chaos, prepared, sampler, totalMs);
    this.#say('load ended; waiting until nothing of a call is left');
    await this.#idle(sampler, deployment);
    await this.#verifyAll(prepared);
    const stored = await this.#checkStored(data, deployment);
    for (const carrier of prepared.carriers) await carrier.close();
    await this.#stop(deployment);
    stalls.stop();
    const slopes = this.series.map(slopeLine);
    const leaks = slopes.filter(({ verdict }) => verdict === 'leaking').length;
    const passed = leaks === 0 && this.#ledger.brokenCount === 0;
    if (passed) rmSync(folder, { recursive: true, force: true });
    else this.#say(`the data folder is kept: ${folder}`);
    const { kinds, broken, brokenCount, verified, withoutRecord } = this.#ledger;
    return {
      passed,
      options: { hours, seed, rate, database: database === null ? 'SQLite' : 'PostgreSQL' },
      machine,
      begunAt,
      seconds,
      calls: load.calls,
      operations: load.operations,
      mostAtATime: load.most,
      skipped: load.skipped,
      kinds: Object.fromEntries([...kinds].toSorted(([one], [other]) => (one < other ? -1 : 1))),
      records: { verified, allowedMissing: withoutRecord, stored },
      broken: { count: brokenCount, shown: broken },
      restarts: chaos.restarts,
      stalls: { count: stalls.count, longestMs: stalls.longest },
      network,
      weather: Object.fromEntries(
        prepared.carriers.map(({ name, weather, link }) => [
          name,
          { ...Object.fromEntries(weather.spells), datagrams: link.carried, 'of them lost': link.dropped },
        ]),
      ),
      slopes,
      samples: { taken: sampler.samples, incomplete: sampler.incomplete },
      log: deployment.log.counted,
    };
  }

  /** @returns its length in seconds */
  async #load(
    load: Load,
    chaos: Chaos,
    prepared: Prepared,
    sampler: Sampler,
    totalMs: number,
  ): Promise<number> {
    const begun = performance.now();
    const over = new AbortController();
    const plan = this.#restarts(new Random(this.#options.seed * 31 + 7), totalMs);
    load.start();
    const disturbing = chaos.run(plan);
    const sampling = repeated(over.signal, sampleEvery(totalMs), () =>
      sampler.take(performance.now() - begun, load.calls),
    );
    const verifying = repeated(over.signal, verifyEveryMs, () => this.#ledger.verify(prepared.api));
    const telling = repeated(over.signal, 60_000, async () => this.#progress(load));
    await pause(totalMs, null, { signal: this.#early.signal }).catch(() => null);
    this.#early.abort();
    await disturbing;
    await load.end();
    over.abort();
    await Promise.all([sampling, verifying, telling]);
    return (performance.now() - begun) / 1000;
  }

  #progress(load: Load): void {
    const { brokenCount, waiting, verified } = this.#ledger;
    this.#say(
      `${load.calls} calls, ${load.operations} operations, ${load.running} under way, ${verified} records verified, ${waiting} waiting, ${brokenCount} broken promises`,
    );
  }

  /** All that belonged to calls must be released. */
  async #idle(sampler: Sampler, deployment: Deployment): Promise<void> {
    const limit = performance.now() + idleLimitMs;
    const { first, count } = deployment.rtp;
    for (;;) {
      const left = await leftIn(sampler);
      const ports = boundUdpPorts(first, count);
      if (left.length === 0 && ports.length === 0) return;
      if (performance.now() > limit) {
        for (const what of left)
          this.#ledger.breaks(`left ${idleLimitMs / 1000} s after the last call: ${what}`);
        if (ports.length > 0)
          this.#ledger.breaks(
            `UDP ports bound ${idleLimitMs / 1000} s after the last call: ${ports.join(', ')}`,
          );
        return;
      }
      await pause(2_000);
    }
  }

  async #verifyAll({ api }: Prepared): Promise<void> {
    const limit = performance.now() + verifyLimitMs;
    while (this.#ledger.waiting > 0 && performance.now() < limit) {
      await this.#ledger.verify(api);
      await pause(verifyEveryMs);
    }
    if (this.#ledger.waiting > 0) this.#ledger.breaks(`${this.#ledger.waiting} records could not be read`);
  }

  /** @returns number of call records */
  async #checkStored(data: StoredData, deployment: Deployment): Promise<number> {
    const { doubled, open, calls } = await data.check();
    for (const id of doubled) this.#ledger.breaks(`more than one record of ${id}`);
    for (const id of open) this.#ledger.breaks(`call ${id} has no end`);
    for (const file of deployment.faults()) this.#ledger.breaks(`a program crashed: faults/${file}`);
    if ((await deployment.health()) !== 200) this.#ledger.breaks('/health is not 200 at the end');
    for (const { level, message } of deployment.log.counted)
      if (level === 'fatal') this.#ledger.breaks(`fatal log line: ${message}`);
    return calls;
  }

  async #stop(deployment: Deployment): Promise<void> {
    const left = await deployment.stop();
    if (left.length > 0) this.#ledger.breaks(`processes left after the stop: ${left.join(', ')}`);
  }
}

/** In the report what operators look at first is first. */
const groups: readonly string[] = [...roles, 'disk', 'rows', 'soak'];

function placeOf({ facts }: Series): number {
  return groups.indexOf(facts.group);
}

/** Tables that are empty throughout say nothing. */
function isUsed({ samples, facts }: Series): boolean {
  return facts.group !== 'rows' || samples.some(({ value }) => value > 0);
}

/** Five minutes, in a short run a tenth of it. */
function warmUpOf(totalMs: number): number {
  return Math.min(5 * 60_000, totalMs / 10);
}

/** About 600 samples, one in 30 s at most. */
function sampleEvery(totalMs: number): number {
  return Math.max(2_000, Math.min(30_000, totalMs / 600));
}

async function leftIn(sampler: Sampler): Promise<string[]> {
  const metrics = await sampler.metrics().catch(() => null);
  if (metrics === null) return ['/metrics does not answer'];
  return zeroWhenIdle.flatMap((name) => {
    const value = metrics.get(name) ?? Number.NaN;
    return value === 0 ? [] : [`${name} is ${value}`];
  });
}

/** Does the work again and again, one at a time, until the signal. */
async function repeated(signal: AbortSignal, everyMs: number, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await pause(everyMs, null, { signal }).catch(() => null);
  }
}
