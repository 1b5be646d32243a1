/**
 * Call limits of a fleet whose edges are linked to two control planes, over random histories: calls begin and end, messages
 * take their time, edges die, and the control plane that counts changes. The rules of both programs are the real ones.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { FleetFrame } from '#shared/edge-protocol/fleet.ts';
import { lostEdgeMs } from '../control/fleet/call-counts.ts';
import { SharedCallCounts, type SharedCallCountsParts } from '../control/fleet/shared-call-counts.ts';
import { OutboundLimits } from '../edge/call/limits.ts';
import { FleetCounts } from '../edge/fleet/fleet-counts.ts';
import { QuietLog } from './kit/fakes/quiet-log.ts';

const limit = 4;
const settled = () => new Promise(setImmediate);

/** Messages between two programs, in their order. */
type Way = (() => void)[];

class Replica {
  readonly counts: SharedCallCounts;
  readonly edges: Edge[] = [];
  readonly way: Way = [];
  readonly #receivers = new Map<string, (body: unknown) => void>();
  other: Replica | null = null;

  constructor(clock: FakeClock, world: { readonly edges: readonly Edge[] }) {
    const transients: SharedCallCountsParts['transients'] = {
      peers: new Set(['other']),
      onGap: () => undefined,
      topic: <Body>(name: string) => ({
        send: async (body: Body) => {
          this.way.push(() => this.other?.hear(name, body));
          return true;
        },
        on: (receive: (body: Body, sender: string) => void) =>
          void this.#receivers.set(name, (body) => receive(body as Body, 'other')),
      }),
    };
    const replica = this;
    const linked = {
      get allHere() {
        return replica.edges.map((edge) => edge.linked);
      },
      get all() {
        return world.edges.filter(({ isAlive }) => isAlive).map((edge) => edge.linked);
      },
      here: (id: string) => replica.edges.find(({ linked: { edgeId } }) => edgeId === id)?.linked,
    };
    const members = () => world.edges.filter(({ isAlive }) => isAlive).map((edge) => edge.linked.edgeId);
    this.counts = new SharedCallCounts({ transients, edges: linked, clock, members });
  }

  hear(name: string, body: unknown): void {
    this.#receivers.get(name)?.(body);
  }
}

class Edge {
  isAlive = true;
  readonly toControl: Way = [];
  readonly fromControl: Way = [];
  readonly calls = new Set<string>();
  readonly limits: OutboundLimits;
  readonly fleet: FleetCounts;
  readonly linked: ReturnType<typeof linkedEdge>;
  #ids = 0;

