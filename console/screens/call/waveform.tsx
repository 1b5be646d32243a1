/** How loud both sides were, on the axis of the lanes above; a click plays the recording from there. */
import type { Signal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { ProblemNote } from '../../parts/pieces.tsx';
import { useWidth } from '../../parts/width.ts';
import { texts } from '../../text/texts.ts';
import type { Player } from './player.ts';
import { barsOf, type Sound } from './sound.ts';
import { type Axis, gutter, margin, type Span } from './times.ts';

const words = texts.call.sound;
const sideHeight = 40;
/** Of a bar with the room to the next one; px. */
const barWidth = 3;

interface WaveformProps {
  readonly sound: Sound;
  readonly axis: Axis;
  /** null: there is nothing to hear. */
  readonly player: Player | null;
  /** Parts of the recording that are silent on purpose, on the axis. */
  readonly pauses: readonly Span[];
  /** Why there is no recording to draw. */
  readonly without: string;
}

export function Waveform({ sound, axis, player, pauses, without }: WaveformProps) {
  return (
    <div class="sound">
      <p class="plot-head">
        <strong>{words.title}</strong>
        <span>{sound.source === 'recording' ? words.recording : without}</span>
      </p>
      {player && <PlayButtons player={player} axis={axis} />}
      {sound.parts.length > 0 && <Drawing sound={sound} axis={axis} player={player} pauses={pauses} />}
      {player?.problem.value && <ProblemNote problem={player.problem.value} />}
    </div>
  );
}

function PlayButtons({ player, axis }: { readonly player: Player; readonly axis: Axis }) {
  const isPlaying = player.playing.value;
  return (
    <p class="row zoom">
      <button
        type="button"
        onClick={() => {
          if (isPlaying) player.pause();
          else player.play({ fromMs: axis.pointed.peek() ?? 0 });
        }}
      >
        {isPlaying ? words.pause : words.play}
      </button>
      <button type="button" onClick={() => player.play({ fromMs: axis.shown.peek().fromMs })}>
        {words.playShown}
      </button>
    </p>
  );
}

type DrawingProps = Omit<WaveformProps, 'without'>;

function Drawing({ sound, axis, player, pauses }: DrawingProps) {
  const box = useRef<HTMLDivElement>(null);
  const pressed = useRef<number | null>(null);
  const width = useWidth(box);
  const shown = axis.shown.value;
  const plot = Math.max(1, width - gutter - margin);
  const xOf = (ms: number) => gutter + ((ms - shown.fromMs) / (shown.toMs - shown.fromMs)) * plot;
  const msAt = (event: PointerEvent) => {
    const left = box.current?.getBoundingClientRect().left ?? 0;
    const share = Math.min(1, Math.max(0, (event.clientX - left - gutter) / plot));
    return shown.fromMs + share * (shown.toMs - shown.fromMs);
  };
  const release = (event: PointerEvent) => {
    const from = pressed.current;
    pressed.current = null;
    if (from === null) return;
    const to = msAt(event);
    if (Math.abs(xOf(to) - xOf(from)) >= barWidth * 2)
      axis.show({ fromMs: Math.min(from, to), toMs: Math.max(from, to) });
    else if (player) player.play({ fromMs: from });
    else axis.pointed.value = from;
  };
  const height = 2 * sideHeight;
  return (
    <div
      class={player ? 'lanes waveform playable' : 'lanes waveform'}
      ref={box}
      onPointerDown={(event) => {
        pressed.current = event.button === 0 ? msAt(event) : null;
      }}
      onPointerUp={release}
      onPointerMove={(event) => {
        if (!player?.playing.peek()) axis.pointed.value = msAt(event);
      }}
    >
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={words.label}>
          {pauses.map(({ fromMs, toMs }) => (
            <rect
              key={fromMs}
              class="paused"
              x={xOf(Math.max(fromMs, shown.fromMs))}
              width={Math.max(0, xOf(Math.min(toMs, shown.toMs)) - xOf(Math.max(fromMs, shown.fromMs)))}
              y={0}
              height={height}
            >
              <title>{words.paused}</title>
            </rect>
          ))}
          <Side name={words.caller} side="caller" top={0} sound={sound} shown={shown} plot={plot} />
          <Side name={words.agent} side="agent" top={sideHeight} sound={sound} shown={shown} plot={plot} />
          <line class="lane-line" x1={0} x2={width} y1={sideHeight} y2={sideHeight} />
          <Cursor pointed={axis.pointed} shown={shown} xOf={xOf} height={height} />
        </svg>
      )}
    </div>
  );
}

interface SideProps {
  readonly name: string;
  readonly side: 'caller' | 'agent';
  readonly top: number;
  readonly sound: Sound;
  readonly shown: Span;
  readonly plot: number;
}

/** Kept while only the cursor moves. */
function Side({ name, side, top, sound, shown, plot }: SideProps) {
  const path = useMemo(() => {
    const count = Math.max(1, Math.floor(plot / barWidth));
    const middle = top + sideHeight / 2;
    return barsOf(sound.parts, side, shown, count)
      .map((bar, index) => {
        const half = Math.max(0.5, (bar * (sideHeight - 6)) / 2);
        return `M${gutter + index * barWidth + 1} ${middle - half}v${2 * half}`;
      })
      .join('');
  }, [sound, side, shown, plot, top]);
  return (
    <>
      <text class="lane-name" x={4} y={top + sideHeight / 2 + 4}>
        {name}
      </text>
      <path class={`wave ${side}`} d={path} />
    </>
  );
}

interface CursorProps {
  readonly pointed: Signal<number | null>;
  readonly shown: Span;
  readonly xOf: (ms: number) => number;
  readonly height: number;
}

/** Alone follows the cursor, many times a second while it plays. */
function Cursor({ pointed, shown, xOf, height }: CursorProps) {
  const at = pointed.value;
  if (at === null || at < shown.fromMs || at > shown.toMs) return null;
  return <line class="pointed" x1={xOf(at)} x2={xOf(at)} y1={0} y2={height} />;
}
