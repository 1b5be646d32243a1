/** Who is assigned: the same answer everywhere, evenly spread, and little moves. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Assignment, probeWork, registrationWork } from './assignment.ts';

const ids = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 12 });
const subjects = Array.from({ length: 2_000 }, (_, index) =>
  probeWork({ host: `trunk-${index}.example.com`, port: 5061 }),
);
const members = (count: number) => Array.from({ length: count }, (_, index) => `edge-${index}`);

describe('an assignment', () => {
  it('is the same for every order of the members, and exactly one of them', () => {
    fc.assert(
      fc.property(ids, fc.string(), (fleet, subject) => {
        const one = new Assignment(fleet).of(subject);
        expect(new Assignment(fleet.toReversed()).of(subject)).toBe(one);
        expect(fleet).toContain(one);
      }),
    );
  });

  it('moves only the subjects of a member that leaves, and only to others', () => {
    fc.assert(
      fc.property(ids, fc.nat(), fc.array(fc.string(), { maxLength: 50 }), (fleet, pick, of) => {
        const left = fleet[pick % fleet.length];
        const before = new Assignment(fleet);
        const after = new Assignment(fleet.filter((id) => id !== left));
        for (const subject of of) {
          if (before.of(subject) !== left) expect(after.of(subject)).toBe(before.of(subject));
          else expect(after.of(subject)).not.toBe(left);
        }
      }),
    );
  });

  it('gives a new member its part, and moves nothing else', () => {
    const before = new Assignment(members(9));
    const after = new Assignment(members(10));
    const moved = subjects.filter((subject) => before.of(subject) !== after.of(subject));
    expect(moved.every((subject) => after.of(subject) === 'edge-9')).toBe(true);
    // A tenth of 2,000, give or take four standard deviations.
    expect(Math.abs(moved.length - 200)).toBeLessThan(54);
  });

  it('spreads subjects evenly', () => {
    const assignment = new Assignment(members(10));
    const counts = Map.groupBy(subjects, (subject) => assignment.of(subject));
    for (const own of counts.values()) expect(Math.abs(own.length - 200)).toBeLessThan(54);
    expect(counts.size).toBe(10);
  });

  it('never changes from one version to the next', () => {
    const assignment = new Assignment(members(5));
    const given = subjects.slice(0, 12).map((subject) => assignment.of(subject)?.slice(-1));
    expect(given.join('')).toBe('011232203122');
  });

  it('is nobody without members', () => {
    expect(new Assignment([]).of('probe trunk.example.com 5061')).toBeNull();
  });
});

describe('a subject', () => {
  it('is the same for all spellings of a host', () => {
    expect(probeWork({ host: 'TRUNK.example.com.', port: 5061 })).toBe('probe trunk.example.com 5061');
    expect(registrationWork('org', 'PBX.example.com')).toBe('registration org pbx.example.com');
  });
});
