/**
 * One run of the simulated world: an edge, a control plane and their peers live for some minutes under everything that
 * one seed brings over them; then all comes to rest, and nothing may be left, lost or doubled.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { ControlMachine, controlUrl, type Keys } from './control-machine.ts';
import { EdgeMachine, maxCalls, sipPort } from './edge-machine.ts';
import { controlHost, machine, type SimNetwork } from './network.ts';
import { Peer } from './peers.ts';
import type { Random } from './random.ts';
import type { SimTime } from './time.ts';
import { portPairs } from './voice.ts';

const number = '+14155550100';
const addresses = ['10.1.0.1', '10.1.0.2', '10.1.0.3'] as const;

/** How long the world is troubled, ms. */
const troubledMs = 150_000;
/** The longest transaction (64 T1), a REGISTER or REFER that is waited for, and some more. */
const answersMs = 100_000;
/** What ends calls whose peers are gone: session timers (240 s), else the longest call, and what follows. */
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

/** What the world found wrong. */
class Violation extends Error {}

export class World {
  readonly #parts: WorldParts;
  readonly #folder = mkdtempSync(join(tmpdir(), 'simulation-'));
  readonly #peers: Peer[];
  #life = 0;
  #edge: EdgeMachine | null = null;
  #control: ControlMachine | null = null;
  #keys: Keys | null = null;
  /** Every report that was on disk, in order. */
  readonly #written: ReportBody[] = [];
  /** Orders of calls that control took, by their ids. */
  readonly #placed = new Set<string>();
  /** What goes on beside the events; awaited at the end. */
  readonly #work = new Set<Promise<void>>();
  readonly #broken: string[] = [];
  #edgeOffset = 0;
  #controlOffset = 0;

  constructor(parts: WorldParts) {
    this.#parts = parts;
    this.#peers = addresses.map((address) => new Peer(parts, address));
  }

  get steps(): number {
    return this.#parts.time.steps;
  }

