/** What is selected in the graph, to read. */
import type { RefObject } from 'preact';
import { valueText } from '../../parts/format.ts';
import { Facts } from '../../parts/pieces.tsx';
import { pathways } from '../../text/pathways.ts';
import { edgesOf, type Graph, nodesOf, type Selected, typeText } from '../graph/graph.ts';

const words = pathways.side;

interface NodeFactsProps {
  readonly graph: Graph;
  readonly selected: Selected | null;
  readonly select: (selected: Selected) => void;
  readonly box: RefObject<HTMLDivElement | null>;
}

export function NodeFacts({ graph, selected, select, box }: NodeFactsProps) {
  const nodes = nodesOf(graph);
  const edges = edgesOf(graph);
  const nameOf = (id: string) => nodes.find((one) => one.id === id)?.name ?? id;
  const node = selected?.kind === 'node' ? nodes.find(({ id }) => id === selected.id) : undefined;
  const edge = selected?.kind === 'edge' ? edges[selected.index] : undefined;
  const title = node
    ? words.node(node.name)
    : edge
      ? words.edge(nameOf(edge.source), nameOf(edge.target))
      : null;
  const on = node ? edges.filter(({ source }) => source === node.id) : [];
  return (
    <div class="card" ref={box} tabIndex={-1}>
      {title === null ? <p class="quiet">{words.none}</p> : <h2>{title}</h2>}
      {node && (
        <>
          <Facts
            rows={[
              [words.type, typeText(node.type)],
              [words.id, <code key="id">{node.id}</code>],
            ]}
          />
          <Values values={node.data} />
          <h3>{words.edges}</h3>
          {on.length === 0 && <p class="quiet">{words.noEdges}</p>}
          <ul>
            {on.map(({ index, label, target }) => (
              <li key={index}>
                <button type="button" onClick={() => select({ kind: 'node', id: target })}>
                  {pathways.list.to(label, nameOf(target))}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      {edge && <Values values={graph.edges[edge.index] ?? {}} />}
    </div>
  );
}

function Values({ values }: { readonly values: Readonly<Record<string, unknown>> }) {
  const rows = Object.entries(values).filter(([, value]) => value !== null && value !== '');
  if (rows.length === 0) return <p class="quiet">{words.unset}</p>;
  return (
    <dl class="config">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{valueText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
