/** What was said and done, each line at its moment. */
import type { Answer } from '../../api/client.ts';
import { offset } from '../../parts/format.ts';
import { Empty } from '../../parts/pieces.tsx';
import { texts } from '../../text/texts.ts';
import { type Axis, lastBegun } from './times.ts';

export type CallDetails = Answer<'GET /v1/calls/{call_id}'>;

const words = texts.call.transcript;
const percent = new Intl.NumberFormat(undefined, { style: 'percent' });

/** Below this the transcription may have misheard, so the line says so. */
const sureFrom = 0.6;

interface TranscriptProps {
  readonly details: CallDetails;
  readonly axis: Axis;
  /** Plays what was said around a moment of the axis; null: there is no recording. */
  readonly play: ((atMs: number) => void) | null;
}

export function Transcript({ details, axis, play }: TranscriptProps) {
  const begin = Date.parse(details.started_at);
  const lines = details.transcripts.map((line, index) => ({
    ...line,
    atMs: Date.parse(line.created_at) - begin,
    node: details.pathway_logs[index]?.node_name ?? null,
  }));
  if (lines.length === 0) return <Empty title={words.empty}>{words.emptyNext}</Empty>;
  const pointed = axis.pointed.value;
  const current =
    pointed === null
      ? -1
      : lastBegun(
          lines.map(({ atMs }) => atMs),
          pointed,
        );
  return (
    <>
      <ol class="transcript">
        {lines.map((line, index) => (
          <li key={line.id} class={`${line.user}${index === current ? ' current' : ''}`}>
            <button
              type="button"
              class="moment"
              onClick={() => {
                axis.pointed.value = line.atMs;
              }}
            >
              {offset(line.atMs)}
            </button>
            <span class="who">{texts.calls.who[line.user]}</span>
            <span class="said">
              {line.text}
              {play && line.user !== 'agent-action' && (
                <button
                  type="button"
                  class="moment"
                  aria-label={texts.call.sound.line(line.text)}
                  onClick={() => play(line.atMs)}
                >
                  {texts.call.sound.playIt}
                </button>
              )}
              {line.node !== null && line.node !== lines[index - 1]?.node && (
                <small class="quiet"> {words.node(line.node)}</small>
              )}
              {line.confidence !== null && line.confidence < sureFrom && (
                <small class="warn-text"> {words.unsure(percent.format(line.confidence))}</small>
              )}
            </span>
          </li>
        ))}
      </ol>
      {details.omitted && <p class="note warn">{words.omitted}</p>}
    </>
  );
}
