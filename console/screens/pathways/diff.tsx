/** Another version beside the graph that is shown: what is different, as a list. */
import { request } from '../../api/client.ts';
import { valueText } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, LoadState, type Tone } from '../../parts/pieces.tsx';
import { unchanging, usual } from '../../parts/renewal.ts';
import { navigate, query } from '../../router.ts';
import { pathways } from '../../text/pathways.ts';
import type { Graph, Selected } from '../graph/graph.ts';
import { type Difference, differences } from './diff.ts';
import { withChoice } from './replay.tsx';

const words = pathways.diff;
const tones: Readonly<Record<Difference['kind'], Tone>> = { added: 'good', removed: 'bad', changed: 'warn' };

interface DiffProps {
  readonly pathway: string;
  readonly graph: Graph;
  readonly versions: ReadonlyMap<string, string>;
  readonly open: (selected: Selected) => void;
}

export function Diff({ pathway, graph, versions, open }: DiffProps) {
  const chosen = query.value.get('with') ?? '';
  const loaded = useLoaded<Graph | null>(
    `with ${pathway} ${chosen}`,
    async (signal) =>
      chosen === ''
        ? null
        : request('GET /v1/pathway/{id}/version/{version_id}', {
            path: { id: pathway, version_id: chosen },
            signal,
          }),
    chosen === '' ? unchanging : usual,
  );
  return (
    <section class="card" aria-labelledby="diff-title">
      <h2 id="diff-title">{words.title}</h2>
      <label class="row">
        {words.with}
        <select
          name="with"
          value={chosen}
          onChange={({ currentTarget: { value } }) =>
            navigate(withChoice({ with: value }), { replace: true })
          }
        >
          <option value="">{words.none}</option>
          {[...versions].map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {chosen !== '' && <LoadState of={loaded} />}
      {loaded.data && <Found found={differences(loaded.data, graph)} open={open} />}
    </section>
  );
}

function Found({ found, open }: { readonly found: readonly Difference[]; readonly open: DiffProps['open'] }) {
  if (found.length === 0) return <p>{words.same}</p>;
  return (
    <ul class="diff" aria-label={words.title}>
      {found.map((one) => (
        <li key={`${one.kind} ${one.what} ${one.id ?? one.name}`}>
          <p class="row">
            <Badge tone={tones[one.kind]}>{words.kinds[one.kind]}</Badge>
            {one.id !== null && one.kind !== 'removed' ? (
              <button type="button" class="plain" onClick={() => open({ kind: 'node', id: one.id ?? '' })}>
                {one.name}
              </button>
            ) : (
              <span>{one.what === 'all' ? pathways.form.all : one.name}</span>
            )}
          </p>
          {one.changes.map(({ field, before, after }) => (
            <dl key={field} class="config">
              <div>
                <dt>{field === '' ? words.whole : field}</dt>
                <dd>
                  <del>{textOf(before)}</del> <ins>{textOf(after)}</ins>
                </dd>
              </div>
            </dl>
          ))}
        </li>
      ))}
    </ul>
  );
}

function textOf(value: unknown): string {
  return value === undefined ? words.nothing : valueText(value);
}
