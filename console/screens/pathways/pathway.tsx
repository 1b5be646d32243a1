/** One pathway: its graph, what its nodes hold, and the way of a call over it. */
import '../../styles/pathways.css';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { isTyping } from '../../parts/keys.tsx';
import { useLoaded } from '../../parts/load.ts';
import { LoadState, Screen } from '../../parts/pieces.tsx';
import { seldom, usual } from '../../parts/renewal.ts';
import { useTitle } from '../../parts/title.ts';
import { TalkButton } from '../../phone/talk-button.tsx';
import { navigate, query } from '../../router.ts';
import { pathways } from '../../text/pathways.ts';
import { nodesOf, type Selected } from '../graph/graph.ts';
import { ChatPanel } from './chat.tsx';
import { Diff } from './diff.tsx';
import { Drawing } from './drawing.tsx';
import { Editor } from './editor.ts';
import type { Choices } from './form-fields.tsx';
import { NodeFacts } from './node-facts.tsx';
import { NodeList } from './node-list.tsx';
import { placeOf } from './problems.ts';
import { Publish } from './publish.tsx';
import { type Visit, wayUntil } from './replay.ts';
import { Replay, useReplay, withChoice } from './replay.tsx';
import type { NodeNote } from './shapes.tsx';
import { SideForm } from './side-form.tsx';
import { Findings, SaveForms, Toolbar } from './toolbar.tsx';

const words = pathways.pathway;
const noNotes = new Map();

type Versions = Answer<'GET /v1/pathway/{id}/versions'>;

async function read(id: string, version: string, signal: AbortSignal) {
  const [pathway, versions, graph] = await Promise.all([
    request('GET /v1/pathway/{id}', { path: { id }, signal }),
    request('GET /v1/pathway/{id}/versions', { path: { id }, query: { limit: 500 }, signal }),
    request('GET /v1/pathway/{id}/version/{version_id}', { path: { id, version_id: version }, signal }),
  ]);
  return { pathway, versions, graph };
}

const noChoices: Choices = { nodes: new Map(), pathways: new Map(), tools: new Map() };

/** Other things that nodes name. */
async function choicesOf(signal: AbortSignal): Promise<Choices> {
  const [others, { data }] = await Promise.all([
    request('GET /v1/pathway', { query: { graphs: false, limit: 500 }, signal }),
    request('GET /v2/tools', { query: { limit: 100 }, signal }),
  ]);
  return {
    nodes: new Map(),
    pathways: new Map(others.map((one) => [one.pathway_id, one.name])),
    tools: new Map(data.tools.map((one) => [one.id, one.name])),
  };
}
type Read = Awaited<ReturnType<typeof read>>;

export function PathwayScreen({ id }: { readonly id: string }) {
  const version = query.value.get('version') ?? '0';
  const loaded = useLoaded(`pathway ${id} ${version}`, (signal) => read(id, version, signal), usual);
  const choices = useLoaded(
    'what nodes name',
    async (signal) => (mayChange.value ? choicesOf(signal) : noChoices),
    seldom,
  );
  // Stays while another version is read: arrow keys go on choosing in it.
  const versions = useRef<Versions | null>(null);
  if (loaded.data) versions.current = loaded.data.versions;
  const title = loaded.data?.pathway.name ?? pathways.title;
  useTitle(title);
  return (
    <Screen
      title={title}
      actions={
        loaded.data && (
          <TalkButton
            name={title}
            session={{ pathway_id: id, pathway_version: loaded.data.graph.version_number }}
          />
        )
      }
    >
      {versions.current && <VersionChoice versions={versions.current} version={Number(version)} />}
      <LoadState of={loaded} />
      {loaded.data && (
        <Found
          key={`${id} ${version}`}
          read={loaded.data}
          choices={choices.data ?? noChoices}
          reload={loaded.reload}
        />
      )}
    </Screen>
  );
}

/** With changes that are not saved, so that a look at another screen loses none. */
const kept = new Map<string, Editor>();
const mostKept = 5;

/** The editor of a version: as it was left, else a new one. */
function useEditor(key: string, stored: Read['graph']): Editor {
  const editor = useMemo(() => kept.get(key) ?? new Editor(stored), [key]);
  useEffect(() => editor.read(stored), [editor, stored]);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (editor.changed.peek()) event.preventDefault();
    };
    window.addEventListener('beforeunload', warn);
    return () => {
      window.removeEventListener('beforeunload', warn);
      kept.delete(key);
      if (editor.changed.peek()) kept.set(key, editor);
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
    };
  }, [editor, key]);
  return editor;
}

/** Ctrl+Z, Ctrl+Shift+Z and Ctrl+Y, or with Command; a field that is typed into takes back its own text. */
function useUndoKeys(editor: Editor): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || !mayChange.peek()) return;
      if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
      const key = event.key.toLowerCase();
      if (key === 'y' || (key === 'z' && event.shiftKey)) editor.redo();
      else if (key === 'z') editor.undo();
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [editor]);
}

interface FoundProps {
  readonly read: Read;
  readonly choices: Choices;
  readonly reload: () => void;
}

