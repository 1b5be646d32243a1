/** One matrix: the first thing that breaks, and each cell with its interval and its difference from the first one. */
import { type Answer, request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, NotRead, ProblemNote, Screen } from '../../parts/pieces.tsx';
import { RateBar } from '../../parts/rates.tsx';
import { seldom, underWay } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { pathTo } from '../../router.ts';
import { matrices as words } from '../../text/matrices.ts';
import { tests } from '../../text/tests.ts';
import { isOver, RunStatus } from '../tests/pieces.tsx';
import { type Difference, saidDifference, signedPercent } from './differences.ts';

type Matrix = Answer<'GET /v1/agent-testing/matrices/{id}'>;
type Cell = Matrix['cells'][number];

const { breaks, head } = words;

const versionOf = ({ version }: Cell) => (version === null ? words.ownVersion : tests.version(version));
const nameOf = (cell: Cell) => [versionOf(cell), cell.voice, cell.weather].filter(Boolean).join(', ');

const figures: readonly Column<Cell>[] = [
  {
    head: head.runs,
    cell: ({ statistics: { passed, total_runs } }) => `${passed} / ${total_runs}`,
    numeric: true,
    from: 'medium',
  },
  {
    head: head.failure,
    cell: ({ statistics }) => statistics.common_failure_modes[0],
    grows: true,
    from: 'wide',
  },
  {
    head: head.set,
    cell: (cell) => (
      <a href={pathTo('set', cell.simulation_set_id)} aria-label={words.openOf(nameOf(cell))}>
        {words.open}
      </a>
    ),
  },
];

/** Only what the matrix varies, and the result of each cell. */
function columnsOf(cells: readonly Cell[]): Column<Cell>[] {
  const varied = (axis: 'version' | 'voice' | 'weather') => cells.some((cell) => cell[axis] !== null);
  return [
    { head: head.status, cell: ({ status }) => <RunStatus status={status} />, from: 'medium' },
    ...(varied('version') ? [{ head: head.version, cell: versionOf }] : []),
    ...(varied('voice') ? [{ head: head.voice, cell: ({ voice }: Cell) => voice ?? words.own }] : []),
    ...(varied('weather') ? [{ head: head.weather, cell: ({ weather }: Cell) => weather ?? words.own }] : []),
    {
      head: head.rate,
      cell: ({ statistics: own }) => (
        <RateBar rate={own.pass_rate} interval={own.pass_rate_interval} note={own.pass_rate_note} />
      ),
    },
    {
      head: head.difference,
      cell: ({ difference, is_first }) => <Against difference={difference} isFirst={is_first} />,
    },
    ...figures,
  ];
}

export function MatrixScreen({ id }: { id: string }) {
  const loaded = useLoaded(
    `matrix ${id}`,
    (signal) => request('GET /v1/agent-testing/matrices/{id}', { path: { id }, signal }),
    ({ status }) => (isOver(status) ? seldom : underWay),
  );
  const { data } = loaded;
  const scenario = data?.cells[0]?.statistics.scenario_name ?? words.title;
  useTitle(scenario);
  if (!data) return <NotRead title={words.title} of={loaded} />;
  return (
    <Screen
      title={
        <>
          {words.of(scenario, data.cells.length)} <RunStatus status={data.status} />
        </>
      }
      actions={<a href={pathTo('test', data.scenario_id)}>{head.scenario}</a>}
    >
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      <FirstBreak matrix={data} />
      <Table
        name={words.title}
        rows={data.cells}
        columns={columnsOf(data.cells)}
        keyOf={(cell) => cell.simulation_set_id}
      />
    </Screen>
  );
}

function FirstBreak({ matrix: { first_break: found, status } }: { matrix: Matrix }) {
  if (!found) return <p class="why">{isOver(status) ? breaks.none : breaks.waiting}</p>;
  return (
    <section class="note bad" aria-label={breaks.title}>
      <p>
        <strong>{breaks.title}</strong>
      </p>
      <p>{breaks.sentence(found.value, signedPercent(found.difference))}</p>
      {found.failure_mode !== null && <p>{breaks.failure(found.failure_mode)}</p>}
      {found.run_id !== null && (
        <p>
          <a href={pathTo('run', found.run_id)}>{breaks.run}</a>
        </p>
      )}
    </section>
  );
}

function Against({ difference, isFirst }: { difference: Difference | null; isFirst: boolean }) {
  if (isFirst) return <span class="quiet">{words.first}</span>;
  if (difference === null) return <span class="quiet">–</span>;
  const { certain, interval, value } = saidDifference(difference);
  const tones = { better: 'good', worse: 'bad' } as const;
  return (
    <>
      <Badge tone={certain === null ? 'quiet' : tones[certain]}>{value}</Badge>{' '}
      <small class="quiet rate-note">{interval}</small>
    </>
  );
}
