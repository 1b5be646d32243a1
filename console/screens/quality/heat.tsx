/** Scenarios by version: where it is red, and which scenarios pass only sometimes. */

import { figure } from '../../parts/format.ts';
import { Badge, Empty } from '../../parts/pieces.tsx';
import { percent, RateBar } from '../../parts/rates.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { pathTo } from '../../router.ts';
import { quality } from '../../text/quality.ts';
import { tests } from '../../text/tests.ts';
import type { Quality } from './versions.tsx';

type Scenario = Quality['scenarios'][number];
type Result = Scenario['results'][number];

const words = quality.heat;
/** Shades between all failed and all passed. */
const shades = 5;

export function Heat({ data }: { data: Quality }) {
  const columns: readonly Column<Scenario>[] = [
    {
      head: words.scenario,
      cell: (row) => (
        <>
          <a href={pathTo('test', row.scenario_id)}>{row.scenario_name}</a>{' '}
          {row.is_required_for_promotion && <Badge tone="live">{words.required}</Badge>}
          {!row.enabled && <Badge tone="quiet">{words.off}</Badge>}
        </>
      ),
    },
    ...data.versions.map(
      ({ version_number }): Column<Scenario> => ({
        head: tests.version(version_number),
        cell: (row) => (
          <Cell
            scenario={row.scenario_name}
            version={tests.version(version_number)}
            result={row.results.find((one) => one.version_number === version_number)}
          />
        ),
      }),
    ),
  ];
  return (
    <section aria-labelledby="heat-title">
      <h2 id="heat-title">{words.title}</h2>
      {data.scenarios.length === 0 ? (
        <Empty title={words.empty}>
          <a href={pathTo('tests')}>{tests.runs.goTo}</a>
        </Empty>
      ) : (
        <Table name={words.title} rows={data.scenarios} columns={columns} keyOf={(row) => row.scenario_id} />
      )}
      {data.omitted?.includes('scenarios') && <p class="quiet">{words.cut}</p>}
      {data.omitted?.includes('runs') && <p class="quiet">{words.newest}</p>}
    </section>
  );
}

interface CellProps {
  readonly scenario: string;
  readonly version: string;
  readonly result: Result | undefined;
}

/** The colour says nothing that the figure beside it does not. */
function Cell({ result, scenario, version }: CellProps) {
  if (!result || result.pass_rate === null) return <span class="quiet">{words.none}</span>;
  const said = words.cell(scenario, version, result.passed, result.total_runs);
  return (
    <span class="heat">
      <svg viewBox="0 0 28 14" role="img" aria-label={said}>
        <title>{said}</title>
        <rect class={`heat-${Math.round(result.pass_rate * shades)}`} width="28" height="14" rx="2" />
      </svg>
      {percent(result.pass_rate)}
    </span>
  );
}

interface FlakyRow extends Result {
  readonly scenario_id: string;
  readonly scenario_name: string;
}

export function Flaky({ data }: { data: Quality }) {
  const { head, ...said } = quality.flaky;
  const rows: readonly FlakyRow[] = data.scenarios
    .flatMap(({ results, scenario_id, scenario_name }) =>
      results.flatMap((one) => (one.is_flaky ? [{ ...one, scenario_id, scenario_name }] : [])),
    )
    .toSorted((a, b) => (b.flakiness ?? 0) - (a.flakiness ?? 0));
  const columns: readonly Column<FlakyRow>[] = [
    {
      head: head.scenario,
      cell: (row) => <a href={pathTo('test', row.scenario_id)}>{row.scenario_name}</a>,
      grows: true,
    },
    { head: head.version, cell: (row) => tests.version(row.version_number) },
    {
      head: head.rate,
      cell: (row) => (
        <RateBar rate={row.pass_rate} interval={row.pass_rate_interval} note={row.pass_rate_note} />
      ),
    },
    { head: head.passed, cell: (row) => `${row.passed} / ${row.total_runs}`, numeric: true, from: 'medium' },
    { head: head.flakiness, cell: (row) => figure(row.flakiness, 2), numeric: true, from: 'wide' },
  ];
  return (
    <section aria-labelledby="flaky-title">
      <h2 id="flaky-title">{said.title}</h2>
      {rows.length === 0 ? (
        <p class="quiet">{said.none}</p>
      ) : (
        <>
          <Table
            name={said.title}
            rows={rows}
            columns={columns}
            keyOf={(row) => `${row.scenario_id} ${row.version_number}`}
          />
          <p class="quiet">{said.means}</p>
        </>
      )}
    </section>
  );
}
