/** The recording of a run over a call, with the places of its verdicts. */
import { useRef } from 'preact/hooks';
import { duration } from '../../parts/format.ts';
import { tests } from '../../text/tests.ts';
import type { Run } from './pieces.tsx';

const words = tests.run.recording;

export function RunRecording({ run: { id, marks } }: { run: Pick<Run, 'id' | 'marks'> }) {
  const player = useRef<HTMLAudioElement>(null);
  const play = (at_ms: number) => {
    const { current } = player;
    if (!current) return;
    current.currentTime = at_ms / 1000;
    // It may not be there yet, which the player shows.
    current.play().catch(() => undefined);
  };
  return (
    <section aria-labelledby="recording-title">
      <h2 id="recording-title">{words.title}</h2>
      {/* biome-ignore lint/a11y/useMediaCaption: the conversation is on the page */}
      <audio
        ref={player}
        controls
        preload="none"
        src={`/v1/agent-testing/runs/${encodeURIComponent(id)}/recording`}
      />
      <p class="quiet">{words.when}</p>
      <ul>
        {marks.map(({ assertion_id, at_ms, line, name, status, type }) => (
          <li key={`${assertion_id} ${line}`}>
            <button type="button" onClick={() => play(at_ms)}>
              {duration(at_ms / 1000)}
            </button>{' '}
            {name ?? type}: {words.statuses[status as keyof typeof words.statuses] ?? status}
          </li>
        ))}
      </ul>
    </section>
  );
}
