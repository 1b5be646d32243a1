import { expect, it } from 'vitest';
import { validateGraph } from '#shared/agent/graph.ts';
import { graphWarnings } from '#shared/agent/graph-warnings.ts';
import { templates } from './templates.ts';

it.each(Object.entries(templates))('the template %s breaks no rule of graphs', (_name, graph) => {
  if (graph === null) return;
  expect(validateGraph(graph.nodes, graph.edges)).toEqual([]);
  expect(graphWarnings(graph.nodes, graph.edges)).toEqual([]);
});
