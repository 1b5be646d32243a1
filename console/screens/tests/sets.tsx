/** Simulation sets: scenarios that were run many times. */
import { type Answer, request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks } from '../../parts/pages.tsx';
import { Empty, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { percent } from '../../parts/rates.tsx';
import { testRuns, underWay, usual } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, pathTo } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import { isOver, RunStatus } from './pieces.tsx';

type Row = Answer<'GET /v1/agent-testing/simulation-sets'>['simulation_sets'][number];

/** Rows of a page. */
const pageRows = 50;

const words = tests.sets;
const { head } = words;

const columns: readonly Column<Row>[] = [
  { head: head.status, cell: ({ status }) => <RunStatus status={status} /> },
  {
    head: head.size,
    cell: ({ id, total_scenarios, simulations_per_scenario }) => (
      <a class="row-link" href={pathTo('set', id)}>
        {total_scenarios} × {simulations_per_scenario}
      </a>
    ),
    grows: true,
  },
  { head: head.threshold, cell: (row) => percent(row.pass_threshold), numeric: true },
  { head: head.at, cell: (row) => <Time at={row.created_at} /> },
  { head: head.ended, cell: (row) => <Time at={row.completed_at} />, from: 'medium' },
];

export function Sets() {
  useTitle(words.title);
  const loaded = useLoaded(
    address.value,
    (signal) =>
      request('GET /v1/agent-testing/simulation-sets', {
        query: { limit: pageRows, offset: offsetOf() },
        signal,
      }),
    ({ simulation_sets: sets }) =>
      sets.every(({ status }) => isOver(status)) ? usual : { ...testRuns, ...underWay },
  );
  const { data } = loaded;
  return (
    <Screen title={words.title}>
      <LoadState of={loaded} />
      {data?.simulation_sets.length === 0 && (
        <Empty title={words.empty}>
          {words.emptyNext} <a href={pathTo('tests')}>{tests.runs.goTo}</a>
        </Empty>
      )}
      {data && data.simulation_sets.length > 0 && (
        <>
          <Table name={words.title} rows={data.simulation_sets} columns={columns} keyOf={({ id }) => id} />
          <PageLinks rows={pageRows} total={data.total_count} />
        </>
      )}
    </Screen>
  );
}
