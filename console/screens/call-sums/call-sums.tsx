/** Calls, ASR, ACD and MOS by hour or day, above the calls of the same time. */
import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { type Answer, request } from '../../api/client.ts';
import { Mos } from '../../parts/call-columns.tsx';
import { axisTimes, duration, figure } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { Empty, LoadState, Time } from '../../parts/pieces.tsx';
import { colorsOf } from '../../parts/plot-colors.ts';
import { seldom } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { themeChanges } from '../../parts/theme.tsx';
import { useWidth } from '../../parts/width.ts';
import { texts } from '../../text/texts.ts';
import { type SumsPlot, shownTimes, spanOf, sumsPlots } from './plots.ts';

export type Sum = Answer<'GET /v1/sip/calls/aggregates'>['data']['aggregates'][number];

const words = texts.calls.sums;
const { head } = words;
const plotHeight = 102;
/** Hours of three weeks, or days of more than a year. */
const mostPeriods = 500;

const columns: readonly Column<Sum>[] = [
  { head: head.period, cell: ({ period }) => <Time at={period} /> },
  { head: head.calls, cell: ({ calls }) => calls, numeric: true },
  { head: head.asr, cell: (one) => figure(one.asr_percent, 1, '%'), numeric: true },
  {
    head: head.acd,
    cell: ({ acd_seconds: acd }) => (acd === null ? '–' : duration(acd)),
    numeric: true,
  },
  { head: head.p5, cell: ({ mos }) => <Mos value={mos?.p5} />, numeric: true, from: 'medium' },
  { head: head.p50, cell: ({ mos }) => <Mos value={mos?.p50} />, numeric: true, from: 'medium' },
];

/** @param id the filters that matter, as a query */
export function CallSums({ id }: { readonly id: string }) {
  const asked = new URLSearchParams(id);
  const direction = directionOf(asked.get('direction'));
  const trunk = asked.get('trunk');
  const loaded = useLoaded(
    `sums ${id}`,
    async (signal) => {
      const span = spanOf(asked.get('from') ?? '', asked.get('to') ?? '', Date.now());
      const filter = {
        ...span,
        per: 'all' as const,
        limit: mostPeriods,
        ...(direction && { direction }),
        ...(trunk && { trunk_id: trunk }),
      };
      const aggregates: Sum[] = [];
      for (let after = ''; ; ) {
        const query = { ...filter, ...(after && { after }) };
        const { data: page } = await request('GET /v1/sip/calls/aggregates', { query, signal });
        aggregates.push(...page.aggregates);
        if (page.next === null || aggregates.length >= mostPeriods)
          return { ...page, aggregates, by: span.by };
        after = page.next;
      }
    },
    seldom,
  );
  const { data } = loaded;
  return (
    <section aria-labelledby="sums-title">
      <h2 id="sums-title">{words.title}</h2>
      <p class="quiet">{words.what}</p>
      <LoadState of={loaded} />
      {data && !data.complete && <p class="note warn">{words.incomplete}</p>}
      {data?.aggregates.length === 0 && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {data && data.aggregates.length > 0 && (
        <>
          <div class="cards">
            {sumsPlots(data.aggregates).map((plot) => (
              <Plot key={plot.title} plot={plot} by={data.by} />
            ))}
          </div>
          <details class="figures">
            <summary>{words.table}</summary>
            <Table
              name={words.table}
              rows={data.aggregates.toReversed()}
              columns={columns}
              keyOf={({ period }) => period}
            />
          </details>
        </>
      )}
    </section>
  );
}

function directionOf(text: string | null): 'inbound' | 'outbound' | null {
  return text === 'inbound' || text === 'outbound' ? text : null;
}

function Plot({ plot, by }: { readonly plot: SumsPlot; readonly by: 'hour' | 'day' }) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  useEffect(() => {
    if (!box.current || width === 0) return;
    const drawn = draw(plot, by, box.current, width);
    return () => drawn.destroy();
  }, [plot, width, themeChanges.value]);
  return (
    <div class="plot">
      <p class="plot-head">
        <strong>{plot.title}</strong>
        {plot.series.map(({ label, color }) => (
          <span key={label}>
            <i style={{ background: `var(${color})` }} /> {label}
          </span>
        ))}
      </p>
      <div ref={box} role="img" aria-label={words.plot(plot.title)} />
    </div>
  );
}

function draw(
  { times, series, least, most }: SumsPlot,
  by: 'hour' | 'day',
  box: HTMLElement,
  width: number,
): UPlot {
  const color = colorsOf(box);
  const axis = {
    stroke: color('--quiet'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  return new UPlot(
    {
      width,
      height: plotHeight,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { range: () => shownTimes(times, by) },
        y: { range: (_, low, high) => [Math.min(least, low ?? least), Math.max(most, high ?? most)] },
      },
      axes: [
        // Two lines: the time, and below it the day.
        { ...axis, size: 38, space: 64, values: (_self, at) => axisTimes(at) },
        { ...axis, size: 44, space: 24 },
      ],
      series: [{}, ...series.map((one) => ({ stroke: color(one.color), width: 1.5, points: { size: 4 } }))],
    },
    [[...times], ...series.map(({ values }) => [...values])],
    box,
  );
}
