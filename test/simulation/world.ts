/**
 * One run of the simulated world: an edge, a control plane and their peers run for some minutes with the faults of one
 * seed. Then everything settles, and nothing may be leaked, lost or duplicated.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { account } from './account.ts';
import { ControlMachine, controlUrl, type Keys } from './control-machine.ts';
import { Customer, keysNumber, number, trunkAddresses } from './customer.ts';
import { EdgeMachine, maxCalls } from './edge-machine.ts';
import { atRest, leftovers, sameDialogs, Violation } from './invariants.ts';
import { Arrivals, readJournal } from './journal.ts';
import type { Keypads } from './keys.ts';
import { controlHost, machine, type SimNetwork } from './network.ts';
import { Peer, type SeenCall } from './peers.ts';
import type { Random } from './random.ts';
import { Registrar, registrarAddress } from './registrar.ts';
import type { SimTime } from './time.ts';
import { portPairs } from './voice.ts';

/** Duration of the faults, ms. */
const troubledMs = 150_000;
/** The longest transaction (64 T1), a pending REGISTER or REFER, and some margin. */
const answersMs = 100_000;
/** Time until calls of vanished peers end: session timers (240 s), else the longest call, and their teardown. */
const sessionsMs = 500_000;

export interface WorldParts {
  readonly seed: number;
  readonly time: SimTime;
  readonly network: SimNetwork;
  readonly random: Random;
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly note: (line: string) => void;
}

export class World {
  readonly #parts: WorldParts;
  readonly #folder = mkdtempSync(join(tmpdir(), 'simulation-'));
  readonly #peers: Peer[];
  #life = 0;
  #edge: EdgeMachine | null = null;
  #control: ControlMachine | null = null;
  #controls = 0;
  /** Crashed processes of control: released at the end. */
  readonly #dead: ControlMachine[] = [];
  readonly #arrivals = new Arrivals();
  readonly #registrar: Registrar;
  readonly #customer: Customer;
  readonly #keypads: Keypads[] = [];
  /** Runs of the edge, and restarts of its engine. */
  #deaths = 0;
  #keys: Keys | null = null;
  /** Every report that was on disk, in order. */
  readonly #written: ReportBody[] = [];
  /** Work outside the events; awaited at the end. */
  readonly #work = new Set<Promise<void>>();
  readonly #broken: string[] = [];
  #edgeOffset = 0;
  #controlOffset = 0;

  constructor(parts: WorldParts) {
    this.#parts = parts;
    this.#registrar = new Registrar(parts);
    this.#customer = new Customer(
      { ...parts, control: () => this.#control, problem: (line) => void this.#broken.push(line) },
      this.#registrar,
    );
    this.#peers = trunkAddresses.map((address) => new Peer(parts, address));
  }

  get steps(): number {
    return this.#parts.time.steps;
  }

