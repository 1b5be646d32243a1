/** A graph while it is edited: what is stored, what is changed, and the way back. */
import { computed, signal } from '@preact/signals';
import type { Answer } from '../../api/client.ts';
import { edgesOf, type Graph, nodesOf, type Path, type Selected } from '../graph/graph.ts';
import { addNode, placed, removeEdge, removeNode, setEdge, setGlobal, setNode } from './edit.ts';
import { arranged, type Place, type Places, placesOf } from './layout.ts';
import { type Finding, findingsOf } from './problems.ts';

type Stored = Answer<'GET /v1/pathway/{id}/version/{version_id}'>;

/** Changes that can be taken back. */
const mostUndone = 100;

export class Editor {
  readonly #graph = signal<Graph>({ nodes: [], edges: [] });
  readonly #stored = signal<{ readonly graph: Graph; readonly hash: string }>({
    graph: { nodes: [], edges: [] },
    hash: '',
  });
  readonly #before = signal<readonly Graph[]>([]);
  readonly #after = signal<readonly Graph[]>([]);
  /** What the last change was about: more of the same is taken back with it. */
  #last = '';

  readonly selected = signal<Selected | null>(null);
  /** What only the API finds, about the graph as it was sent. */
  readonly answered = signal<readonly Finding[]>([]);
  /** Fields whose text is no JSON: what was there before is kept. */
  readonly unread = signal<ReadonlyMap<string, string>>(new Map());

  readonly graph = computed(() => this.#graph.value);
  readonly stored = computed(() => this.#stored.value);
  readonly changed = computed(() => this.#graph.value !== this.#stored.value.graph);
  readonly canUndo = computed(() => this.#before.value.length > 0);
  readonly canRedo = computed(() => this.#after.value.length > 0);
  readonly findings = computed(() => [...findingsOf(this.#graph.value), ...this.answered.value]);
  /** What decides where nodes are, as text: a change of words arranges nothing again. */
  readonly #shape = computed(() =>
    JSON.stringify([
      this.#graph.value.nodes.map(({ id, position }) => [id, position]),
      edgesOf(this.#graph.value).map(({ source, target, label }) => [source, target, label !== '']),
    ]),
  );
  readonly places = computed((): Places => {
    this.#shape.value;
    return placesOf(this.#graph.peek());
  });

  constructor(stored: Stored) {
    this.revert(stored);
  }

  /** What is stored by now. Changes that were not saved are kept, with what they were made from. */
  read(stored: Stored): void {
    const isTouched = this.changed.peek() || this.unread.peek().size > 0;
    if (!isTouched && stored.content_hash !== this.#stored.peek().hash) this.revert(stored);
  }

  /** Drops every change. */
  revert({ nodes, edges, content_hash: hash }: Stored): void {
    const graph = { nodes, edges };
    this.#stored.value = { graph, hash };
    this.#graph.value = graph;
    this.#before.value = [];
    this.#after.value = [];
    this.#last = '';
    this.answered.value = [];
    this.unread.value = new Map();
  }

  /** What was sent is stored. @param sent as {@link graph} was then; what was changed since remains a change */
  saved(sent: Graph, hash: string): void {
    this.#stored.value = { graph: sent, hash };
    this.#last = '';
  }

  /** @param about changes about the same are taken back as one; '': this one alone */
  change(next: Graph, about = ''): void {
    if (about === '' || about !== this.#last) {
      this.#before.value = [...this.#before.peek(), this.#graph.peek()].slice(-mostUndone);
    }
    this.#last = about;
    this.#after.value = [];
    this.#set(next);
  }

  #set(next: Graph): void {
    this.#graph.value = next;
    this.answered.value = [];
    const selected = this.selected.peek();
    const isGone =
      selected?.kind === 'node'
        ? !nodesOf(next).some(({ id }) => id === selected.id)
        : selected?.kind === 'edge' && !next.edges[selected.index];
    if (isGone) this.selected.value = null;
  }

  undo(): void {
    const graph = this.#before.peek().at(-1);
    if (!graph) return;
    this.#before.value = this.#before.peek().slice(0, -1);
    this.#after.value = [...this.#after.peek(), this.#graph.peek()];
    this.#last = '';
    this.#set(graph);
  }

  redo(): void {
    const graph = this.#after.peek().at(-1);
    if (!graph) return;
    this.#after.value = this.#after.peek().slice(0, -1);
    this.#before.value = [...this.#before.peek(), this.#graph.peek()];
    this.#last = '';
    this.#set(graph);
  }

  setNode(index: number, path: Path, next: unknown): void {
    this.change(setNode(this.#graph.peek(), index, path, next), `node ${index} ${path.join(' ')}`);
  }

  setEdge(index: number, path: Path, next: unknown): void {
    this.change(setEdge(this.#graph.peek(), index, path, next), `edge ${index} ${path.join(' ')}`);
  }

  setGlobal(path: Path, next: unknown): void {
    this.change(setGlobal(this.#graph.peek(), path, next), `all ${path.join(' ')}`);
  }

  move(id: string, to: Place): void {
    const places = new Map(this.places.peek()).set(id, to);
    this.change(placed(this.#graph.peek(), places), `move ${id}`);
  }

  /** A press of the mouse ends what is one change. */
  settle(): void {
    this.#last = '';
  }

  arrange(): void {
    this.change(placed(this.#graph.peek(), arranged(this.#graph.peek())));
  }

  /** Below the selected node, with an edge from there. */
  add(type: string): void {
    const selected = this.selected.peek();
    const below = selected?.kind === 'node' ? selected.id : null;
    const { graph, id } = addNode(this.#graph.peek(), this.places.peek(), type, below);
    this.change(graph);
    this.selected.value = { kind: 'node', id };
  }

  removeSelected(): void {
    const selected = this.selected.peek();
    if (selected?.kind === 'node') this.change(removeNode(this.#graph.peek(), selected.id));
    if (selected?.kind === 'edge') {
      this.change(removeEdge(this.#graph.peek(), selected.index));
      this.selected.value = null;
    }
  }
}
