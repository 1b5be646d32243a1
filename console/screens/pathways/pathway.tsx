/** One pathway: its graph, what its nodes hold, and the way of a call over it. */
import '../../styles/pathways.css';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { type Answer, request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { LoadState, ReloadButton, Screen } from '../../parts/pieces.tsx';
import { useTitle } from '../../parts/title.ts';
import { navigate, query } from '../../router.ts';
import { pathways } from '../../text/pathways.ts';
import { Drawing } from './drawing.tsx';
import { nodesOf, type Selected } from './graph.ts';
import { placesOf } from './layout.ts';
import { NodeFacts } from './node-facts.tsx';
import { NodeList } from './node-list.tsx';
import { wayUntil } from './replay.ts';
import { Replay, useReplay, withChoice } from './replay.tsx';

const words = pathways.pathway;
const noNotes = new Map();

export type Versions = Answer<'GET /v1/pathway/{id}/versions'>;

async function read(id: string, version: string, signal: AbortSignal) {
  const [pathway, versions, graph] = await Promise.all([
    request('GET /v1/pathway/{id}', { path: { id }, signal }),
    request('GET /v1/pathway/{id}/versions', { path: { id }, query: { limit: 500 }, signal }),
    request('GET /v1/pathway/{id}/version/{version_id}', { path: { id, version_id: version }, signal }),
  ]);
  return { pathway, versions, graph };
}
type Read = Awaited<ReturnType<typeof read>>;

export function PathwayScreen({ id }: { readonly id: string }) {
  const version = query.value.get('version') ?? '0';
  const loaded = useLoaded(`pathway ${id} ${version}`, (signal) => read(id, version, signal));
  const title = loaded.data?.pathway.name ?? pathways.title;
  useTitle(title);
  return (
    <Screen title={title} actions={<ReloadButton reload={loaded.reload} />}>
      <LoadState of={loaded} />
      {loaded.data && <Found key={`${id} ${version}`} read={loaded.data} />}
    </Screen>
  );
}

function Found({ read: { pathway, versions, graph } }: { readonly read: Read }) {
  const selected = useSignal<Selected | null>(null);
  const step = useSignal(0);
  const side = useRef<HTMLDivElement>(null);
  const replay = useReplay();
  const places = useMemo(() => placesOf(graph), [graph]);
  useEffect(() => {
    step.value = 0;
  }, [replay.id]);
  const way = replay.visits.length > 0 ? wayUntil(replay.visits, step.value) : null;
  const select = (one: Selected) => {
    selected.value = one;
  };
  const open = () => side.current?.focus();
  return (
    <>
      <VersionChoice versions={versions} version={graph.version_number} />
      <div class="pathway-columns">
        <div>
          <Drawing
            graph={graph}
            places={places}
            selected={selected.value}
            way={way}
            notes={noNotes}
            select={select}
            open={open}
            move={null}
            onKey={() => false}
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
          <NodeFacts graph={graph} selected={selected.value} select={select} box={side} />
          <Replay
            of={replay}
            pathway={pathway.pathway_id}
            version={graph.version_number}
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
          <option value="0">{words.draft}</option>
          {versions.map((one) => (
            <option key={one.id} value={String(one.id)}>
              {words.inEnvironment(words.named(one.version_number, one.name), one.environments)}
            </option>
          ))}
        </select>
      </label>
      <p class="quiet">{words.use}</p>
    </div>
  );
}
