/** A node and an edge as they are drawn. */
import { pathways } from '../../text/pathways.ts';
import { type ShownEdge, type ShownNode, typeText } from '../graph/graph.ts';
import { nodeHeight, nodeWidth, type Place, type Places } from './layout.ts';
import type { Way } from './replay.ts';

const words = pathways.graph;
/** Characters that fit into a node. */
const [mostName, mostKind] = [24, 32];

/** What is said of a node besides its name, in the drawing and to those who do not see it. */
export interface NodeNote {
  readonly className: string;
  readonly text: string;
}

interface NodeBoxProps {
  readonly node: ShownNode;
  readonly place: Place | undefined;
  /** Whether the Tab key comes to it. */
  readonly reached: boolean;
  readonly selected: boolean;
  readonly way: Way | null;
  readonly note: NodeNote | undefined;
}

export function NodeBox({ node, place, reached, selected, way, note }: NodeBoxProps) {
  if (!place) return null;
  const { id, name, type, isStart, isGlobal } = node;
  const taken = way?.steps.get(id);
  const isCurrent = way?.current === id;
  const kind = [note?.text, typeText(type), isStart && words.start, isGlobal && words.global]
    .filter(Boolean)
    .join(' · ');
  const isCut = name.length > mostName || kind.length > mostKind;
  const classes = [
    'graph-node',
    isStart && 'start',
    isGlobal && 'global',
    selected && 'selected',
    taken && 'visited',
    isCurrent && 'current',
    note?.className,
  ];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no button element
    <g
      role="button"
      // In lower case: Preact writes attributes of drawings as they are named.
      tabindex={reached ? 0 : -1}
      data-node={id}
      class={classes.filter(Boolean).join(' ')}
      aria-pressed={selected}
      {...(isCurrent && { 'aria-current': 'step' as const })}
      transform={`translate(${place.x} ${place.y})`}
    >
      {isCut && <title>{`${name}, ${kind}`}</title>}
      <rect width={nodeWidth} height={nodeHeight} rx={7} />
      <text x={10} y={21}>
        {cut(name, mostName)}
      </text>
      <text class="quiet" x={10} y={38}>
        {cut(kind, mostKind)}
      </text>
      {taken && (
        <text class="step" x={nodeWidth - 8} y={50} text-anchor="end">
          {words.step(taken)}
        </text>
      )}
    </g>
  );
}

/** What is too long for its place; the whole is in the title, the list and the form. */
function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

interface EdgeLineProps {
  readonly edge: ShownEdge;
  readonly places: Places;
  readonly selected: boolean;
  readonly followed: boolean;
}

export function EdgeLine({ edge, places, selected, followed }: EdgeLineProps) {
  const [from, to] = [places.get(edge.source), places.get(edge.target)];
  if (!from || !to) return null;
  const { d, middle } = lineOf(from, to);
  const classes = ['graph-edge', selected && 'selected', followed && 'followed'];
  return (
    <g class={classes.filter(Boolean).join(' ')} data-edge={edge.index}>
      {edge.label !== '' && <title>{edge.label}</title>}
      <path class="wide" d={d} />
      <path class="line" d={d} marker-end="url(#graph-arrow)" />
      {edge.label !== '' && (
        <text class="quiet" x={middle.x} y={middle.y + 4} text-anchor="middle">
          {cut(edge.label, 20)}
        </text>
      )}
    </g>
  );
}

/** From below the source to above the target; back and loops pass at the right side. */
function lineOf(from: Place, to: Place): { readonly d: string; readonly middle: Place } {
  if (to.y > from.y + nodeHeight) {
    const [x1, y1, x2, y2] = [from.x + nodeWidth / 2, from.y + nodeHeight, to.x + nodeWidth / 2, to.y];
    const bend = (y2 - y1) / 2;
    return {
      d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`,
      // Nearer to the target than to the source: edges to neighbours have their labels beside each other.
      middle: { x: x1 + (x2 - x1) * 0.784, y: y1 + (y2 - y1) * 0.658 },
    };
  }
  const [x1, y1] = [from.x + nodeWidth, from.y + nodeHeight * 0.65];
  const [x2, y2] = [to.x + nodeWidth, to.y + nodeHeight * 0.35];
  const out = Math.max(x1, x2) + 45;
  return {
    d: `M${x1} ${y1}C${out} ${y1} ${out} ${y2} ${x2} ${y2}`,
    middle: { x: Math.max(x1, x2) + 30, y: (y1 + y2) / 2 },
  };
}
