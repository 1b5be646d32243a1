import { describe, expect, it } from 'vitest';
import { firstWithin, flowWithin } from './size.ts';

const size = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

describe('firstWithin', () => {
  it('keeps everything that fits, otherwise the first items', () => {
    expect(firstWithin(['aa', 'bb'], 100)).toEqual(['aa', 'bb']);
    expect(firstWithin(['aa', 'bb', 'cc'], 10)).toEqual(['aa', 'bb']);
    expect(firstWithin(['x'.repeat(100), 'b'], 50)).toEqual([]);
  });
});

describe('flowWithin', () => {
  const node = (index: number) => {
    return { id: `node:${index}`, name: `${index}`, type: 'Default', category: 'middle' as const };
  };
  const nodes = Array.from({ length: 20_001 }, (_, index) => node(index));
  const links = Array.from({ length: 20_000 }, (_, index) => ({
    ...{ source: `node:${index}`, target: `node:${index + 1}` },
    ...{ value: index + 1, pass_count: index, fail_count: 1 },
  }));

  it('leaves a small flow unchanged', () => {
    const flow = { nodes: nodes.slice(0, 2), links: links.slice(0, 1) };
    expect(flowWithin(flow, 10_000)).toEqual({ ...flow, isCut: false });
  });

  it('keeps the links with most runs, with both of their nodes', () => {
    const flow = flowWithin({ nodes, links }, 1_048_576);
    expect(flow.isCut).toBe(true);
    expect(size(flow.nodes) + size(flow.links)).toBeLessThan(1_048_576 + 4);
    expect(flow.links.length).toBeGreaterThan(1000);
    expect(flow.links[0]?.value).toBe(20_000);
    const shown = new Set(flow.nodes.map(({ id }) => id));
    expect(flow.links.filter(({ source, target }) => !shown.has(source) || !shown.has(target))).toEqual([]);
  });
});
