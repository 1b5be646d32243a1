/** All test scenarios: run one, several, or each many times; a new one begins with a template. */
import { useSignal } from '@preact/signals';
import { request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Empty, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { seldom, testRuns } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, navigate, pathTo, query, withQuery } from '../../router.ts';
import { pathways } from '../../text/pathways.ts';
import { tests } from '../../text/tests.ts';
import { type AgentNames, agentNames, agentOf, RunStatus, score } from './pieces.tsx';
import { NewScenario } from './templates.tsx';

const words = tests.scenarios;
const { head } = words;

type Row = Awaited<ReturnType<typeof read>>['scenarios'][number];

async function read(pathway: string, signal: AbortSignal) {
  const [{ scenarios }, names] = await Promise.all([
    request('GET /v1/agent-testing/scenarios', {
      query: { limit: 500, ...(pathway && { pathway_id: pathway }) },
      signal,
    }),
    agentNames(signal),
  ]);
  return { scenarios, names };
}

export function Scenarios() {
  useTitle(words.title);
  const pathway = query.value.get('pathway') ?? '';
  // Up to 500 rows, and scenarios are written without an event.
  const loaded = useLoaded(address.value, (signal) => read(pathway, signal), { ...testRuns, ...seldom });
  const selected = useSignal<ReadonlySet<string>>(new Set());
  const { data } = loaded;
  const select = (id: string, on: boolean) => {
    const next = new Set(selected.value);
    if (on) next.add(id);
    else next.delete(id);
    selected.value = next;
  };
  const columns: Column<Row>[] = [
    {
      head: head.name,
      cell: (row) => (
        <a class="row-link" href={pathTo('test', row.id)}>
          {row.name}
        </a>
      ),
      grows: true,
    },
    {
      head: head.agent,
      cell: (row) => (data ? agentOf(row, data.names) : ''),
      from: 'medium',
    },
    { head: head.category, cell: (row) => <code>{row.category}</code>, from: 'wide' },
    {
      head: head.required,
      cell: (row) => (
        <>
          {row.is_required_for_promotion && <Badge tone="live">{words.required}</Badge>}{' '}
          {!row.enabled && <Badge tone="quiet">{words.disabled}</Badge>}
        </>
      ),
      from: 'medium',
    },
    {
      head: head.last,
      cell: ({ most_recent_run: run }) =>
        run && (
          <a class="above" href={pathTo('run', run.id)}>
            <RunStatus status={run.status} />
          </a>
        ),
    },
    {
      head: head.score,
      cell: ({ most_recent_run: run }) => score(run?.score ?? null),
      numeric: true,
      from: 'medium',
    },
    {
      head: head.at,
      cell: ({ most_recent_run: run }) => <Time at={run?.completed_at ?? null} />,
      from: 'wide',
    },
  ];
  if (mayChange.value)
    columns.unshift({
      head: head.select,
      cell: ({ id, name }) => (
        <input
          type="checkbox"
          class="above"
          aria-label={words.select(name)}
          checked={selected.value.has(id)}
          onChange={({ currentTarget: { checked } }) => select(id, checked)}
        />
      ),
    });
  return (
    <Screen title={words.title}>
      {data && data.names.pathways.size > 0 && <AgentFilter names={data.names.pathways} pathway={pathway} />}
      <LoadState of={loaded} />
      {data?.scenarios.length === 0 && (
        <Empty title={words.empty}>
          {canBeTested(data.names) ? (
            words.emptyNext
          ) : (
            <>
              {words.noPathway} <a href={pathTo('pathways')}>{pathways.goTo}</a>
            </>
          )}
        </Empty>
      )}
      {data && data.scenarios.length > 0 && (
        <>
          {mayChange.value && <RunSelected ids={[...selected.value]} />}
          <Table name={words.title} rows={data.scenarios} columns={columns} keyOf={(row) => row.id} />
        </>
      )}
      {data && canBeTested(data.names) && mayChange.value && (
        <NewScenario names={data.names} pathway={pathway} open={data.scenarios.length === 0} />
      )}
    </Screen>
  );
}

function canBeTested({ foreign, pathways }: AgentNames): boolean {
  return pathways.size + foreign.size > 0;
}

function AgentFilter({ names, pathway }: { names: ReadonlyMap<string, string>; pathway: string }) {
  return (
    <div class="filters">
      <label>
        {words.pathway}
        <select
          value={pathway}
          onChange={({ currentTarget: { value } }) =>
            navigate(withQuery(pathTo('tests'), { pathway: value }))
          }
        >
          <option value="">{words.everyAgent}</option>
          {[...names].map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

function RunSelected({ ids }: { ids: readonly string[] }) {
  const run = async (data: FormData) => {
    const times = Number(textOf(data, 'times'));
    if (times > 1) {
      const body = { scenario_ids: ids, simulations_per_scenario: times };
      const { simulation_set_id } = await request('POST /v1/agent-testing/simulation-sets', { body });
      return navigate(pathTo('set', simulation_set_id));
    }
    const { batch_id } = await request('POST /v1/agent-testing/batch-run', { body: { scenario_ids: ids } });
    navigate(withQuery(pathTo('runs'), { batch: batch_id }));
  };
  if (ids.length === 0) return <p class="quiet">{words.selectFirst}</p>;
  return (
    <Form submit={words.run(ids.length)} run={run} label={words.run(ids.length)}>
      <label>
        {words.times}
        <input name="times" type="number" min="1" max="100" defaultValue="1" required />
      </label>
    </Form>
  );
}