function Found({ read: { pathway, versions, graph: stored }, choices, reload }: FoundProps) {
  const { pathway_id: id, production_version: production } = pathway;
  const { version_number: version } = stored;
  const editor = useEditor(`${id} ${version}`, stored);
  useUndoKeys(editor);
  const step = useSignal(0);
  const side = useRef<HTMLDivElement>(null);
  const opener = useRef<Element | null>(null);
  const replay = useReplay();
  useEffect(() => {
    step.value = 0;
  }, [replay.id]);
  const graph = editor.graph.value;
  const selected = editor.selected.value;
  const chatted = useSignal<readonly Pick<Visit, 'node'>[]>([]);
  const way =
    chatted.value.length > 0
      ? wayUntil(chatted.value, chatted.value.length - 1)
      : replay.visits.length > 0
        ? wayUntil(replay.visits, step.value)
        : null;
  const select = (one: Selected) => {
    editor.selected.value = one;
  };
  const open = () => {
    opener.current = document.activeElement;
    // The form of what was just selected is drawn first.
    requestAnimationFrame(() => fieldIn(side.current)?.focus());
  };
  const leave = () => {
    const node = selected?.kind === 'node' ? document.querySelector(nodeOf(selected.id)) : null;
    const back = node ?? opener.current;
    if (back instanceof HTMLElement || back instanceof SVGElement) back.focus();
  };
  const onKey = (key: string, node: string) => {
    if (key !== 'Delete' || !mayChange.value) return false;
    select({ kind: 'node', id: node });
    editor.removeSelected();
    return true;
  };
  const inProduction = version !== 0 && version === production;
  return (
    <>
      {mayChange.value && <Toolbar editor={editor} openForm={open} />}
      {mayChange.value && <Findings editor={editor} openForm={open} />}
      <div class="pathway-columns">
        <div>
          <Drawing
            graph={graph}
            places={editor.places.value}
            selected={selected}
            way={way}
            notes={mayChange.value ? notesOf(editor) : noNotes}
            select={select}
            open={open}
            move={mayChange.value ? (node, to) => editor.move(node, to) : null}
            settle={() => editor.settle()}
            onKey={onKey}
          />
          <NodeList
            graph={graph}
            open={(one) => {
              select(one);
              open();
            }}
          />
        </div>
        <div>
          {mayChange.value ? (
            <SideForm editor={editor} choices={choices} box={side} leave={leave} />
          ) : (
            <NodeFacts graph={graph} selected={selected} select={select} box={side} />
          )}
          {mayChange.value && (
            <SaveForms
              editor={editor}
              pathway={id}
              version={version}
              name={stored.name}
              inProduction={inProduction}
              reload={reload}
            />
          )}
          <Publish
            // What was saved may pass another gate.
            key={stored.content_hash}
            pathway={id}
            version={version}
            unsaved={editor.changed.value}
            changed={reload}
          />
          {mayChange.value && (
            <ChatPanel
              pathway={id}
              version={version}
              from={
                nodesOf(graph).find((node) => selected?.kind === 'node' && node.id === selected.id) ?? null
              }
              unsaved={editor.changed.value}
              onWay={(visits) => {
                chatted.value = visits;
              }}
            />
          )}
          <Diff
            pathway={id}
            graph={graph}
            versions={versionNames(versions)}
            open={(one) => {
              select(one);
              open();
            }}
          />
          <Replay
            of={replay}
            pathway={id}
            version={version}
            step={step.value}
            go={(to) => {
              step.value = to;
            }}
            known={new Set(nodesOf(graph).map((node) => node.id))}
          />
        </div>
      </div>
    </>
  );
}

/** The first field of the form, which is the name where there is one. */
function fieldIn(box: HTMLElement | null): HTMLElement | null {
  return (
    box?.querySelector<HTMLElement>('input[name=name]') ??
    box?.querySelector<HTMLElement>('input, select') ??
    box
  );
}

function nodeOf(id: string): string {
  return `[data-node="${CSS.escape(id)}"]`;
}

/** Nodes with errors or warnings, by id. */
function notesOf(editor: Editor): ReadonlyMap<string, NodeNote> {
  const notes = new Map<string, NodeNote>();
  const { noteWrong, noteWarning } = pathways.edit;
  for (const finding of editor.findings.value) {
    const place = placeOf(editor.graph.value, finding);
    if (place?.kind !== 'node') continue;
    notes.set(
      place.id,
      finding.isWarning
        ? { className: 'warned', text: noteWarning }
        : { className: 'wrong', text: noteWrong },
    );
  }
  return notes;
}

function versionNames(versions: Versions): ReadonlyMap<string, string> {
  return new Map([
    ['0', words.draft],
    ...versions.map((one): [string, string] => [
      String(one.version_number),
      words.inEnvironment(words.named(one.version_number, one.name), one.environments),
    ]),
  ]);
}

function VersionChoice({ versions, version }: { readonly versions: Versions; readonly version: number }) {
  return (
    <div class="filters">
      <label>
        {words.version}
        <select
          name="version"
          value={String(version)}
          onChange={({ currentTarget: { value } }) =>
            navigate(withChoice({ version: value === '0' ? '' : value }))
          }
        >
          {[...versionNames(versions)].map(([number, name]) => (
            <option key={number} value={number}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <p class="quiet">{words.use}</p>
    </div>
  );
}
