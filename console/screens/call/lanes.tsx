/** The lanes above the text: SIP messages and lines of both sides at their moments, with the zoom of the axis. */
import { useRef } from 'preact/hooks';
import { useWidth } from '../../parts/width.ts';
import { texts } from '../../text/texts.ts';
import type { Ladder } from './messages.ts';
import { type Axis, marks, markText } from './times.ts';
import type { CallDetails } from './transcript.tsx';

/** Room at the left for names, so that lanes and plots begin at the same place; px. */
const gutter = 64;
/** Room at the right; px. */
const margin = 10;
const laneHeight = 24;
const scaleHeight = 18;

const words = texts.call.axis;

interface LanesProps {
  readonly axis: Axis;
  readonly ladder: Ladder;
  readonly details: CallDetails;
}

export function Lanes({ axis, ladder, details }: LanesProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const shown = axis.shown.value;
  const plot = Math.max(1, width - gutter - margin);
  const xOf = (ms: number) => gutter + ((ms - shown.fromMs) / (shown.toMs - shown.fromMs)) * plot;
  const isShown = (ms: number) => ms >= shown.fromMs && ms <= shown.toMs;
  const begin = Date.parse(details.started_at);
  const lines = details.transcripts.map((line) => ({ ...line, atMs: Date.parse(line.created_at) - begin }));
  const lanes = [words.sip, words.caller, words.agent];
  const height = lanes.length * laneHeight + scaleHeight;
  const pointed = axis.pointed.value;
  const point = (event: PointerEvent) => {
    const left = box.current?.getBoundingClientRect().left ?? 0;
    const share = (event.clientX - left - gutter) / plot;
    axis.pointed.value = share < 0 || share > 1 ? null : shown.fromMs + share * (shown.toMs - shown.fromMs);
  };
  return (
    <>
      <div class="row zoom">
        <button type="button" onClick={() => axis.zoom(0.5)}>
          {words.closer}
        </button>
        <button type="button" onClick={() => axis.zoom(2)}>
          {words.wider}
        </button>
        <button type="button" onClick={() => axis.move(-0.5)}>
          {words.earlier}
        </button>
        <button type="button" onClick={() => axis.move(0.5)}>
          {words.later}
        </button>
        <button type="button" onClick={() => axis.show(axis.whole)}>
          {words.whole}
        </button>
      </div>
      <div class="lanes" ref={box} onPointerMove={point}>
        {width > 0 && (
          <svg width={width} height={height} role="img" aria-label={words.label}>
            {marks(shown, plot).map((ms) => (
              <g key={ms} class="mark">
                <line x1={xOf(ms)} x2={xOf(ms)} y1={0} y2={height - scaleHeight} />
                <text x={xOf(ms)} y={height - 5} text-anchor="middle">
                  {markText(ms, shown)}
                </text>
              </g>
            ))}
            {lanes.map((name, index) => (
              <g key={name}>
                <text class="lane-name" x={4} y={index * laneHeight + 16}>
                  {name}
                </text>
                <line
                  class="lane-line"
                  x1={0}
                  x2={width}
                  y1={(index + 1) * laneHeight}
                  y2={(index + 1) * laneHeight}
                />
              </g>
            ))}
            {ladder.rows
              .filter(({ atMs }) => isShown(atMs))
              .map((row) => (
                <path
                  key={row.seq}
                  class={`tick ${row.kind}`}
                  d={
                    row.sent ? `M${xOf(row.atMs)} 4v16l-3 -4h6l-3 4` : `M${xOf(row.atMs)} 20v-16l-3 4h6l-3 -4`
                  }
                >
                  <title>{row.title}</title>
                </path>
              ))}
            {lines
              .filter(({ atMs, user }) => user !== 'agent-action' && isShown(atMs))
              .map((line) => (
                <circle
                  key={line.id}
                  class={line.user}
                  cx={xOf(line.atMs)}
                  cy={(line.user === 'user' ? 1.5 : 2.5) * laneHeight}
                  r={4}
                >
                  <title>{line.text}</title>
                </circle>
              ))}
            {pointed !== null && isShown(pointed) && (
              <line class="pointed" x1={xOf(pointed)} x2={xOf(pointed)} y1={0} y2={height - scaleHeight} />
            )}
          </svg>
        )}
      </div>
    </>
  );
}
