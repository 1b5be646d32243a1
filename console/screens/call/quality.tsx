/** The quality of a call over its time: plots on the axis of the lanes above, and the figures as a table. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { Mos } from '../../parts/call-columns.tsx';
import { figure, offset } from '../../parts/format.ts';
import { Empty } from '../../parts/pieces.tsx';
import { colorsOf } from '../../parts/plot-colors.ts';
import { Table } from '../../parts/table.tsx';
import { themeChanges } from '../../parts/theme.tsx';
import { useWidth } from '../../parts/width.ts';
import { texts } from '../../text/texts.ts';
import { type Plot, plotsOf, type Quality, type Sample, timesOf } from './plots.ts';
import { type Axis, gutter, lastBegun, margin, marks } from './times.ts';

const words = texts.call.quality;
const plotHeight = 62;

export function QualityOverTime({ quality, axis }: { quality: Quality; axis: Axis }) {
  const { samples, truncated } = quality;
  const times = useMemo(() => timesOf(samples), [samples]);
  const plots = useMemo(() => plotsOf(samples), [samples]);
  if (samples.length === 0) return <Empty title={words.empty}>{words.emptyNext}</Empty>;
  return (
    <>
      {plots.map((plot) => (
        <OnePlot key={plot.key} plot={plot} times={times} axis={axis} />
      ))}
      {truncated && <p class="note warn">{words.truncated}</p>}
      <details class="figures">
        <summary>{words.table}</summary>
        <Figures samples={samples} />
      </details>
    </>
  );
}

interface OnePlotProps {
  readonly plot: Plot;
  readonly times: readonly number[];
  readonly axis: Axis;
}

function OnePlot({ plot, times, axis }: OnePlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<UPlot | null>(null);
  const width = useWidth(box);
  const { fromMs, toMs } = axis.shown.value;
  useEffect(() => {
    if (!box.current || width === 0) return;
    drawn.current = draw(plot, times, axis, box.current, width);
    return () => drawn.current?.destroy();
  }, [plot, times, axis, width, themeChanges.value]);
  useEffect(() => {
    drawn.current?.setScale('x', { min: fromMs, max: toMs });
  }, [fromMs, toMs, width, plot, themeChanges.value]);
  const pointed = axis.pointed.value;
  useEffect(() => {
    const left = pointed === null ? -10 : (drawn.current?.valToPos(pointed, 'x') ?? -10);
    // Without telling its hooks, which set what this follows.
    drawn.current?.setCursor({ left, top: 0 }, false);
  }, [pointed, fromMs, toMs]);
  const at = pointed === null ? times.length - 1 : Math.max(0, lastBegun(times, pointed));
  return (
    <div class="plot">
      <p class="plot-head">
        <strong>{plot.title}</strong>
        {plot.series.map(({ label, color, values }) => (
          <span key={label}>
            <i style={{ background: `var(${color})` }} /> {label} {figure(values[at], plot.digits)}
          </span>
        ))}
      </p>
      <div ref={box} role="img" aria-label={words.label(plot.title)} />
    </div>
  );
}

function draw(plot: Plot, times: readonly number[], axis: Axis, box: HTMLElement, width: number): UPlot {
  const color = colorsOf(box);
  const grid = { stroke: color('--line'), width: 1 };
  const { fromMs, toMs } = axis.shown.peek();
  return new UPlot(
    {
      width,
      height: plotHeight,
      legend: { show: false },
      padding: [6, margin, 4, 0],
      cursor: { y: false, points: { size: 5 }, drag: { x: true, y: false, setScale: false } },
      scales: {
        x: { time: false, min: fromMs, max: toMs },
        y: {
          range: (_, low, high) => [
            Math.min(plot.least, low ?? plot.least),
            Math.max(plot.most, high ?? plot.most),
          ],
        },
      },
      axes: [
        {
          size: 0,
          grid,
          ticks: { show: false },
          splits: (_self, _axis, from, to) => marks({ fromMs: from, toMs: to }, width - gutter - margin),
          values: (_self, at) => at.map(() => ''),
        },
        {
          size: gutter,
          stroke: color('--quiet'),
          font: '11px system-ui, sans-serif',
          grid,
          ticks: { show: false },
          space: 20,
        },
      ],
      series: [
        {},
        ...plot.series.map((one) => ({
          stroke: color(one.color),
          width: 1.5,
          points: { size: 4 },
          spanGaps: false,
        })),
      ],
      hooks: {
        setCursor: [
          (self) => {
            const { left } = self.cursor;
            if (left !== undefined && left >= 0) axis.pointed.value = self.posToVal(left, 'x');
          },
        ],
        setSelect: [
          (self) => {
            const { left, width: wide } = self.select;
            if (wide < 4) return;
            axis.show({ fromMs: self.posToVal(left, 'x'), toMs: self.posToVal(left + wide, 'x') });
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    },
    [[...times], ...plot.series.map(({ values }) => [...values])],
    box,
  );
}

function Figures({ samples }: { samples: readonly Sample[] }) {
  const { head } = words;
  return (
    <Table
      name={words.table}
      rows={samples}
      keyOf={(one) => String(one.at_ms)}
      columns={[
        { head: head.at, cell: (one) => offset(one.at_ms), numeric: true },
        {
          head: head.mos,
          cell: (one) => (
            <>
              <Mos value={one.mos_received} /> / <Mos value={one.mos_sent} />
            </>
          ),
          numeric: true,
        },
        { head: head.lost, cell: (one) => one.packets_lost, numeric: true },
        { head: head.late, cell: (one) => one.packets_late ?? '–', numeric: true, from: 'medium' },
        { head: head.jitter, cell: (one) => figure(one.jitter_ms, 1, 'ms'), numeric: true },
        {
          head: head.buffer,
          cell: (one) => figure(one.jitter_buffer_ms, 0, 'ms'),
          numeric: true,
          from: 'medium',
        },
        {
          head: head.roundTrip,
          cell: (one) => figure(one.round_trip_ms, 0, 'ms'),
          numeric: true,
          from: 'medium',
        },
        {
          head: head.level,
          cell: (one) => `${figure(one.level_received_dbov, 0)} / ${figure(one.level_sent_dbov, 0)} dBov`,
          numeric: true,
          from: 'medium',
        },
        { head: head.clock, cell: (one) => figure(one.clock_late_ms, 1, 'ms'), numeric: true, from: 'wide' },
      ]}
    />
  );
}
