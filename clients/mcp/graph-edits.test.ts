import { describe, expect, it } from 'vitest';
import { edited } from './graph-edits.ts';

const graph = {
  nodes: [
    { id: 'a', type: 'Default', data: { name: 'Hello', prompt: 'Greet', isStart: true } },
    { id: 'b', type: 'End Call', data: { name: 'Bye' } },
  ],
  edges: [{ id: 'ab', source: 'a', target: 'b', data: { label: 'done' } }],
};

describe('edits of a graph', () => {
  it('change members of the data of a node, and remove those that are null', () => {
    const { nodes } = edited(graph, { change_nodes: [{ id: 'a', data: { prompt: 'Welcome', name: null } }] });
    expect(nodes).toEqual([
      { id: 'a', type: 'Default', data: { prompt: 'Welcome', isStart: true } },
      graph.nodes[1],
    ]);
    expect(graph.nodes[0]?.data.prompt).toBe('Greet');
  });

  it('add and remove nodes and edges; the edges of a removed node go with it', () => {
    const node = { id: 'c', type: 'End Call', data: {} };
    const edge = { id: 'ac', source: 'a', target: 'c' };
    expect(edited(graph, { remove_nodes: ['b'], add_nodes: [node], add_edges: [edge] })).toEqual({
      nodes: [graph.nodes[0], node],
      edges: [edge],
    });
    expect(edited(graph, { remove_edges: ['ab'] }).edges).toEqual([]);
  });

  it('are rejected when they name what the graph does not have', () => {
    expect(() => edited(graph, { change_nodes: [{ id: 'x', data: {} }] })).toThrow('no node x');
    expect(() => edited(graph, { remove_nodes: ['x'] })).toThrow('no node x');
    expect(() => edited(graph, { remove_edges: ['x'] })).toThrow('no edge x');
  });
});
