/** One simulation set: how often each scenario passes, and how sure that is. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Facts, NotRead, ProblemNote, Screen } from '../../parts/pieces.tsx';
import { percent, RateBar } from '../../parts/rates.tsx';
import { seldom, testRuns, underWay } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { pathTo } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import { isOver, RunStatus, score } from './pieces.tsx';

type Row = Answer<'GET /v1/agent-testing/simulation-sets/{id}'>['statistics']['per_scenario'][string];

const words = tests.set;
const { head } = words;

const columns: readonly Column<Row>[] = [
  {
    head: head.scenario,
    cell: (row) => <a href={pathTo('test', row.scenario_id)}>{row.scenario_name}</a>,
  },
  {
    head: head.rate,
    cell: (row) => (
      <RateBar rate={row.pass_rate} interval={row.pass_rate_interval} note={row.pass_rate_note} />
    ),
  },
  { head: head.passed, cell: (row) => `${row.passed} / ${row.total_runs}`, numeric: true, from: 'medium' },
  {
    head: head.flaky,
    cell: (row) => (
      <>
        {row.total_runs > 0 && (
          <Badge tone={row.is_flaky ? 'warn' : 'quiet'}>{row.is_flaky ? words.flaky : words.stable}</Badge>
        )}{' '}
        {row.confidence === 'low' && <small class="quiet">{words.few}</small>}
      </>
    ),
    from: 'medium',
  },
  {
    head: head.score,
    cell: ({ scores }) => (scores.mean === null ? '–' : `${score(scores.mean)} ± ${score(scores.stddev)}`),
    numeric: true,
    from: 'wide',
  },
  {
    head: head.worst,
    cell: (row) =>
      row.worst_run_id && (
        <a href={pathTo('run', row.worst_run_id)} aria-label={words.worstLabel(row.scenario_name)}>
          {words.worst}
        </a>
      ),
  },
  { head: head.modes, cell: (row) => row.common_failure_modes.join('; '), grows: true, from: 'wide' },
];

export function SetScreen({ id }: { id: string }) {
  const loaded = useLoaded(
    `set ${id}`,
    (signal) => request('GET /v1/agent-testing/simulation-sets/{id}', { path: { id }, signal }),
    ({ status }) => (isOver(status) ? seldom : { ...testRuns, ...underWay }),
  );
  const { data } = loaded;
  const running = data !== null && !isOver(data.status);
  useTitle(tests.sets.title);
  if (!data) return <NotRead title={tests.sets.title} of={loaded} />;
  const { overall, per_scenario } = data.statistics;
  const cancel = async () => {
    await request('POST /v1/agent-testing/simulation-sets/{id}/cancel', { path: { id } });
    loaded.reload();
  };
  return (
    <Screen
      title={
        <>
          {words.title(data.total_scenarios, data.simulations_per_scenario)}{' '}
          <RunStatus status={data.status} />
        </>
      }
      actions={running && mayChange.value && <AskedButton words={words.cancel} name="" run={cancel} />}
    >
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      <p>{words.needed(percent(data.pass_threshold))}</p>
      <Facts
        rows={[
          [words.facts.rate, percent(overall.avg_pass_rate)],
          [words.facts.reliable, overall.reliable_count],
          [words.facts.flaky, overall.flaky_count],
          [
            words.facts.runs,
            `${overall.total_runs} / ${data.total_scenarios * data.simulations_per_scenario}`,
          ],
          [words.facts.errors, overall.errored],
        ]}
      />
      <Table
        name={head.rate}
        rows={Object.values(per_scenario)}
        columns={columns}
        keyOf={(row) => row.scenario_id}
      />
      <p class="quiet">{words.intervalMeans}</p>
    </Screen>
  );
}
