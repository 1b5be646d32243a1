/** The nodes of a graph as a table: the same as the drawing, in words. */
import { Table } from '../../parts/table.tsx';
import { pathways } from '../../text/pathways.ts';
import { edgesOf, type Graph, nodesOf, type Selected, typeText } from '../graph/graph.ts';

const words = pathways.list;

interface NodeListProps {
  readonly graph: Graph;
  readonly open: (selected: Selected) => void;
}

export function NodeList({ graph, open }: NodeListProps) {
  const nodes = nodesOf(graph);
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  const edges = Map.groupBy(edgesOf(graph), ({ source }) => source);
  const { head } = words;
  return (
    <details class="node-list">
      <summary>
        {words.title} <span class="quiet">{nodes.length}</span>
      </summary>
      <Table
        name={words.title}
        rows={nodes}
        keyOf={({ index }) => String(index)}
        columns={[
          {
            head: head.node,
            cell: ({ id, name }) => (
              <button type="button" class="plain" onClick={() => open({ kind: 'node', id })}>
                {name}
              </button>
            ),
          },
          { head: head.type, cell: ({ type }) => typeText(type), from: 'medium' },
          {
            head: head.text,
            cell: ({ data }) => String(data.text ?? data.prompt ?? ''),
            grows: true,
            from: 'wide',
          },
          {
            head: head.edges,
            cell: ({ id }) =>
              (edges.get(id) ?? [])
                .map(({ label, target }) => words.to(label, names.get(target) ?? target))
                .join('; ') || '–',
          },
        ]}
      />
    </details>
  );
}
