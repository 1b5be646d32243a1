import { beforeEach, expect, it } from 'vitest';
import { ConnectedEdges, type LinkedEdge } from './registry.ts';
import { newEdge } from './store.ts';

let edges: ConnectedEdges;
beforeEach(() => {
  edges = new ConnectedEdges();
});

function connected(edgeId: string, more: Partial<LinkedEdge> = {}): LinkedEdge {
  const edge: LinkedEdge = {
    edgeId,
    isOpen: true,
    appliedVersion: 1,
    sip: { host: 'sip.example.com', port: 5061 },
    rtp: { ip: '192.0.2.1', port_min: 1, port_max: 2 },
    codecs: ['PCMU'],
    metrics: {},
    ordered: 0,
    isSilent: false,
    plan: newEdge,
    inFleet: false,
    tell: () => undefined,
    command: async () => undefined,
    close: () => undefined,
    replaced: () => undefined,
    ...more,
  };
  edges.add(edge);
  return edge;
}

it('never returns a closing connection', async () => {
  connected('breaking', { isOpen: false, appliedVersion: 0 });
  expect([edges.count, edges.all, edges.has('breaking'), edges.appliedVersion]).toEqual([0, [], false, null]);
  expect(() => edges.leastLoaded()).toThrow('No edge is connected.');
  await expect(edges.command('breaking', { kind: 'call.stop', call_id: 'c' })).rejects.toThrow(
    'not connected',
  );
  const other = connected('other', { metrics: { trunkline_edge_calls: 5 } });
  expect(edges.leastLoaded()).toBe(other);
  expect(edges.appliedVersion).toBe(1);
});

it('chooses only among edges that know what is asked of them', () => {
  connected('older', { metrics: { trunkline_edge_protocol_revision: 5 } });
  expect(() => edges.leastLoaded(null, 7)).toThrow('earlier version');
  const newer = connected('newer', {
    metrics: { trunkline_edge_calls: 9, trunkline_edge_protocol_revision: 7 },
  });
  expect(edges.leastLoaded(null, 7)).toBe(newer);
  expect(edges.leastLoaded().edgeId).toBe('older');
});
