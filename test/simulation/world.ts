/**
 * One run of the simulated world: an edge, a control plane and their peers run for some minutes with the faults of one
 * seed. Then everything settles, and nothing may be leaked, lost or duplicated.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { account } from './account.ts';
import { ControlMachine, controlUrl, type Keys } from './control-machine.ts';
import { EdgeMachine, maxCalls, sipPort } from './edge-machine.ts';
import { Arrivals, readJournal } from './journal.ts';
import type { Keypads } from './keys.ts';
import { controlHost, machine, type SimNetwork } from './network.ts';
import { pathway } from './pathway.ts';
import { Peer, peerKey } from './peers.ts';
import type { Random } from './random.ts';
import { Registrar, registeredUser, registrarAddress } from './registrar.ts';
import type { SimTime } from './time.ts';
import { portPairs } from './voice.ts';

const number = '+14155550100';
/** Number whose edge registers at a PBX. */
const registeredNumber = '+14155550101';
/** Answered by a pathway that accepts keys. */
const keysNumber = '+14155550102';
const addresses = ['10.1.0.1', '10.1.0.2', '10.1.0.3'] as const;

/** Duration of the faults, ms. */
const troubledMs = 150_000;
/** The longest transaction (64 T1), a pending REGISTER or REFER, and some margin. */
const answersMs = 100_000;
/** Time until calls of vanished peers end: session timers (240 s), else the longest call, and their teardown. */
const sessionsMs = 500_000;
const maxMinutes = 5;

export interface WorldParts {
  readonly seed: number;
  readonly time: SimTime;
  readonly network: SimNetwork;
  readonly random: Random;
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly tell: (line: string) => void;
}

