import { describe, expect, it } from 'vitest';
import { HeldOctets, type OctetHolder } from './held-octets.ts';

function budget(strangers: number, known: number) {
  const unfinished = new HeldOctets('incomplete messages', { strangers, known });
  const cut: string[] = [];
  const holder = (name: string, group: string, isStranger = true): OctetHolder => ({
    group,
    isStranger,
    destroy: () => {
      cut.push(name);
    },
  });
  return { unfinished, cut, holder };
}

describe('incomplete messages', () => {
  it('end at the total limit: the largest one of the network that holds most', () => {
    const { unfinished, cut, holder } = budget(100, 100);
    unfinished.set(holder('honest', 'n1'), 50);
    unfinished.set(holder('crowd 1', 'n2'), 20);
    unfinished.set(holder('crowd 2', 'n2'), 30);
    expect([unfinished.octets, cut]).toEqual([100, []]);
    unfinished.set(holder('crowd 3', 'n2'), 10);
    expect([unfinished.octets, cut, unfinished.cut]).toEqual([80, ['crowd 2'], 1]);
  });

  it('of strangers and of known sources have separate limits', () => {
    const { unfinished, cut, holder } = budget(100, 100);
    unfinished.set(holder('stranger', 'n1'), 90);
    unfinished.set(holder('carrier', 'org', false), 90);
    expect([unfinished.octets, cut]).toEqual([180, []]);
    unfinished.set(holder('carrier 2', 'org', false), 20);
    expect([unfinished.octets, cut]).toEqual([110, ['carrier']]);
  });

  it('that are complete no longer count, even when their source became known in between', () => {
    const { unfinished, holder } = budget(100, 100);
    const stranger = holder('stranger', 'n1');
    unfinished.set(stranger, 60);
    unfinished.set(stranger, 30);
    expect(unfinished.octets).toBe(30);
    const changed = Object.assign(stranger, { group: 'org', isStranger: false });
    unfinished.set(changed, 40);
    expect(unfinished.octets).toBe(40);
    unfinished.set(changed, 0);
    expect(unfinished.octets).toBe(0);
  });
});