  /** @throws Violation with all that is wrong */
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
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  async #begin(): Promise<void> {
    const { time, network } = this.#parts;
    this.#control = await ControlMachine.start(time, network, join(this.#folder, 'control.db'));
    this.#keys = await this.#control.found();
    this.#do(async () => {
      await this.#configure(2);
      await this.#startEdge();
    });
    await time.run(5000);
    if (!this.#edge?.connected) throw new Violation('the edge did not reach control within 5 s of its start');
  }

  /** @param endpoints places of the trunk */
  async #configure(endpoints: number): Promise<void> {
    const [primary, ...others] = addresses
      .slice(1, 1 + endpoints)
      .map((host, priority) => ({ host, port: sipPort, priority }));
    if (!primary) return;
    await this.#api('POST', '/v1/sip/attach', {
      phone_number: number,
      directions: [
        { type: 'inbound', options: { allowed_ips: [...addresses] } },
        { type: 'outbound', sip_endpoint: `${primary.host}:${sipPort}` },
      ],
    });
    await this.#api('PATCH', '/v1/sip/config', {
      phone_number: number,
      direction: 'outbound',
      failover_config: { enabled: true, endpoints: others, failback: 'auto' },
    });
    await this.#api('POST', `/v1/inbound/${encodeURIComponent(number)}`, {
      prompt: 'Say hello.',
      max_duration: maxMinutes,
    });
  }

  /** Plans what comes over the world. */
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
    happens(random.between(5, 25), () => random.pick(this.#peers).invite(number));
    happens(random.between(2, 12), () => this.#do(() => this.#place()));
    happens(random.between(0, 6), () => this.#do(() => this.#stopOne()));
    happens(random.between(0, 3), () => this.#do(() => this.#configure(random.between(1, 2))));
    happens(random.between(0, 4), () =>
      random.pick(this.#peers).drop(random.pick(['close', 'reset'] as const)),
    );
    happens(random.between(0, 3), () => random.pick(this.#peers).babble());
    happens(random.between(0, 2), () => this.#part(machine, controlHost));
    happens(random.between(0, 2), () => this.#part(machine, random.pick(addresses)));
    if (random.chance(0.5)) happens(1, () => this.#do(() => this.#restartControl()));
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
    const order = {
      phone_number: `+1415555${random.between(1000, 9999)}`,
      from: number,
      task: 'Say hello.',
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

  async #restartControl(): Promise<void> {
    const control = this.#control;
    if (!control) return;
    const { time, network, random, tell } = this.#parts;
    tell('control goes');
    this.#control = null;
    await control.stop();
    control.die();
    await new Promise<void>((resolve) => this.#at(random.between(0, 40_000), resolve));
    this.#control = await ControlMachine.start(
      time,
      network,
      join(this.#folder, 'control.db'),
      this.#controlOffset,
    );
    tell('control is back');
  }

  async #restartEngine(): Promise<void> {
    this.#parts.tell('the engine dies');
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
    // A process that was killed may hold its files: the next one reads what was on disk at its death.
    const before = join(this.#folder, `edge-${this.#life}`);
    const folder = join(this.#folder, `edge-${++this.#life}`);
    if (this.#life === 1) mkdirSync(folder);
    else cpSync(before, folder, { recursive: true });
    tell('the edge starts');
    this.#edge = await EdgeMachine.start({
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
  }

  /** What holds after every step. */
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

  /** Trouble ends; everything may come to rest. */
  async #peace(): Promise<void> {
    const { time, network, tell } = this.#parts;
    network.joinAll();
    network.faults = { delayMs: 5, loss: 0, cuts: 0 };
    tell('peace');
    for (const peer of this.#peers) peer.leave();
    // What was under way comes to its end: restarts, orders.
    await time.run(70_000, () => this.#always());
    if (!this.#edge?.alive) await this.#startEdge();
    await time.run(answersMs, () => this.#always());
    const edge = this.#edge;
    if (!edge) throw new Violation('there is no edge');
    edge.media.fallSilent();
    this.#agree(edge);
    await time.run(sessionsMs, () => this.#always());
    this.#restful(edge);
    await time.run(40_000, () => this.#always());
    if (edge.unreported > 0) throw new Violation(`${edge.unreported} reports have not reached control`);
    const stopped = edge.stop();
    let done = false;
    void stopped.then(() => {
      done = true;
    });
    await time.run(60_000);
    if (!done) throw new Violation('the edge did not stop within 60 s without a call');
    this.#nothingLeft(edge);
    if (this.#work.size > 0) throw new Violation('an operation has not ended');
    this.#check();
  }

  /** Engine and edge know of the same dialogs; each belongs to a call. */
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
    // OPTIONS to the trunks' places may be under way at any time.
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

  /** Exactly one record of each call, as it was last written; each line of a transcript once. @returns the calls */
  async #account(): Promise<number> {
    const control = this.#control;
    if (!control) throw new Violation('control did not come back');
    const { db } = control.app.services.database;
    const rejected = await db.selectFrom('rejected_reports').select(['problem']).execute();
    for (const { problem } of rejected) this.#broken.push(`control rejected a report: ${problem}`);
    const rows = await db
      .selectFrom('calls')
      .select(['id', 'sip_call_id', 'status', 'ended_at', 'termination'])
      .execute();
    const byId = new Map(rows.map((row) => [row.id, row]));
    const last = new Map<string, CallRecord>();
    const lines = new Map<string, number>();
    for (const body of this.#written) {
      if (body.type === 'call') {
        const before = last.get(body.call.id);
        if (before?.ended_at) this.#broken.push(`call ${body.call.id} was reported again after its end`);
        last.set(body.call.id, body.call);
      }
      if (body.type === 'transcript') {
        for (const { id } of body.entries) lines.set(id, (lines.get(id) ?? 0) + 1);
      }
    }
    for (const [id, record] of last) {
      const row = byId.get(id);
      if (!row) this.#broken.push(`call ${id} (${record.sip_call_id}) is lost`);
      else if (row.ended_at === null)
        this.#broken.push(`call ${id} (${record.sip_call_id}) has no end in control: ${row.status}`);
      else if (record.ended_at && row.termination !== record.termination) {
        this.#broken.push(`call ${id} ended ${record.termination}, control says ${row.termination}`);
      }
    }
    for (const row of rows) {
      if (row.ended_at === null) this.#broken.push(`call ${row.id} is not over in control: ${row.status}`);
    }
    for (const id of this.#placed) if (!byId.has(id)) this.#broken.push(`placed call ${id} has no record`);
    const ofCallId = Map.groupBy(
      rows.filter(({ sip_call_id: id }) => id),
      (row) => row.sip_call_id,
    );
    for (const peer of this.#peers) {
      for (const seen of peer.calls.values()) {
        const records = ofCallId.get(seen.callId)?.length ?? 0;
        if (records > 1) this.#broken.push(`${seen.callId} has ${records} records`);
        if (records === 0 && seen.status === 200)
          this.#broken.push(`${seen.callId} was answered and has no record`);
      }
    }
    const parts = await db.selectFrom('transcript_parts').select(['entries']).execute();
    const stored = parts
      .flatMap(({ entries }) => JSON.parse(entries) as { id: string }[])
      .map(({ id }) => id);
    const known = new Set(stored);
    if (known.size !== stored.length) this.#broken.push('a line of a transcript is stored twice');
    for (const id of lines.keys())
      if (!known.has(id)) this.#broken.push(`line ${id} of a transcript is lost`);
    await control.stop();
    this.#check();
    return rows.length;
  }
}

/** Errors that the world's own faults make, and that the edge is right to log. */
const expected = /media worker died|the agent broke|the edge (is dead|died)|model does not answer/;

function withStack(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.stack : value]),
  );
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
