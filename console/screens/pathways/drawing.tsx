/** The graph as a drawing: nodes and edges, moved and zoomed by mouse and keyboard. */
import { useSignal } from '@preact/signals';
import type { TargetedEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useWidth } from '../../parts/width.ts';
import { pathways } from '../../text/pathways.ts';
import { edgesOf, type Graph, nodesOf, type Selected } from '../graph/graph.ts';
import { boxOf, type Direction, nodeTowards, type Place, type Places } from './layout.ts';
import { type Way, wayKey } from './replay.ts';
import { EdgeLine, NodeBox, type NodeNote } from './shapes.tsx';
import { panned, type Size, showing, type View, wholeView, zoomed } from './view.ts';

const words = pathways.graph;
/** A drawing that is narrower is lower, too: the form below it is to be seen. */
const narrow = 600;
const zoomStep = 1.25;
const panStep = 60;
/** Pixels before a press is a drag. */
const dragFrom = 4;

const directions: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};
const steps: Readonly<Record<Direction, Place>> = {
  left: { x: -1, y: 0 },
  right: { x: 1, y: 0 },
  up: { x: 0, y: -1 },
  down: { x: 0, y: 1 },
};

interface DrawingProps {
  readonly graph: Graph;
  readonly places: Places;
  readonly selected: Selected | null;
  readonly way: Way | null;
  readonly notes: ReadonlyMap<string, NodeNote>;
  readonly select: (selected: Selected) => void;
  /** Opens what is selected. */
  readonly open: () => void;
  /** null: nodes cannot be moved */
  readonly move: ((id: string, to: Place) => void) | null;
  /** A node was put down. */
  readonly settle: () => void;
  /** A key with a meaning beside those of the view. @returns whether it had one */
  readonly onKey: (key: string, node: string) => boolean;
}

type Held =
  | { readonly node: string; readonly at: Place; readonly from: Place; moved: boolean }
  | { readonly node: null; readonly at: Place; readonly from: View; moved: boolean };