  /** @throws Violation with all violations */
  async live(): Promise<{ calls: number; steps: number }> {
    const { time } = this.#parts;
    try {
      await this.#begin();
      this.#trouble();
      await time.run(troubledMs, () => this.#always());
      await this.#peace();
      const calls = await this.#account();
      return { calls, steps: time.steps };
    } finally {
      for (const control of this.#dead) await control.bury();
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  async #begin(): Promise<void> {
    const { time } = this.#parts;
    const control = await this.#startControl();
    this.#keys = await control.found();
    this.#customer.key = this.#keys.key;
    this.#do(async () => {
      await this.#customer.makePathway();
      await this.#customer.configure(2);
      await this.#customer.attachRegistered();
      await this.#startEdge();
    });
    await time.run(5000);
    if (!this.#edge?.connected) throw new Violation('the edge did not reach control within 5 s of its start');
  }

  /** Plans the faults of the world. */
  #trouble(): void {
    const { random, network } = this.#parts;
    network.faults = {
      delayMs: random.pick([1, 20, 200]),
      loss: random.pick([0, 0.01, 0.1]),
      cuts: random.pick([0, 0.2]),
    };
    const happens = (times: number, what: () => void) => {
      for (let i = 0; i < times; i++) this.#at(random.between(0, troubledMs), what);
    };
    happens(random.between(5, 25), () =>
      random.pick(this.#peers).invite(random.pick([number, number, keysNumber])),
    );
    happens(random.between(0, 4), () => this.#registrar.call());
    happens(random.between(0, 5), () => this.#registrar.turn());
    happens(random.between(0, 1), () => this.#registrar.disappear(random.between(1000, 60_000)));
    happens(random.between(0, 2), () => this.#do(() => this.#customer.registerNow()));
    if (random.chance(0.3)) happens(1, () => this.#do(() => this.#customer.detachRegistered()));
    if (random.chance(0.3)) happens(1, () => this.#part(machine, registrarAddress));
    happens(random.between(2, 12), () => this.#do(() => this.#customer.place()));
    happens(random.between(0, 6), () => this.#do(() => this.#customer.stopOne()));
    happens(random.between(0, 3), () => this.#do(() => this.#customer.configure(random.between(1, 2))));
    happens(random.between(0, 4), () =>
      random.pick(this.#peers).drop(random.pick(['close', 'reset'] as const)),
    );
    happens(random.between(0, 3), () => random.pick(this.#peers).babble());
    happens(random.between(0, 2), () => this.#part(machine, controlHost));
    happens(random.between(0, 2), () => this.#part(machine, random.pick(trunkAddresses)));
    if (random.chance(0.6)) happens(random.between(1, 3), () => this.#do(() => this.#restartControl()));
    if (random.chance(0.4)) happens(1, () => this.#do(() => this.#restartEngine()));
    if (random.chance(0.5)) happens(random.between(1, 2), () => this.#killEdge());
    if (random.chance(0.3)) happens(1, () => this.#do(() => this.#stopEdge()));
    if (random.chance(0.3)) happens(1, () => this.#jump());
  }

  #at(ms: number, what: () => void): void {
    this.#parts.time.after(ms, what);
  }

  #do(work: () => Promise<unknown>): void {
    const running = work().then(
      () => {},
      (error: unknown) => void this.#broken.push(`an operation failed: ${stackOf(error)}`),
    );
    this.#work.add(running);
    void running.finally(() => this.#work.delete(running));
  }

  #part(one: string, other: string): void {
    const { network, random, note } = this.#parts;
    note(`${one} and ${other} are parted`);
    network.part(one, other);
    this.#at(random.between(500, 60_000), () => network.join(one, other));
  }

  #jump(): void {
    const { random, note } = this.#parts;
    const by = random.pick([-3_600_000, -5000, 5000, 60_000]);
    const whose = random.pick(['edge', 'control'] as const);
    note(`the clock of ${whose} jumps by ${by} ms`);
    if (whose === 'edge') this.#edge?.clock.jump(by);
    else this.#control?.clock.jump(by);
    if (whose === 'edge') this.#edgeOffset += by;
    else this.#controlOffset += by;
  }

  /** Control shuts down cleanly, or crashes: at once, or while it stores reports. */
  async #restartControl(): Promise<void> {
    const control = this.#control;
    // A planned crash is already pending.
    if (!control || control.dieAtIngest !== null) return;
    const { random, note } = this.#parts;
    const how = random.pick(['stops', 'now', 'before', 'after'] as const);
    note(`control goes: ${how}`);
    if (how === 'before' || how === 'after') {
      control.dieAtIngest = how;
      await this.#pass(random.between(500, 20_000));
      if (control !== this.#control) return;
    }
    this.#control = null;
    if (how === 'stops') await control.stop();
    else {
      control.die();
      this.#dead.push(control);
    }
    await this.#pass(random.between(0, 40_000));
    await this.#startControl();
    note('control is back');
  }

  #pass(ms: number): Promise<void> {
    return new Promise<void>((resolve) => this.#at(ms, resolve));
  }

  async #startControl(): Promise<ControlMachine> {
    const { time, network } = this.#parts;
    const folder = (life: number) => join(this.#folder, `control-${life}`);
    const life = this.#controls++;
    this.#control = await ControlMachine.start({
      time,
      network,
      folder: folder(life),
      nextFolder: folder(life + 1),
      wallClockOffset: this.#controlOffset,
      arrivals: this.#arrivals,
    });
    return this.#control;
  }

  async #restartEngine(): Promise<void> {
    this.#parts.note('the engine dies');
    this.#deaths++;
    if (this.#edge?.alive) await this.#edge.restartEngine();
  }

  #killEdge(): void {
    const edge = this.#edge;
    if (!edge?.alive) return;
    const { random, note } = this.#parts;
    const how = random.pick(['now', 'before', 'after'] as const);
    note(`the edge dies: ${how}`);
    if (how === 'now') edge.die();
    else edge.dieAtWrite = how;
    this.#at(random.between(500, 30_000), () =>
      this.#do(async () => {
        if (edge !== this.#edge) return;
        if (edge.alive) edge.die();
        await this.#startEdge();
      }),
    );
  }

  async #stopEdge(): Promise<void> {
    const edge = this.#edge;
    if (!edge?.alive) return;
    this.#parts.note('the edge is stopped');
    await edge.stop();
    if (edge === this.#edge) await this.#startEdge();
  }

  async #startEdge(): Promise<void> {
    const { time, network, random, tls, note } = this.#parts;
    if (!this.#keys) return;
    // Other callers see that the start is in progress.
    this.#edge = null;
    // A killed process may hold its files: the next one reads a copy of the disk at the crash.
    const before = join(this.#folder, `edge-${this.#life}`);
    const folder = join(this.#folder, `edge-${++this.#life}`);
    if (this.#life === 1) mkdirSync(folder);
    else cpSync(before, folder, { recursive: true });
    note('the edge starts');
    const edge = await EdgeMachine.start({
      time,
      network,
      random,
      folder,
      tls,
      controlUrl,
      edgeToken: this.#keys.edgeToken,
      wallClockOffset: this.#edgeOffset,
      transferTo: () => `+1415555${random.between(1000, 9999)}`,
      written: (body) => this.#written.push(body),
    });
    this.#edge = edge;
    this.#keypads.push(edge.media.keypads);
  }

  /** Invariants after every step. */
  #always(): void {
    const edge = this.#edge;
    if (!edge?.alive) return;
    if (edge.calls.size > maxCalls) this.#broken.push(`${edge.calls.size} calls, the limit is ${maxCalls}`);
    if (edge.media.open.size > portPairs) this.#broken.push(`${edge.media.open.size} media legs`);
    this.#check();
  }

  #check(): void {
    if (this.#broken.length > 0) throw new Violation(this.#broken.join('\n'));
  }

  /** Ends the faults; everything may settle. */
  async #peace(): Promise<void> {
    const { time, network, note } = this.#parts;
    network.joinAll();
    network.faults = { delayMs: 5, loss: 0, cuts: 0 };
    note('peace');
    this.#registrar.calm();
    for (const peer of [...this.#peers, this.#registrar.peer]) peer.leave();
    // Wait for running work: restarts, orders.
    await time.run(70_000, () => this.#always());
    if (!this.#edge?.alive) await this.#startEdge();
    this.#do(() => this.#customer.attachRegistered());
    await time.run(answersMs, () => this.#always());
    const edge = this.#edge;
    if (!edge) throw new Violation('there is no edge');
    edge.media.fallSilent();
    sameDialogs(edge, { written: this.#written, seen: this.#seen() });
    this.#registered();
    await time.run(sessionsMs, () => this.#always());
    atRest(edge, trunkAddresses.length, { written: this.#written, seen: this.#seen() });
    this.#registered();
    await time.run(40_000, () => this.#always());
    await this.#reported(edge);
    const stopped = edge.stop();
    let done = false;
    void stopped.then(() => {
      done = true;
    });
    await time.run(60_000);
    if (!done) throw new Violation('the edge did not stop within 60 s without a call');
    this.#broken.push(...leftovers(edge));
    if (this.#registrar.remembers) this.#broken.push('the registrar still has us after the end of the edge');
    this.#broken.push(...this.#registrar.problems);
    if (this.#work.size > 0) throw new Violation('an operation has not ended');
    this.#check();
  }

  /** Waits for a moment with an empty outbox: all reports written so far have been sent. */
  async #reported(edge: EdgeMachine): Promise<void> {
    for (let tenths = 0; tenths < 100 && edge.unreported > 0; tenths++) {
      await this.#parts.time.run(100, () => this.#always());
    }
    if (edge.unreported > 0) throw new Violation(`${edge.unreported} reports have not reached control`);
  }

  /** The PBX has the binding, over an open connection. */
  #registered(): void {
    if (this.#registrar.binding) return;
    const said = this.#written.findLast((body) => body.type === 'registration');
    throw new Violation(`the registrar has no binding of ours; the edge says ${JSON.stringify(said)}`);
  }

  /** Calls as their far ends saw them. */
  #seen(): SeenCall[] {
    return [...this.#peers, this.#registrar.peer].flatMap((peer) => [...peer.calls.values()]);
  }

  /** @returns the calls */
  async #account(): Promise<number> {
    const control = this.#control;
    const edge = this.#edge;
    if (!control || !edge) throw new Violation('control or the edge did not come back');
    const { calls, problems } = await account({
      db: control.app.services.database.db,
      written: this.#written,
      journal: readJournal(join(this.#folder, `edge-${this.#life}`)),
      arrivals: this.#arrivals,
      seen: this.#seen(),
      placed: this.#customer.placed,
      keypads: this.#keypads,
      secrets: [...this.#customer.secrets],
      wholeTraces: this.#life === 1 && this.#deaths === 0 && (edge.engine.metrics().hep_dropped ?? 0) === 0,
    });
    this.#broken.push(...problems);
    await control.stop();
    this.#check();
    return calls;
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