/** Violations of the world's invariants. */
class Violation extends Error {}

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
  #pathwayId: string | null = null;
  readonly #secrets = new Set([peerKey]);
  readonly #keypads: Keypads[] = [];
  /** Runs of the edge, and restarts of its engine. */
  #deaths = 0;
  #keys: Keys | null = null;
  /** Every report that was on disk, in order. */
  readonly #written: ReportBody[] = [];
  /** Call orders that control accepted, by id. */
  readonly #placed = new Set<string>();
  /** Work outside the events; awaited at the end. */
  readonly #work = new Set<Promise<void>>();
  readonly #broken: string[] = [];
  #edgeOffset = 0;
  #controlOffset = 0;

  constructor(parts: WorldParts) {
    this.#parts = parts;
    this.#registrar = new Registrar(parts);
    this.#peers = addresses.map((address) => new Peer(parts, address));
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
    this.#do(async () => {
      await this.#makePathway();
      await this.#configure(2);
      await this.#attachRegistered();
      await this.#startEdge();
    });
    await time.run(5000);
    if (!this.#edge?.connected) throw new Violation('the edge did not reach control within 5 s of its start');
  }

  /** @param endpoints targets of the trunk */
  async #configure(endpoints: number): Promise<void> {
    const [primary, ...others] = addresses
      .slice(1, 1 + endpoints)
      .map((host, priority) => ({ host, port: sipPort, priority }));
    if (!primary) return;
    const agents = [
      [number, { prompt: 'Say hello.' }],
      [keysNumber, { pathway_id: this.#pathwayId }],
    ] as const;
    for (const [of, agent] of agents) {
      await this.#api('POST', '/v1/sip/attach', {
        phone_number: of,
        directions: [
          { type: 'inbound', options: { allowed_ips: [...addresses] } },
          { type: 'outbound', sip_endpoint: `${primary.host}:${sipPort}` },
        ],
      });
      await this.#api('PATCH', '/v1/sip/config', {
        phone_number: of,
        direction: 'outbound',
        failover_config: { enabled: true, endpoints: others, failback: 'auto' },
      });
      await this.#api('POST', `/v1/inbound/${encodeURIComponent(of)}`, {
        ...agent,
        max_duration: maxMinutes,
      });
    }
  }

  async #makePathway(): Promise<void> {
    const made = await this.#api('POST', '/v1/pathway/create', { name: 'Keys' });
    const { pathway_id: id } = JSON.parse(made.text) as { pathway_id: string };
    const { status, text } = await this.#api('POST', `/v1/pathway/${id}`, pathway);
    if (status !== 200) throw new Violation(`the pathway was refused: ${text}`);
    this.#pathwayId = id;
  }

  /** Attaches the number that registers; the PBX gets the password after a while. */
  async #attachRegistered(): Promise<void> {
    const { random } = this.#parts;
    const { status, text } = await this.#api('POST', '/v1/sip/attach', {
      phone_number: registeredNumber,
      directions: [
        {
          type: 'inbound',
          auth_mode: 'register',
          sip_endpoint: `${registrarAddress}:${sipPort}`,
          register_auth: { username: registeredUser, password: 'chosen by the customer' },
        },
      ],
    });
    if (status !== 200) return;
    const { data } = JSON.parse(text) as { data: { register_password_for_pbx?: string } };
    const password = data.register_password_for_pbx;
    if (password === undefined) throw new Violation(`attach gave no password: ${text}`);
    this.#secrets.add(password);
    this.#at(random.between(0, 20_000), () => this.#registrar.learn(password));
    await this.#api('POST', `/v1/inbound/${encodeURIComponent(registeredNumber)}`, {
      prompt: 'Say hello.',
      max_duration: maxMinutes,
    });
  }

  async #detachRegistered(): Promise<void> {
    await this.#api('POST', '/v1/sip/detach', { phone_number: registeredNumber });
    await this.#attachRegistered();
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
    happens(random.between(0, 2), () => this.#do(() => this.#registerNow()));
    if (random.chance(0.3)) happens(1, () => this.#do(() => this.#detachRegistered()));
    if (random.chance(0.3)) happens(1, () => this.#part(machine, registrarAddress));
    happens(random.between(2, 12), () => this.#do(() => this.#place()));
    happens(random.between(0, 6), () => this.#do(() => this.#stopOne()));
    happens(random.between(0, 3), () => this.#do(() => this.#configure(random.between(1, 2))));
    happens(random.between(0, 4), () =>
      random.pick(this.#peers).drop(random.pick(['close', 'reset'] as const)),
    );
    happens(random.between(0, 3), () => random.pick(this.#peers).babble());
    happens(random.between(0, 2), () => this.#part(machine, controlHost));
    happens(random.between(0, 2), () => this.#part(machine, random.pick(addresses)));
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

  async #api(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) {
    const control = this.#control;
    if (!control || !this.#keys) return { status: 0, text: '' };
    const answer = await control.call(method, path, this.#keys.key, body);
    if (answer.status >= 500 && answer.status !== 503 && control === this.#control) {
      this.#broken.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    }
    return answer;
  }

  async #place(): Promise<void> {
    const { random, tell } = this.#parts;
    const agent = random.chance(0.7)
      ? { from: number, task: 'Say hello.' }
      : { from: keysNumber, pathway_id: this.#pathwayId };
    const order = {
      phone_number: `+1415555${random.between(1000, 9999)}`,
      ...agent,
      max_duration: maxMinutes,
    };
    const { status, text } = await this.#api('POST', '/v1/calls', order);
    if (status !== 200) return;
    const { call_id: id } = JSON.parse(text) as { call_id: string };
    tell(`placed ${id}`);
    this.#placed.add(id);
  }

  async #stopOne(): Promise<void> {
    const ids = [...this.#placed];
    if (ids.length > 0) await this.#api('POST', `/v1/calls/${this.#parts.random.pick(ids)}/stop`, {});
  }

  async #registerNow(): Promise<void> {
    await this.#api('POST', '/v1/sip/register-now', { phone_number: registeredNumber });
  }

  #part(one: string, other: string): void {
    const { network, random, tell } = this.#parts;
    tell(`${one} and ${other} are parted`);
    network.part(one, other);
    this.#at(random.between(500, 60_000), () => network.join(one, other));
  }

  #jump(): void {
    const { random, tell } = this.#parts;
    const by = random.pick([-3_600_000, -5000, 5000, 60_000]);
    const whose = random.pick(['edge', 'control'] as const);
    tell(`the clock of ${whose} jumps by ${by} ms`);
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
    const { random, tell } = this.#parts;
    const how = random.pick(['stops', 'now', 'before', 'after'] as const);
    tell(`control goes: ${how}`);
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
    tell('control is back');
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
    this.#parts.tell('the engine dies');
    this.#deaths++;
    if (this.#edge?.alive) await this.#edge.restartEngine();
  }

  #killEdge(): void {
    const edge = this.#edge;
    if (!edge?.alive) return;
    const { random, tell } = this.#parts;
    const how = random.pick(['now', 'before', 'after'] as const);
    tell(`the edge dies: ${how}`);
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
    this.#parts.tell('the edge is stopped');
    await edge.stop();
    if (edge === this.#edge) await this.#startEdge();
  }

  async #startEdge(): Promise<void> {
    const { time, network, random, tls, tell } = this.#parts;
    if (!this.#keys) return;
    // Other callers see that the start is in progress.
    this.#edge = null;
    // A killed process may hold its files: the next one reads a copy of the disk at the crash.
    const before = join(this.#folder, `edge-${this.#life}`);
    const folder = join(this.#folder, `edge-${++this.#life}`);
    if (this.#life === 1) mkdirSync(folder);
    else cpSync(before, folder, { recursive: true });
    tell('the edge starts');
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
    const { time, network, tell } = this.#parts;
    network.joinAll();
    network.faults = { delayMs: 5, loss: 0, cuts: 0 };
    tell('peace');
    this.#registrar.calm();
    for (const peer of [...this.#peers, this.#registrar.peer]) peer.leave();
    // Wait for running work: restarts, orders.
    await time.run(70_000, () => this.#always());
    if (!this.#edge?.alive) await this.#startEdge();
    this.#do(() => this.#attachRegistered());
    await time.run(answersMs, () => this.#always());
    const edge = this.#edge;
    if (!edge) throw new Violation('there is no edge');
    edge.media.fallSilent();
    this.#agree(edge);
    this.#registered();
    await time.run(sessionsMs, () => this.#always());
    this.#restful(edge);
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
    this.#nothingLeft(edge);
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

  /** Engine and edge have the same dialogs; each belongs to a call. */
  #agree(edge: EdgeMachine): void {
    const { dialogs = 0 } = edge.engine.metrics();
    const known = edge.signaling.dialogs;
    if (dialogs < known) {
      throw new Violation(
        `the edge holds ${known} dialogs, the engine ${dialogs}: an end was not told; calls without end: ${this.#endless().join(' ')}`,
      );
    }
    if (dialogs > known)
      throw new Violation(
        `the engine holds ${dialogs} dialogs, the edge ${known}: one was forgotten; calls without end: ${this.#endless().join(' ')}; up at the far end: ${this.#up()}`,
      );
    if (edge.calls.size > 0 && known === 0) {
      throw new Violation(`${edge.calls.size} calls without a dialog`);
    }
  }

  #up(): string {
    const calls = this.#peers.flatMap((peer) => [...peer.calls.values()]);
    return calls
      .filter(({ over }) => !over)
      .map(({ callId }) => callId)
      .join(' ');
  }

  /** Call-IDs of the calls whose end was not reported. */
  #endless(): string[] {
    const live = new Map<string, CallRecord>();
    for (const body of this.#written) if (body.type === 'call') live.set(body.call.id, body.call);
    return [...live.values()]
      .filter((call) => !call.ended_at)
      .map((call) => `${call.sip_call_id} (${call.status})`);
  }

  #restful(edge: EdgeMachine): void {
    const left = {
      calls: edge.calls.size,
      'dialogs of the edge': edge.signaling.dialogs,
      'dialogs of the engine': edge.engine.metrics().dialogs ?? 0,
      'client transactions': edge.engine.metrics().client_transactions ?? 0,
      'server transactions': edge.engine.metrics().server_transactions ?? 0,
      'media legs': edge.media.open.size,
      agents: edge.agents.open.size,
    };
    const held = Object.entries(left).filter(([, count]) => count > 0);
    // OPTIONS to the trunks' targets may be pending at any time.
    const real = held.filter(([what, count]) => what !== 'client transactions' || count > addresses.length);
    if (real.length > 0) {
      const what = real.map(([name, count]) => `${count} ${name}`).join(', ');
      throw new Violation(`left at rest: ${what}; without end: ${this.#endless().join(' ')}`);
    }
  }

  #nothingLeft(edge: EdgeMachine): void {
    if (edge.engineTimers > 0)
      this.#broken.push(`${edge.engineTimers} timers of the engine are left after its end`);
    if (edge.clock.pending > 0)
      this.#broken.push(`${edge.clock.pending} timers of the edge are left after its end`);
    const failures = [
      ...edge.engineLog
        .filter(({ level }) => level === 'error')
        .map(({ message, fields }) => `engine: ${message} ${JSON.stringify(fields)}`),
      ...edge.log.lines
        .filter(({ level }) => level === 'error')
        .map(({ message, fields }) => `edge: ${message} ${JSON.stringify(withStack(fields))}`),
    ].filter((line) => !expected.test(line));
    this.#broken.push(...failures);
  }

  /** @returns the calls */
  async #account(): Promise<number> {
    const control = this.#control;
    const edge = this.#edge;
    if (!control || !edge) throw new Violation('control or the edge did not come back');
    const peers = [...this.#peers, this.#registrar.peer];
    const { calls, problems } = await account({
      db: control.app.services.database.db,
      written: this.#written,
      journal: readJournal(join(this.#folder, `edge-${this.#life}`)),
      arrivals: this.#arrivals,
      seen: peers.flatMap((peer) => [...peer.calls.values()]),
      placed: this.#placed,
      keypads: this.#keypads,
      secrets: [...this.#secrets],
      wholeTraces: this.#life === 1 && this.#deaths === 0 && (edge.engine.metrics().hep_dropped ?? 0) === 0,
    });
    this.#broken.push(...problems);
    await control.stop();
    this.#check();
    return calls;
  }
}

/** Errors caused by the world's faults, which the edge should log. */
const expected =
  /media worker died|the agent broke|the voice broke|the edge (is dead|died)|model does not answer/;

function withStack(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.stack : value]),
  );
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
