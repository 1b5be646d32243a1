/** Who is in the fleet, whatever happens to edges and in whatever order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Assignment } from '#shared/fleet/assignment.ts';
import { decideMembers, isOutdated, type Member, membersAfter, type Presence } from './member-rules.ts';

const absentMs = 3_000;

/** Control's side of a fleet, with time moved by hand. */
class Scene {
  now = 0;
  epoch = 0;
  members: readonly Member[] = [];
  readonly present = new Map<string, Presence>();
  staying: ReadonlyMap<string, number> = new Map();
  /** The members of every epoch. */
  readonly history = new Map<number, readonly string[]>();

  decide(): { againAt: number | null } {
    const decision = decideMembers(this, { absentMs });
    this.staying = decision.staying;
    if (decision.joined.length > 0 || decision.left.length > 0) {
      this.epoch++;
      this.members = membersAfter(this.members, decision, this.epoch);
      this.history.set(this.epoch, this.ids);
    }
    return decision;
  }

  /** Time passes; control decides again when it said it would. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const { againAt } = this.decide();
      if (againAt === null || againAt > end) break;
      this.now = againAt;
    }
    this.now = end;
    this.decide();
  }

  get ids(): string[] {
    return this.members.map(({ id }) => id).sort();
  }
}

const edges = ['a', 'b', 'c', 'd'] as const;
const step = fc.oneof(
  fc.record({ edge: fc.constantFrom(...edges), to: fc.constantFrom('ready', 'unable', 'draining', null) }),
  fc.record({ passMs: fc.integer({ min: 0, max: 5_000 }) }),
);

describe('the fleet', () => {
  it('ends as the edges that are ready, however edges come and go', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const scene = new Scene();
        for (const one of steps) {
          if ('passMs' in one) scene.pass(one.passMs);
          else {
            if (one.to === null) scene.present.delete(one.edge);
            else scene.present.set(one.edge, one.to);
            scene.decide();
          }
        }
        scene.pass(absentMs);
        const ready = [...scene.present].filter(([, how]) => how === 'ready').map(([id]) => id);
        if (ready.length > 0) expect(scene.ids).toEqual(ready.sort());
        // Without a successor the last ones keep their work.
        else expect(scene.ids.length > 0).toBe(scene.epoch > 0);
      }),
    );
  });

  it('has one edge at most for a subject in each epoch, and an edge for it in every epoch', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.string(), (steps, subject) => {
        const scene = new Scene();
        for (const one of steps) {
          if ('passMs' in one) scene.pass(one.passMs);
          else if (one.to === null) scene.present.delete(one.edge);
          else scene.present.set(one.edge, one.to);
          scene.decide();
        }
        for (const members of scene.history.values()) {
          const assigned = members.filter((id) => new Assignment(members).of(subject) === id);
          expect(assigned).toHaveLength(1);
        }
      }),
    );
  });

  it('takes an edge in at once, and gives up one that is gone after 3 s', () => {
    const scene = new Scene();
    scene.present.set('a', 'ready').set('b', 'ready');
    scene.decide();
    expect(scene.ids).toEqual(['a', 'b']);
    scene.present.delete('a');
    scene.pass(absentMs - 1);
    expect(scene.ids).toEqual(['a', 'b']);
    scene.pass(1);
    expect(scene.ids).toEqual(['b']);
    expect(scene.epoch).toBe(2);
  });

  it('does not change while an edge reconnects or its engine restarts', () => {
    const scene = new Scene();
    scene.present.set('a', 'ready').set('b', 'ready');
    scene.decide();
    scene.present.delete('a');
    scene.pass(2_000);
    scene.present.set('a', 'unable');
    scene.pass(999);
    scene.present.set('a', 'ready');
    scene.pass(60_000);
    expect(scene.epoch).toBe(1);
  });

  it('gives up a draining edge at once', () => {
    const scene = new Scene();
    scene.present.set('a', 'ready').set('b', 'ready');
    scene.decide();
    scene.present.set('a', 'draining');
    scene.decide();
    expect(scene.ids).toEqual(['b']);
  });

  it('keeps the last edge until another one comes', () => {
    const scene = new Scene();
    scene.present.set('a', 'ready');
    scene.decide();
    scene.present.delete('a');
    scene.pass(3_600_000);
    expect(scene.ids).toEqual(['a']);
    scene.present.set('b', 'ready');
    scene.decide();
    expect(scene.ids).toEqual(['b']);
  });
});

it('an edge that the operator removed leaves at once, also as the last one, unless it is back', () => {
  const members = ['a', 'b'].map((id) => ({ id, since: 1 }));
  const view = { staying: new Map(), removed: new Set(['a', 'b']), now: 0 };
  const decide = (present: Map<string, Presence>) =>
    decideMembers({ ...view, members, present }, { absentMs });
  expect(decide(new Map())).toMatchObject({ left: ['a', 'b'], againAt: null });
  expect(decide(new Map([['a', 'ready']]))).toMatchObject({ left: ['b'], joined: [] });
});

describe('a report', () => {
  const fleet = { epoch: 9, members: [{ id: 'a', since: 4 }] };
  it.each([
    ['a member of this epoch', 'a', 9, false],
    ['a member since before other changes', 'a', 4, false],
    ['a member from before its eviction', 'a', 3, true],
    ['a connected edge outside', 'b', 9, false],
    ['an evicted edge', 'b', 8, true],
    ['an edge of an earlier version', 'b', undefined, false],
  ])('of %s', (_, edge, epoch, outdated) => {
    expect(isOutdated(fleet, edge, epoch)).toBe(outdated);
  });
});
