import { expect, it } from 'vitest';
import { arranged, boxOf, nodeHeight, nodeTowards, nodeWidth, type Places, placesOf } from './layout.ts';
import { showing, wholeView, zoomed } from './view.ts';

const node = (id: string, position?: object) => ({
  id,
  type: 'Default',
  data: {},
  ...(position && { position }),
});
const edge = (source: string, target: string) => ({ source, target, data: { label: 'on' } });
const graph = {
  nodes: [node('a'), node('b'), node('c'), { globalConfig: {} }],
  edges: [edge('a', 'b'), edge('a', 'c'), edge('c', 'a'), edge('b', 'gone')],
};

/** Ids of nodes that lie over one another. */
function overlaps(places: Places): string[] {
  const all = [...places];
  return all.flatMap(([id, one], index) =>
    all
      .slice(index + 1)
      .filter(([, other]) => Math.abs(one.x - other.x) < nodeWidth && Math.abs(one.y - other.y) < nodeHeight)
      .map(([other]) => `${id} ${other}`),
  );
}

it('puts nodes without places in layers that do not overlap, also with loops and edges to nowhere', () => {
  const places = placesOf(graph);
  expect([...places.keys()]).toEqual(['a', 'b', 'c']);
  expect(overlaps(places)).toEqual([]);
  expect(places.get('b')?.y).toBeGreaterThan(places.get('a')?.y ?? 0);
});

it('keeps the places of the author, and arranges all nodes when one has none or two share one', () => {
  const [a, b] = [node('a', { x: 1, y: 2 }), node('b', { x: 300, y: 4 })];
  expect([...placesOf({ nodes: [a, b], edges: [] })]).toEqual([
    ['a', { x: 1, y: 2 }],
    ['b', { x: 300, y: 4 }],
  ]);
  for (const other of [node('c'), node('c', { x: 1, y: 2 }), node('c', { x: Number.NaN, y: 0 })]) {
    const places = placesOf({ nodes: [a, b, other], edges: [] });
    expect(overlaps(places)).toEqual([]);
    expect(places).toEqual(arranged({ nodes: [a, b, other], edges: [] }));
  }
});

it('arranges the largest graph in rows, at once', () => {
  const nodes = Array.from({ length: 500 }, (_, index) => node(`n${index}`));
  const edges = nodes.flatMap((_, index) => [
    edge(`n${index}`, `n${(index * 7 + 1) % 500}`),
    edge(`n${index}`, `n${(index + 1) % 500}`),
  ]);
  const places = placesOf({ nodes: [{ ...node('start'), data: { isStart: true } }, ...nodes], edges });
  expect(overlaps(places)).toEqual([]);
  expect(places.get('start')).toEqual({ x: 0, y: 0 });
  // Nothing leads to them.
  expect(places.get('n1')).toEqual({ x: 230, y: 118 });
});

it('finds the next node in a direction, and none past the last', () => {
  const places: Places = new Map([
    ['a', { x: 0, y: 0 }],
    ['b', { x: 300, y: 10 }],
    ['c', { x: 250, y: 400 }],
    ['d', { x: 0, y: 500 }],
  ]);
  expect(nodeTowards(places, 'a', 'right')).toBe('b');
  expect(nodeTowards(places, 'a', 'down')).toBe('d');
  expect(nodeTowards(places, 'c', 'up')).toBe('b');
  expect(nodeTowards(places, 'a', 'left')).toBeNull();
});

it('shows the whole graph, and moves no further than a node needs', () => {
  const size = { width: 360, height: 340 };
  const places: Places = new Map([
    ['a', { x: -500, y: 0 }],
    ['b', { x: 500, y: 900 }],
  ]);
  const whole = wholeView(boxOf(places), size);
  for (const place of places.values()) expect(showing(whole, place, size)).toBe(whole);
  const close = zoomed(whole, 4, { x: 0, y: 0 });
  const moved = showing(close, { x: 500, y: 900 }, size);
  expect(moved).not.toEqual(close);
  expect(showing(moved, { x: 500, y: 900 }, size)).toBe(moved);
});

it('zooms around a point, within bounds', () => {
  const view = { x: 10, y: 20, scale: 1 };
  const at = { x: 110, y: 220 };
  const closer = zoomed(view, 2, at);
  expect(closer).toEqual({ x: -90, y: -180, scale: 2 });
  expect(zoomed(closer, 0.5, at)).toEqual(view);
  expect(zoomed(view, 1000, at).scale).toBe(2.5);
  expect(zoomed(view, 0, at).scale).toBe(0.15);
});
