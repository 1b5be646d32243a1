/** One load: the knee in a sentence, latency by calls at once as a chart, and the figures of each level. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { figure } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { NotRead, ProblemNote, Screen } from '../../parts/pieces.tsx';
import { RateBar } from '../../parts/rates.tsx';
import { seldom, underWay } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { pathTo } from '../../router.ts';
import { loads as words } from '../../text/watches.ts';
import { chartOf, chartSize } from './chart.ts';
import { LoadStatus } from './loads.tsx';

type Load = Answer<'GET /v1/agent-testing/loads/{id}'>;
type Level = Load['levels'][number];
type Figures = NonNullable<Level['figures']>;

const { head } = words;
const ms = (value: number | null) => figure(value, 0, 'ms');

/** A cell of a level that has begun. */
const measured =
  (cell: (figures: Figures) => preact.ComponentChildren) =>
  ({ figures }: Level) =>
    figures ? cell(figures) : '–';

const columns: readonly Column<Level>[] = [
  { head: head.concurrency, cell: ({ concurrency }) => concurrency, numeric: true },
  { head: head.calls, cell: measured(({ calls }) => calls), numeric: true },
  { head: head.answered, cell: measured((one) => `${one.answered} / ${one.calls}`), numeric: true },
  {
    head: head.setUp,
    cell: measured(({ set_up_ms: own }) => `${ms(own.p50)} / ${ms(own.p95)}`),
    numeric: true,
    from: 'medium',
  },
  {
    head: head.latency,
    cell: measured(({ latency_ms: own }) => `${ms(own.p50)} / ${ms(own.p95)}`),
    numeric: true,
  },
  {
    head: head.mos,
    cell: measured(({ mos }) => `${figure(mos.p50, 2)} / ${figure(mos.min, 2)}`),
    numeric: true,
    from: 'medium',
  },
  {
    head: head.rate,
    cell: measured((one) => (
      <RateBar rate={one.pass_rate} interval={one.pass_rate_interval} note={one.pass_rate_note} />
    )),
  },
  {
    head: head.failures,
    cell: measured(({ failures }) => failures.map(({ calls, reason }) => `${calls}: ${reason}`).join('; ')),
    grows: true,
    from: 'wide',
  },
  {
    head: head.set,
    cell: ({ concurrency, simulation_set_id: id }) =>
      id && (
        <a href={pathTo('set', id)} aria-label={words.openOf(concurrency)}>
          {words.open}
        </a>
      ),
  },
];

export function LoadScreen({ id }: { id: string }) {
  const loaded = useLoaded(
    `load ${id}`,
    (signal) => request('GET /v1/agent-testing/loads/{id}', { path: { id }, signal }),
    ({ status }) => (status === 'RUNNING' ? underWay : seldom),
  );
  const { data } = loaded;
  const running = data?.status === 'RUNNING';
  useTitle(words.title);
  if (!data) return <NotRead title={words.title} of={loaded} />;
  const cancel = async () => {
    await request('POST /v1/agent-testing/loads/{id}/cancel', { path: { id } });
    loaded.reload();
  };
  return (
    <Screen
      title={
        <>
          {words.of(data.scenario_ids.length, data.phone_number, undefined)}{' '}
          <LoadStatus status={data.status} />
        </>
      }
      actions={running && mayChange.value && <AskedButton words={words.cancel} name="" run={cancel} />}
    >
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      {data.reason !== null && <p class="note">{data.reason}</p>}
      <p class="why">{data.knee?.sentence ?? words.noKnee}</p>
      <LatencyChart load={data} />
      <Table
        name={words.title}
        rows={data.levels}
        columns={columns}
        keyOf={(row) => String(row.concurrency)}
      />
    </Screen>
  );
}

function LatencyChart({ load: { knee, levels } }: { load: Load }) {
  const { most, points, ticks } = chartOf(levels);
  const { bottom, height, left, top, width } = chartSize;
  if (points.length === 0) return null;
  return (
    <figure>
      <svg class="load-chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words.chart}>
        <title>{words.chart}</title>
        <line x1={left} x2={width} y1={height - bottom} y2={height - bottom} />
        <text x={left - 6} y={top + 10} text-anchor="end">
          {ms(most)}
        </text>
        <text x={left - 6} y={height - bottom} text-anchor="end">
          0
        </text>
        {ticks.map(({ text, x }) => (
          <text key={text} x={x} y={height - 10} text-anchor="middle">
            {Number(text) === knee?.concurrency ? `${text} (${words.knee})` : text}
          </text>
        ))}
        {points.map(({ concurrency, high, low, ms: value, series, x, y }) => (
          <g key={`${series} ${concurrency}`} class={series}>
            <line x1={x} x2={x} y1={low} y2={high} />
            <circle cx={x} cy={y} r="4">
              <title>{`${words[series === 'p50' ? 'median' : 'p95']}: ${ms(value)}`}</title>
            </circle>
          </g>
        ))}
      </svg>
      <figcaption class="quiet">{words.chart}</figcaption>
    </figure>
  );
}
