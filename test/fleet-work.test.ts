/**
 * Who works on what in a fleet, over random histories: edges die and return, lose their links, drain, lose their engines,
 * and control restarts. The rules of both programs are the real ones, frames arrive at once and in order, and time is the
 * test's. While things happen a subject may have several workers, or none for a moment; once nothing has happened for the
 * time of a lease, it has exactly one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { Membership } from '#shared/edge-protocol/fleet.ts';
import {
  decideMembers,
  type Member,
  membersAfter,
  memberTimes,
  type Presence,
} from '../control/fleet/member-rules.ts';
import { FleetView } from '../edge/fleet/fleet-view.ts';

const names = ['a', 'b', 'c'];
const subjects = Array.from({ length: 40 }, (_, index) => `registration org registrar-${index}`);
/** Longest time until work has moved: control's restart, a lost member, and an edge that waits to be taken in again. */
const quietMs = memberTimes.returnMs + memberTimes.absentMs + 3_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleet-work-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

class Edge {
  readonly id: string;
  isAlive = true;
  isLinked = false;
  isDraining = false;
  hasEngine = true;
  view: FleetView;
  /** Which of the subjects it worked on when it was told of a change: a binding is made or given up then. */
  held = new Set<string>();
  readonly #path: string;
  readonly #clock: FakeClock;

  constructor(id: string, clock: FakeClock, run: string) {
    this.id = id;
    this.#clock = clock;
    this.#path = join(folder, `${run}-${id}.json`);
    this.view = this.#start();
  }

  #start(): FleetView {
    const view: FleetView = new FleetView({
      clock: this.#clock,
      edgeId: this.id,
      path: this.#path,
      // One whose process has died does nothing any more.
      changed: () => view === this.view && this.#follow(),
      unstored: () => undefined,
    });
    return view;
  }

  /** A new process with the files of the last one. */
  start(): void {
    this.isAlive = true;
    this.view = this.#start();
    this.#follow();
  }

  #follow(): void {
    this.held = new Set(subjects.filter((subject) => this.view.isOurs(subject)));
  }

  get presence(): Presence {
    if (this.isDraining) return 'draining';
    return this.hasEngine ? 'ready' : 'unable';
  }
}

/** The decisions of control/fleet/fleet.ts, with everything stored at once. */
class Control {
  members: readonly Member[] = [];
  epoch = 0;
  #staying: ReadonlyMap<string, number> = new Map();
  readonly #clock: FakeClock;
  readonly #edges: readonly Edge[];

  constructor(clock: FakeClock, edges: readonly Edge[]) {
    this.#clock = clock;
    this.#edges = edges;
  }

  get #linked(): readonly Edge[] {
    return this.#edges.filter(({ isAlive, isLinked }) => isAlive && isLinked);
  }

  /** All links are gone with the process; edges connect again. */
  restart(): void {
    const until = this.#clock.elapsed() + memberTimes.returnMs;
    this.#staying = new Map(this.members.map(({ id }) => [id, until]));
    for (const edge of this.#edges) edge.isLinked = false;
  }

  connect(edge: Edge): void {
    edge.isLinked = true;
    const joined = this.members.map(({ id }) => id).sort();
    edge.view.apply({ type: 'fleet', epoch: this.epoch, from: null, joined, left: [] });
    this.decide();
  }

  decide(): void {
    const decision = decideMembers(
      {
        members: this.members,
        present: new Map(this.#linked.map((edge) => [edge.id, edge.presence])),
        staying: this.#staying,
        now: this.#clock.elapsed(),
      },
      memberTimes,
    );
    const { joined, left, staying } = decision;
    this.#staying = staying;
    if (joined.length === 0 && left.length === 0) return;
    const from = this.epoch++;
    this.members = membersAfter(this.members, decision, this.epoch);
    const frame: Membership = {
      type: 'fleet',
      epoch: this.epoch,
      from,
      joined: [...joined],
      left: [...left],
    };
    for (const { view } of this.#linked) view.apply(frame);
  }
}

const step = fc.record({
  what: fc.constantFrom(
    'cut',
    'link',
    'die',
    'start',
    'drain',
    'undrain',
    'engine lost',
    'engine up',
    'restart control',
    'wait',
    'wait',
    'wait',
  ),
  which: fc.nat(names.length - 1),
  ms: fc.integer({ min: 100, max: 6_000 }),
});

it('each subject has exactly one worker once nothing has happened for the time of a lease', () => {
  let runs = 0;
  let moved = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
      const clock = new FakeClock();
      const edges = names.map((id) => new Edge(id, clock, String(++runs)));
      const control = new Control(clock, edges);
      const pass = (ms: number) => {
        for (let passed = 0; passed < ms; passed += 100) {
          clock.advance(100);
          control.decide();
        }
      };
      for (const edge of edges) control.connect(edge);
      for (const { what, which, ms } of steps) {
        const edge = edges[which];
        if (!edge) continue;
        if (what === 'cut') edge.isLinked = false;
        else if (what === 'link' && edge.isAlive && !edge.isLinked) control.connect(edge);
        else if (what === 'die') [edge.isAlive, edge.isLinked] = [false, false];
        else if (what === 'start' && !edge.isAlive) edge.start();
        else if (what === 'drain') edge.isDraining = true;
        else if (what === 'undrain') edge.isDraining = false;
        else if (what === 'engine lost') edge.hasEngine = false;
        else if (what === 'engine up') edge.hasEngine = true;
        else if (what === 'restart control') control.restart();
        else if (what === 'wait') pass(ms);
        control.decide();
      }
      // Every edge that lives gets its link back; which of them work is up to control.
      for (const edge of edges) if (edge.isAlive && !edge.isLinked) control.connect(edge);
      pass(quietMs);
      const linked = edges.filter(({ isAlive, isLinked }) => isAlive && isLinked);
      const able = linked.filter(({ presence }) => presence === 'ready');
      if (able.length === 0) return;
      moved = Math.max(moved, control.epoch);
      expect(control.members.map(({ id }) => id).sort()).toEqual(able.map(({ id }) => id).sort());
      for (const subject of subjects) {
        expect(linked.filter(({ view }) => view.isOurs(subject)).map(({ id }) => id)).toHaveLength(1);
        expect(linked.filter(({ held }) => held.has(subject)).map(({ id }) => id)).toHaveLength(1);
      }
      for (const { view } of linked) expect(view.epoch).toBe(control.epoch);
    }),
    { numRuns: 80 },
  );
  expect(moved).toBeGreaterThan(5);
});