export function Drawing(props: DrawingProps) {
  const { graph, places, selected, way } = props;
  const box = useRef<HTMLDivElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const width = useWidth(box);
  const size: Size = { width, height: width < narrow ? 340 : 520 };
  const view = useSignal<View | null>(null);
  const held = useRef<Held | null>(null);
  /** Where the keyboard is. */
  const at = useSignal<string | null>(null);
  const shown = view.value ?? wholeView(boxOf(places), size);
  const nodes = nodesOf(graph);
  const current =
    [at.value, selected?.kind === 'node' ? selected.id : null].find((id) => id !== null && places.has(id)) ??
    nodes.find((one) => one.isStart)?.id ??
    nodes[0]?.id;

  const show = (id: string) => {
    const place = places.get(id);
    if (place) view.value = showing(view.peek() ?? shown, place, size);
  };
  useEffect(() => {
    if (way?.current && width > 0) show(way.current);
  }, [way?.current, width > 0]);
  useWheel(svg, (factor, place) => {
    view.value = zoomed(view.peek() ?? wholeView(boxOf(places), size), factor, place);
  });

  const middle = { x: size.width / 2, y: size.height / 2 };
  const zoom = (factor: number) => {
    view.value = zoomed(shown, factor, middle);
  };
  const focus = (id: string) => {
    at.value = id;
    show(id);
    svg.current?.querySelector<SVGGElement>(`[data-node="${CSS.escape(id)}"]`)?.focus();
  };
  const onKeyDown = (event: TargetedEvent<SVGSVGElement, KeyboardEvent>) => {
    if (event.ctrlKey || event.metaKey) return;
    if (keyed(event)) {
      event.preventDefault();
      // Neither a shortcut of the page nor a scroll of it.
      event.stopPropagation();
    }
  };
  const keyed = ({ key, shiftKey, altKey, target }: KeyboardEvent): boolean => {
    const id = nodeAt(target);
    const direction = directions[key];
    if (direction) {
      const step = steps[direction];
      const place = id === null ? undefined : places.get(id);
      if (altKey) {
        if (id === null || !place || !props.move) return false;
        props.move(id, { x: place.x + step.x * 10, y: place.y + step.y * 10 });
      } else if (shiftKey || id === null) view.value = panned(shown, -step.x * panStep, -step.y * panStep);
      else {
        const next = nodeTowards(places, id, direction);
        if (next !== null) focus(next);
      }
      return true;
    }
    if (altKey) return false;
    switch (key) {
      case '+':
      case '=':
        zoom(zoomStep);
        return true;
      case '-':
        zoom(1 / zoomStep);
        return true;
      case '0':
        view.value = null;
        return true;
      case 'Enter':
      case ' ':
        if (id === null) return false;
        props.select({ kind: 'node', id });
        props.open();
        return true;
      default:
        return id !== null && props.onKey(key, id);
    }
  };

  const onPointerDown = (event: TargetedEvent<SVGSVGElement, PointerEvent>) => {
    if (event.button !== 0) return;
    const place = { x: event.clientX, y: event.clientY };
    const id = nodeAt(event.target);
    const edge = edgeAt(event.target);
    if (edge !== null) props.select({ kind: 'edge', index: edge });
    const from = id === null ? undefined : places.get(id);
    if (id !== null && from) {
      at.value = id;
      props.select({ kind: 'node', id });
      held.current = { node: id, at: place, from, moved: false };
    } else held.current = { node: null, at: place, from: shown, moved: false };
  };
  const onPointerMove = (event: TargetedEvent<SVGSVGElement, PointerEvent>) => {
    const { current: one } = held;
    if (!one) return;
    const [dx, dy] = [event.clientX - one.at.x, event.clientY - one.at.y];
    if (!one.moved && Math.hypot(dx, dy) < dragFrom) return;
    if (!one.moved) event.currentTarget.setPointerCapture(event.pointerId);
    one.moved = true;
    if (one.node === null) view.value = panned(one.from, dx, dy);
    else
      props.move?.(one.node, {
        x: Math.round(one.from.x + dx / shown.scale),
        y: Math.round(one.from.y + dy / shown.scale),
      });
  };
  const release = () => {
    if (held.current?.node && held.current.moved) props.settle();
    held.current = null;
  };

  return (
    <>
      <div class="row zoom">
        <button type="button" onClick={() => zoom(zoomStep)}>
          {words.closer}
        </button>
        <button type="button" onClick={() => zoom(1 / zoomStep)}>
          {words.wider}
        </button>
        <button
          type="button"
          onClick={() => {
            view.value = null;
          }}
        >
          {words.whole}
        </button>
      </div>
      <div class="graph-box" ref={box}>
        {width > 0 && (
          // biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset
          <svg
            ref={svg}
            role="group"
            aria-label={words.label}
            aria-describedby="graph-keys"
            width={size.width}
            height={size.height}
            onKeyDown={onKeyDown}
            onPointerDown={onPointerDown}
            onPointerMove={onPointerMove}
            onPointerUp={release}
            onPointerCancel={release}
          >
            <defs>
              <marker
                id="graph-arrow"
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="7"
                markerHeight="7"
                orient="auto"
              >
                <path d="M0 0L8 4L0 8z" />
              </marker>
            </defs>
            <g transform={`translate(${shown.x} ${shown.y}) scale(${shown.scale})`}>
              {edgesOf(graph).map((edge) => (
                <EdgeLine
                  key={edge.index}
                  edge={edge}
                  places={places}
                  selected={selected?.kind === 'edge' && selected.index === edge.index}
                  followed={way?.followed.has(wayKey(edge.source, edge.target)) ?? false}
                />
              ))}
              {nodes.map((node) => (
                <NodeBox
                  key={node.index}
                  node={node}
                  place={places.get(node.id)}
                  reached={node.id === current}
                  selected={selected?.kind === 'node' && selected.id === node.id}
                  way={way}
                  note={props.notes.get(node.id)}
                />
              ))}
            </g>
          </svg>
        )}
      </div>
      <p class="quiet" id="graph-keys">
        {words.keys}
      </p>
    </>
  );
}

function nodeAt(target: EventTarget | null): string | null {
  const found = target instanceof Element ? target.closest<SVGGElement>('[data-node]') : null;
  return found?.dataset.node ?? null;
}

function edgeAt(target: EventTarget | null): number | null {
  const found = target instanceof Element ? target.closest<SVGGElement>('[data-edge]') : null;
  return found?.dataset.edge === undefined ? null : Number(found.dataset.edge);
}

/** The wheel zooms while the drawing has the focus, and with Ctrl; else it scrolls the page. */
function useWheel(
  svg: { readonly current: SVGSVGElement | null },
  zoom: (factor: number, at: Place) => void,
): void {
  const latest = useRef(zoom);
  latest.current = zoom;
  useEffect(() => {
    const onWheel = (event: WheelEvent) => {
      const { current } = svg;
      if (!current || !(event.target instanceof Node) || !current.contains(event.target)) return;
      if (!event.ctrlKey && !event.metaKey && !current.contains(document.activeElement)) return;
      event.preventDefault();
      const { left, top } = current.getBoundingClientRect();
      latest.current(1.0015 ** -event.deltaY, { x: event.clientX - left, y: event.clientY - top });
    };
    // One that may not be passive, so that the page does not scroll as well.
    document.addEventListener('wheel', onWheel, { passive: false });
    return () => document.removeEventListener('wheel', onWheel);
  }, []);
}
