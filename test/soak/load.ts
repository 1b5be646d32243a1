/** Calls and operations at random times, all chosen by the seed. */
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../simulation/random.ts';
import { type ApiKind, apiScripts, apiWeights } from './api-load.ts';
import type { Carrier } from './carrier.ts';
import type { Part } from './disturbances.ts';
import { type InboundKind, inboundScripts, inboundWeights } from './inbound.ts';
import type { Ledger } from './ledger.ts';
import {
  type OutboundContext,
  type OutboundKind,
  outboundScripts,
  outboundWeights,
  overDeadTrunk,
} from './outbound.ts';
import type { Prepared } from './setup.ts';
import { type TransferKind, transferScripts, transferWeights } from './transfers.ts';

/** Of 100 calls. */
const directions = { inbound: 66, outbound: 23, transfer: 10, 'dead trunk': 1 };
/** The API takes 60 orders of an organization in a minute. */
const mostOrders = 45;
/** More calls at a time cost the soak's own process more than one core. */
const mostAtATime = 150;
/** API operations for each call. */
const operationsPerCall = 0.5;

const programs: readonly Part[] = ['edge', 'engine', 'media worker'];

export class Load {
  readonly #prepared: Prepared;
  readonly #ledger: Ledger;
  readonly #seed: number;
  readonly #rate: number;
  readonly #scale: number;
  readonly #running = new Set<Promise<void>>();
  readonly #orders: number[] = [];
  #calls = 0;
  #operations = 0;
  #callees = 0;
  #ending = false;
  most = 0;
  skipped = 0;

  constructor(prepared: Prepared, ledger: Ledger, seed: number, rate: number, scale: number) {
    this.#scale = scale;
    this.#prepared = prepared;
    this.#ledger = ledger;
    this.#seed = seed;
    this.#rate = rate;
  }

  get calls(): number {
    return this.#calls;
  }

  get operations(): number {
    return this.#operations;
  }

  /** Calls and operations under way. */
  get running(): number {
    return this.#running.size;
  }

  /** Begins calls and operations until {@link end}. */
  start(): void {
    void this.#every(this.#rate, new Random(this.#seed * 7919 + 1), () => this.#call());
    void this.#every(this.#rate * operationsPerCall, new Random(this.#seed * 7919 + 2), () =>
      this.#operate(),
    );
  }

  /** Begins no more; resolves when all under way have ended. */
  async end(): Promise<void> {
    this.#ending = true;
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** At random moments, `perSecond` of them in a second on average (a Poisson process). */
  async #every(perSecond: number, random: Random, begin: () => Promise<void>): Promise<void> {
    for (let next = performance.now(); ; ) {
      next += (-Math.log(1 - random.next()) / perSecond) * 1000;
      await pause(Math.max(0, next - performance.now()));
      if (this.#ending) return;
      if (this.#running.size >= mostAtATime) {
        this.skipped++;
        continue;
      }
      const run: Promise<void> = begin().finally(() => this.#running.delete(run));
      this.#running.add(run);
      this.most = Math.max(this.most, this.#running.size);
    }
  }

  /** Everything about a call comes from its own generator, so that it does not depend on the order of events. */
  #call(): Promise<void> {
    const random = new Random(this.#seed * 1_000_003 + ++this.#calls);
    const carrier = random.pick(this.#prepared.carriers);
    const direction = random.weighted(directions);
    const isOrder = direction === 'outbound' || direction === 'dead trunk';
    if (isOrder && this.#mayOrder()) {
      return direction === 'outbound'
        ? this.#outbound(carrier, random)
        : this.#overDeadTrunk(carrier, random);
    }
    return direction === 'transfer' ? this.#transfer(carrier, random) : this.#inbound(carrier, random);
  }

  #mayOrder(): boolean {
    const now = performance.now();
    while ((this.#orders[0] ?? now) < now - 60_000) this.#orders.shift();
    if (this.#orders.length >= mostOrders) return false;
    this.#orders.push(now);
    return true;
  }

  #inbound(carrier: Carrier, random: Random): Promise<void> {
    const kind: InboundKind = random.weighted(inboundWeights);
    const line = random.pick(this.#prepared.lines);
    return this.#ledger.run(`in: ${kind}`, [...programs, `link ${carrier.name}`], async (call) => {
      const caller = await carrier.phone();
      try {
        await inboundScripts[kind](call, caller, { carrier, random, line, scale: this.#scale });
      } finally {
        await caller.close();
      }
    });
  }

  #transfer(carrier: Carrier, random: Random): Promise<void> {
    const kind: TransferKind = random.weighted(transferWeights);
    return this.#ledger.run(`transfer: ${kind}`, this.#partsOf(carrier), async (call) => {
      const caller = await carrier.phone();
      try {
        await transferScripts[kind](call, caller, this.#context(carrier, random));
      } finally {
        await caller.close();
      }
    });
  }

  #outbound(carrier: Carrier, random: Random): Promise<void> {
    const kind: OutboundKind = random.weighted(outboundWeights);
    return this.#ledger.run(`out: ${kind}`, this.#partsOf(carrier), (call) =>
      outboundScripts[kind](call, this.#context(carrier, random)),
    );
  }

  #overDeadTrunk(carrier: Carrier, random: Random): Promise<void> {
    const { deadNumber } = this.#prepared;
    return this.#ledger.run('out: over a dead trunk', ['control', ...programs], (call) =>
      overDeadTrunk(call, deadNumber, this.#context(carrier, random)),
    );
  }

  #partsOf({ name }: Carrier): Part[] {
    return ['control', ...programs, `link ${name}`, `trunk ${name}`];
  }

  #context(carrier: Carrier, random: Random): OutboundContext {
    const { api, shortPathway, askingPathway, greeting } = this.#prepared;
    const nextCallee = () => `+1415${6_000_000 + (this.#callees++ % 3_000_000)}`;
    return { api, carrier, random, shortPathway, askingPathway, greeting, nextCallee };
  }

  #operate(): Promise<void> {
    const random = new Random(this.#seed * 2_000_003 + ++this.#operations);
    const kind: ApiKind = random.weighted(apiWeights);
    const { api, carriers, askingPathway, widget, scenario, tested } = this.#prepared;
    const number = this.#operations;
    const isTestCall = kind === 'agent test over a call';
    return this.#ledger.run(`API: ${kind}`, ['control', ...(isTestCall ? programs : [])], () =>
      apiScripts[kind]({
        api,
        random,
        numbers: carriers.map((carrier) => carrier.number),
        pathway: askingPathway,
        widget,
        scenario,
        tested,
        next: () => number,
      }),
    );
  }
}
