/** What the soak breaks during the load: programs, links and trunks. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../simulation/random.ts';
import type { Carrier } from './carrier.ts';
import type { Deployment } from './deployment.ts';
import type { Disturbances } from './disturbances.ts';
import type { Ledger } from './ledger.ts';
import type { RestartLine } from './report.ts';
import type { Restart } from './restarts.ts';

/** Time for a restarted program to be ready; a start takes up to a minute on an overloaded machine. */
const backMs = 180_000;
/** After that the edge has reconnected to control and its engine, and probes have found the trunks again. */
const settledMs = 8_000;
/** An endpoint that is given up was tried for no longer than that. */
const movedMs = 30_000;
/** What waited in a link during a cut arrives within this time after it: retransmissions are at most 200 ms apart. */
const caughtUpMs = 2_000;

export interface ChaosParts {
  readonly deployment: Deployment;
  readonly carriers: readonly Carrier[];
  readonly disturbances: Disturbances;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Shortens outages of a short run. */
  readonly scale: number;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

export class Chaos {
  readonly #parts: ChaosParts;
  readonly restarts: RestartLine[] = [];

  constructor(parts: ChaosParts) {
    this.#parts = parts;
  }

  /** Resolves when `signal` is aborted and the last restart is over. */
  async run(plan: readonly Restart[]): Promise<void> {
    for (const carrier of this.#parts.carriers) this.#watchDoubles(carrier);
    await Promise.all([
      this.#restarts(plan),
      this.#outages(),
      ...this.#parts.carriers.map((one) => this.#weather(one)),
    ]);
  }

  /** A call moves on to the second trunk when the first is lost before it rings; otherwise an order is placed once. */
  #watchDoubles(carrier: Carrier): void {
    const { disturbances, ledger } = this.#parts;
    const parts = [`link ${carrier.name}`, `trunk ${carrier.name}`, 'machine'] as const;
    carrier.onDoubled = (callee) => {
      if (disturbances.touched(parts, performance.now() - movedMs)) return;
      ledger.breaks(`${callee} was called twice for one order`);
    };
  }

  async #restarts(plan: readonly Restart[]): Promise<void> {
    const begun = performance.now();
    for (const restart of plan) {
      if (!(await this.#waited(begun + restart.at - performance.now()))) return;
      await this.#restart(restart);
    }
  }

  async #restart(restart: Restart): Promise<void> {
    const { deployment, disturbances, ledger, say } = this.#parts;
    const { role, signal } = restart;
    const end = disturbances.begin(role);
    const before = performance.now();
    const count = deployment.processes()[role].length;
    const pid = deployment.signal(role, signal);
    const back = await this.#back(role, pid, count);
    const backAfterMs = back ? performance.now() - before : null;
    this.restarts.push({ ...restart, backAfterMs });
    say(
      `${role} ${signal}: ${back ? `ready again after ${((backAfterMs ?? 0) / 1000).toFixed(1)} s` : 'not back'}`,
    );
    if (!back) ledger.breaks(`${role} was not ready within ${backMs / 1000} s after ${signal}`);
    await pause(settledMs);
    end();
  }

  /** Whether as many processes of that role as before run, another one instead of the signaled, and /health is 200. */
  async #back(role: Restart['role'], former: number | null, count: number): Promise<boolean> {
    const { deployment } = this.#parts;
    const limit = performance.now() + backMs;
    while (performance.now() < limit) {
      const running = deployment.processes()[role];
      const isReplaced =
        running.length >= Math.max(1, count) && !(former !== null && running.includes(former));
      if (isReplaced && (await deployment.health()) === 200) return true;
      await pause(250);
    }
    return false;
  }

  /** A primary trunk fails for a while, then another one. */
  async #outages(): Promise<void> {
    const { carriers, random, scale, disturbances } = this.#parts;
    for (;;) {
      if (!(await this.#waited(random.between(40, 140) * 1000 * scale))) return;
      const carrier = random.pick(carriers);
      // Calls that are up over its connections may fail; those that come now must use the second trunk.
      const end = disturbances.begin(`trunk ${carrier.name}`);
      carrier.fail(random.pick(['refuses connections', 'answers 503'] as const));
      end();
      await this.#waited(random.between(15, 45) * 1000 * scale);
      carrier.fail('none');
    }
  }

  async #weather({ name, weather }: Carrier): Promise<void> {
    const { disturbances } = this.#parts;
    let end = () => {};
    weather.onCut = (isCut) => {
      if (isCut) end = disturbances.begin(`link ${name}`);
      else setTimeout(end, caughtUpMs);
    };
    weather.start();
    await this.#waited(Number.POSITIVE_INFINITY);
    weather.stop();
  }

  /** @returns false when the load has ended meanwhile */
  async #waited(ms: number): Promise<boolean> {
    const { signal } = this.#parts;
    const longest = 2 ** 31 - 1;
    return pause(Math.min(longest, Math.max(0, ms)), true, { signal }).catch(() => false);
  }
}
