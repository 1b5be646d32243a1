/** The form beside the graph: a node, an edge, or the settings of all nodes. */
import type { RefObject } from 'preact';
import { nodeTypes } from '#shared/agent/graph-node.ts';
import { isObject } from '#shared/agent/graph-problem.ts';
import { textOf } from '../../parts/submit.tsx';
import { pathways } from '../../text/pathways.ts';
import {
  edgesOf,
  globalOf,
  nodesOf,
  type Path,
  type ShownEdge,
  type ShownNode,
  typeText,
} from '../graph/graph.ts';
import { addEdge, globalIndexOf, setStart } from './edit.ts';
import type { Editor } from './editor.ts';
import { leaves, more, ofType, speaks } from './fields.ts';
import { type Choices, Fields } from './form-fields.tsx';
import { findingsAt } from './problems.ts';

const words = pathways.form;

interface SideFormProps {
  readonly editor: Editor;
  readonly choices: Choices;
  readonly box: RefObject<HTMLDivElement | null>;
  /** Back to where the form was opened from. */
  readonly leave: () => void;
}

export function SideForm({ editor, choices, box, leave }: SideFormProps) {
  const graph = editor.graph.value;
  const selected = editor.selected.value;
  const nodes = nodesOf(graph);
  const node = selected?.kind === 'node' ? nodes.find(({ id }) => id === selected.id) : undefined;
  const edge = selected?.kind === 'edge' ? edgesOf(graph)[selected.index] : undefined;
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  const known = { ...choices, nodes: names };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape, from any field inside
    <div
      class="card side"
      ref={box}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'Escape') leave();
      }}
    >
      {node && <NodeForm key={node.id} editor={editor} node={node} choices={known} />}
      {edge && <EdgeForm key={edge.index} editor={editor} edge={edge} choices={known} />}
      {selected?.kind === 'all' && <AllForm editor={editor} choices={known} />}
      {selected === null && <p class="quiet">{pathways.side.none}</p>}
    </div>
  );
}

interface PartProps {
  readonly editor: Editor;
  readonly choices: Choices;
}

function unreadBy(editor: Editor) {
  return (pointer: string, why: string | null) => {
    const next = new Map(editor.unread.peek());
    if (why === null) next.delete(pointer);
    else next.set(pointer, why);
    editor.unread.value = next;
  };
}

function isNodeType(type: string): type is keyof typeof ofType {
  return type in ofType;
}

function NodeForm({ editor, node, choices }: PartProps & { readonly node: ShownNode }) {
  const { index, id, name, type, data, isStart } = node;
  const pointer = `/nodes/${index}`;
  const findings = editor.findings.value;
  const own = isNodeType(type) ? ofType[type] : [];
  const common = {
    values: data,
    pointer: `${pointer}/data`,
    findings,
    choices,
    set: (path: Path, next: unknown) => editor.setNode(index, ['data', ...path], next),
    onUnread: unreadBy(editor),
  };
  const hasMore = more.some(
    ({ path }) => findingsAt(findings, `${pointer}/data/${path.join('/')}`).length > 0,
  );
  const edges = edgesOf(editor.graph.value).filter(({ source }) => source === id);
  return (
    <>
      <h2>{pathways.side.node(name)}</h2>
      <p class="quiet">
        {pathways.side.id} <code>{id}</code>
      </p>
      <label class="field">
        {pathways.side.type}
        <select
          name="type"
          value={type}
          onChange={({ currentTarget: { value } }) => editor.setNode(index, ['type'], value)}
        >
          {!isNodeType(type) && <option value={type}>{type}</option>}
          {nodeTypes.map((one) => (
            <option key={one} value={one}>
              {words.typeChoice(one, typeText(one))}
            </option>
          ))}
        </select>
      </label>
      <Fields fields={[...speaks, ...own, ...leaves]} {...common} />
      <details open={hasMore}>
        <summary>{words.more}</summary>
        <Fields fields={more} {...common} />
      </details>
      <h3>{pathways.side.edges}</h3>
      {edges.length === 0 && <p class="quiet">{pathways.side.noEdges}</p>}
      <ul>
        {edges.map((edge) => (
          <li key={edge.index}>
            <button
              type="button"
              class="plain"
              onClick={() => {
                editor.selected.value = { kind: 'edge', index: edge.index };
              }}
            >
              {pathways.list.to(edge.label, choices.nodes.get(edge.target) ?? edge.target)}
            </button>
          </li>
        ))}
      </ul>
      <NewEdge editor={editor} from={id} choices={choices} />
      <p class="row">
        {!isStart && (
          <button type="button" onClick={() => editor.change(setStart(editor.graph.peek(), index))}>
            {words.makeStart}
          </button>
        )}
        <button type="button" class="danger" onClick={() => editor.removeSelected()}>
          {words.removeNode}
        </button>
      </p>
    </>
  );
}

function NewEdge({ editor, from, choices }: PartProps & { readonly from: string }) {
  return (
    <form
      class="filters"
      aria-label={words.newEdge}
      onSubmit={(event) => {
        event.preventDefault();
        const target = textOf(new FormData(event.currentTarget), 'target');
        const graph = addEdge(editor.graph.peek(), from, target);
        editor.change(graph);
        editor.selected.value = { kind: 'edge', index: graph.edges.length - 1 };
      }}
    >
      <label class="grows">
        {words.newEdge}
        <select name="target">
          {[...choices.nodes].map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">{words.add}</button>
    </form>
  );
}

function EdgeForm({ editor, edge, choices }: PartProps & { readonly edge: ShownEdge }) {
  const { index, source, target } = edge;
  const member = editor.graph.value.edges[index] ?? {};
  // A label of another form is read from there, and written where the contract has it.
  const data = { ...(isObject(member.data) ? member.data : {}), label: edge.label };
  const nameOf = (id: string) => choices.nodes.get(id) ?? id;
  const common = {
    findings: editor.findings.value,
    choices,
    onUnread: unreadBy(editor),
  };
  return (
    <>
      <h2>{pathways.side.edge(nameOf(source), nameOf(target))}</h2>
      <Fields
        fields={[
          { path: ['label'], kind: 'line' },
          { path: ['description'], kind: 'text' },
        ]}
        values={data}
        pointer={`/edges/${index}/data`}
        set={(path, next) => editor.setEdge(index, ['data', ...path], next ?? '')}
        {...common}
      />
      <Fields
        fields={[
          { path: ['source'], kind: 'id', of: 'nodes' },
          { path: ['target'], kind: 'id', of: 'nodes' },
        ]}
        values={member}
        pointer={`/edges/${index}`}
        set={(path, next) => editor.setEdge(index, path, next ?? '')}
        {...common}
      />
      <p class="row">
        <button type="button" class="danger" onClick={() => editor.removeSelected()}>
          {words.removeEdge}
        </button>
      </p>
    </>
  );
}

function AllForm({ editor, choices }: PartProps) {
  const graph = editor.graph.value;
  const index = globalIndexOf(graph);
  return (
    <>
      <h2>{words.all}</h2>
      <Fields
        fields={[
          { path: ['globalPrompt'], kind: 'text' },
          { path: ['pronunciations'], kind: 'json' },
        ]}
        values={globalOf(graph)}
        pointer={`/nodes/${index}/globalConfig`}
        findings={editor.findings.value}
        choices={choices}
        set={(path, next) => editor.setGlobal(path, next)}
        onUnread={unreadBy(editor)}
      />
    </>
  );
}
