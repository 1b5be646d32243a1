import { describe, expect, it } from 'vitest';
import { EdgeTime } from './edge-time.ts';

const ours = Date.UTC(2030, 0, 1);
const iso = (ms: number) => new Date(ms).toISOString();

describe('the clock of an edge', () => {
  it('is unknown before the edge has reported a time', () => {
    const time = new EdgeTime();
    expect(time.at(ours)).toBeNull();
    time.note(undefined, ours);
    time.note('never, but long enough', ours);
    expect(time.at(ours)).toBeNull();
  });

  it('has the offset given by the fastest frame', () => {
    const time = new EdgeTime();
    time.note(iso(ours + 60_000), ours + 800);
    time.note(iso(ours + 70_000), ours + 10_003);
    time.note(iso(ours + 80_000), ours + 20_500);
    expect(time.at(ours)).toBe(iso(ours + 59_997));
  });

  it('is trusted at once when set forward, and after a minute when set back', () => {
    const time = new EdgeTime();
    time.note(iso(ours), ours);
    time.note(iso(ours + 3_600_000), ours);
    expect(time.at(ours)).toBe(iso(ours + 3_600_000));
    for (let status = 0; status < 5; status++) time.note(iso(ours), ours);
    expect(time.at(ours)).toBe(iso(ours + 3_600_000));
    time.note(iso(ours), ours);
    expect(time.at(ours)).toBe(iso(ours));
  });
});
