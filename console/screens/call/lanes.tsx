/** The lanes above the text: SIP messages and lines of both sides at their moments, with the zoom of the axis. */
import { useRef } from 'preact/hooks';
import { useWidth } from '../../parts/width.ts';
import { texts } from '../../text/texts.ts';
import type { Ladder } from './messages.ts';
import { type Axis, gutter, margin, marks, markText, type Span } from './times.ts';
import type { CallDetails } from './transcript.tsx';
import type { Turn } from './turns.tsx';

const laneHeight = 24;
const scaleHeight = 18;

const words = texts.call.axis;

interface LanesProps {
  readonly axis: Axis;
  readonly ladder: Ladder;
  readonly details: CallDetails;
  readonly turns: readonly Turn[];
  /** null: there is no recording. */
  readonly playTurn: ((turn: Turn) => void) | null;
}

export function Lanes({ axis, ladder, details, turns, playTurn }: LanesProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const shown = axis.shown.value;
  const plot = Math.max(1, width - gutter - margin);
  const xOf = (ms: number) => gutter + ((ms - shown.fromMs) / (shown.toMs - shown.fromMs)) * plot;
  const isShown = (ms: number) => ms >= shown.fromMs && ms <= shown.toMs;
  const begin = Date.parse(details.started_at);
  const lines = details.transcripts.map((line) => ({ ...line, atMs: Date.parse(line.created_at) - begin }));
  const lanes = [words.sip, words.caller, words.agent, ...(turns.length > 0 ? [texts.call.turns.lane] : [])];
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
            <Spans turns={turns} shown={shown} xOf={xOf} playTurn={playTurn} />
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

/** Lane of each span; those of an answer follow one another in the last one. */
const laneOf = {
  caller_speech: 1,
  barge_in: 1,
  agent_speech: 2,
  heard: 3,
  understood: 3,
  model_first_token: 3,
  speech_first_sound: 3,
} as const;

interface SpansProps {
  readonly turns: readonly Turn[];
  readonly shown: Span;
  readonly xOf: (ms: number) => number;
  readonly playTurn: LanesProps['playTurn'];
}

function Spans({ turns, shown, xOf, playTurn }: SpansProps) {
  const { stages, ofLane } = texts.call.turns;
  const names: Readonly<Record<string, string>> = stages;
  const spans = turns.flatMap((turn) => turn.spans.map((span) => ({ ...span, turn })));
  return (
    <>
      {spans
        .map((span) => ({ ...span, end: span.to_ms ?? shown.toMs }))
        .filter(({ from_ms, end }) => end >= shown.fromMs && from_ms <= shown.toMs)
        .map(({ span, from_ms, end, turn }) => {
          const [left, right] = [xOf(Math.max(from_ms, shown.fromMs)), xOf(Math.min(end, shown.toMs))];
          return (
            <rect
              key={`${turn.turn} ${span} ${from_ms}`}
              class={playTurn ? `span ${span} playable` : `span ${span}`}
              onPointerUp={() => playTurn?.(turn)}
              x={left}
              y={laneOf[span] * laneHeight + 5}
              width={Math.max(1.5, right - left)}
              height={laneHeight - 10}
            >
              <title>{ofLane(names[span] ?? span.replaceAll('_', ' '), end - from_ms)}</title>
            </rect>
          );
        })}
    </>
  );
}