  constructor(id: string, clock: FakeClock, replica: Replica, alive: () => number) {
    this.linked = linkedEdge(id, (frame) => this.fromControl.push(() => this.#receive(frame)));
    this.fleet = new FleetCounts({
      clock,
      edges: alive,
      connected: () => this.isAlive,
      held: () => this.limits.held(),
      send: (frame) => this.toControl.push(() => replica.counts.said(this.linked, frame)),
    });
    this.limits = new OutboundLimits({
      clock,
      log: new QuietLog(),
      organization: () => ({ concurrent: limit }),
      number: () => undefined,
      refused: () => undefined,
      fleet: this.fleet,
    });
    replica.edges.push(this);
    this.fleet.refresh();
  }

  #receive(frame: FleetFrame): void {
    if (frame.type === 'call_answer') this.fleet.answered(frame);
    if (frame.type === 'calls_wanted') this.fleet.declareAgain();
  }

  place(): void {
    const callId = `${this.linked.edgeId}-${++this.#ids}`;
    const verdict = this.limits.admit({ callId, orgId: 'o', from: '+1', to: '+2' });
    void Promise.resolve(verdict).then((refusal) => {
      if (refusal === null && this.isAlive) this.calls.add(callId);
    });
  }

  end(sent: boolean): void {
    const [callId] = this.calls;
    if (callId === undefined) return;
    this.calls.delete(callId);
    this.limits.release(callId, sent);
  }
}

function linkedEdge(edgeId: string, tell: (frame: FleetFrame) => void) {
  const facts = {
    isOpen: true,
    appliedVersion: 0,
    codecs: [],
    metrics: {},
    ordered: 0,
    isSilent: false,
    inFleet: true,
  };
  const plan = { region: null, weight: 100, draining_since: null };
  const addresses = { sip: { host: '', port: 0 }, rtp: { ip: '', port_min: 0, port_max: 0 } };
  const work = { command: async () => undefined, close: () => undefined, replaced: () => undefined };
  return { edgeId, tell, plan, ...facts, ...addresses, ...work };
}

const step = fc.record({
  what: fc.oneof(
    { weight: 4, arbitrary: fc.constant('place') },
    { weight: 6, arbitrary: fc.constant('deliver') },
    { weight: 3, arbitrary: fc.constantFrom('end', 'unsent', 'wait') },
    { weight: 1, arbitrary: fc.constantFrom('die', 'decide') },
  ),
  which: fc.nat(255),
});

it('never are exceeded, and places come back', async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
      const clock = new FakeClock();
      const world: { readonly edges: Edge[] } = { edges: [] };
      const [near, far] = [new Replica(clock, world), new Replica(clock, world)];
      [near.other, far.other] = [far, near];
      const alive = () => Math.max(1, world.edges.filter(({ isAlive }) => isAlive).length);
      for (const [index, id] of ['a', 'b', 'c'].entries())
        world.edges.push(new Edge(id, clock, index === 0 ? near : far, alive));
      for (const edge of world.edges) edge.fleet.refresh();
      for (const replica of [near, far]) replica.counts.look();
      let decider = near;
      decider.counts.decide();
      const ways = () => [
        ...world.edges.filter(({ isAlive }) => isAlive).flatMap((edge) => [edge.toControl, edge.fromControl]),
        near.way,
        far.way,
      ];
      const deliverAll = async () => {
        for (
          let way = ways().find(({ length }) => length > 0);
          way;
          way = ways().find(({ length }) => length > 0)
        ) {
          way.shift()?.();
          await settled();
        }
      };
      // The calls of a dead edge count: all this takes less than 10 s. A control plane that decides later does not know them.
      const forgotten = new Set<Edge>();
      const live = () =>
        world.edges.reduce((sum, edge) => sum + (forgotten.has(edge) ? 0 : edge.calls.size), 0);
      await deliverAll();
      let waitedMs = 0;
      for (const { what, which } of steps) {
        const edge = world.edges[which % 3];
        if (what === 'place' && edge?.isAlive) edge.place();
        if (what === 'end' && edge?.isAlive) edge.end(true);
        if (what === 'unsent' && edge?.isAlive) edge.end(false);
        if (what === 'deliver')
          for (const [index, way] of ways().entries()) if (which & (1 << index)) way.shift()?.();
        // Shorter together than the edges are patient: after that they use their fair share.
        if (what === 'wait' && waitedMs < 7_000) {
          clock.advance(500);
          waitedMs += 500;
        }
        if (what === 'die' && edge?.isAlive && which < 64) {
          edge.isAlive = false;
          for (const replica of [near, far]) {
            replica.counts.look();
            replica.counts.shared(alive());
          }
          for (const other of world.edges) if (other.isAlive) other.fleet.refresh();
        }
        if (what === 'decide') {
          decider.counts.follow();
          decider = decider === near ? far : near;
          decider.counts.decide();
          for (const dead of world.edges) if (!dead.isAlive) forgotten.add(dead);
        }
        await settled();
        most = Math.max(most, live());
        expect(live()).toBeLessThanOrEqual(limit);
      }
      // When all has arrived and ended, every place is free again.
      await deliverAll();
      for (const edge of world.edges) while (edge.calls.size > 0) edge.end(true);
      await deliverAll();
      const last = world.edges.find(({ isAlive }) => isAlive);
      if (!last) return;
      for (let waits = 0; waits < 50 && last.calls.size < limit; waits++) {
        // Those that have asked before get their place first.
        for (const edge of world.edges) while (edge !== last && edge.calls.size > 0) edge.end(true);
        last.place();
        await deliverAll();
        clock.advance(250);
        await deliverAll();
      }
      expect(last.calls.size).toBe(limit);
    }),
    { numRuns: 60 },
  );
  expect(most).toBe(limit);
});

it('hold for the calls of an edge that died for 10 s, also when one edge is left', async () => {
  const clock = new FakeClock();
  const world: { readonly edges: Edge[] } = { edges: [] };
  const replica = new Replica(clock, world);
  const alive = () => world.edges.filter(({ isAlive }) => isAlive).length;
  const [dead, left] = [new Edge('a', clock, replica, alive), new Edge('b', clock, replica, alive)];
  world.edges.push(dead, left);
  const deliverAll = async () => {
    for (const way of [dead.toControl, left.toControl, dead.fromControl, left.fromControl]) {
      while (way.length > 0) way.shift()?.();
      await settled();
    }
  };
  const place = async (edge: Edge) => {
    edge.place();
    for (let turn = 0; turn < 4; turn++) await deliverAll();
  };
  replica.counts.decide();
  replica.counts.look();
  replica.counts.shared(2);
  for (const edge of world.edges) edge.fleet.refresh();
  for (let turn = 0; turn < 4; turn++) await deliverAll();
  for (let calls = 0; calls < limit - 1; calls++) await place(dead);
  expect(dead.calls.size).toBe(limit - 1);
  dead.isAlive = false;
  replica.counts.look();
  replica.counts.shared(1);
  left.fleet.refresh();
  for (let calls = 0; calls < limit; calls++) await place(left);
  expect(left.calls.size).toBe(1);
  clock.advance(lostEdgeMs);
  for (let calls = 0; calls < limit; calls++) await place(left);
  expect(left.calls.size).toBe(limit);
});
