/** The turns of the conversation as figures: how long each step from the caller's words to the answer took. */
import type { Answer } from '../../api/client.ts';
import { offset } from '../../parts/format.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { texts } from '../../text/texts.ts';

export type Timeline = Answer<'GET /v1/sip/calls/{call_id}/timeline'>['data'];
export type Turn = Timeline['turns'][number];
type SpanName = Turn['spans'][number]['span'];

const words = texts.call.turns;

/** The first of a kind: how long it took. */
function tookOf({ spans }: Turn, name: SpanName): string {
  const found = spans.find(({ span }) => span === name);
  if (!found) return '–';
  return found.to_ms === null ? words.running : `${found.to_ms - found.from_ms} ms`;
}

function bargeInOf({ spans }: Turn): string {
  const found = spans.find(({ span }) => span === 'barge_in');
  if (!found) return '';
  return found.outcome ? words.outcomes[found.outcome] : words.running;
}

interface TurnsProps {
  readonly turns: readonly Turn[];
  /** null: there is no recording. */
  readonly play: ((turn: Turn) => void) | null;
}

export function Turns({ turns, play }: TurnsProps) {
  if (turns.length === 0) return null;
  const { head } = words;
  const sound: readonly Column<Turn>[] = play
    ? [
        {
          head: head.sound,
          cell: (turn) => (
            <button type="button" aria-label={texts.call.sound.turn(turn.turn)} onClick={() => play(turn)}>
              {texts.call.sound.playIt}
            </button>
          ),
        },
      ]
    : [];
  return (
    <details class="figures">
      <summary>
        {words.title} <span class="quiet">{turns.length}</span>
      </summary>
      <Table
        name={words.title}
        rows={turns}
        keyOf={(turn) => String(turn.turn)}
        columns={[
          { head: head.turn, cell: (turn) => turn.turn, numeric: true },
          { head: head.input, cell: (turn) => (turn.input ? words.inputs[turn.input] : words.opening) },
          { head: head.at, cell: (turn) => offset(turn.from_ms), numeric: true, from: 'medium' },
          {
            head: head.response,
            cell: (turn) => (turn.response_ms === null ? '–' : `${turn.response_ms} ms`),
            numeric: true,
          },
          { head: head.heard, cell: (turn) => tookOf(turn, 'heard'), numeric: true },
          {
            head: head.understood,
            cell: (turn) => tookOf(turn, 'understood'),
            numeric: true,
            from: 'medium',
          },
          {
            head: head.model,
            cell: (turn) => tookOf(turn, 'model_first_token'),
            numeric: true,
            from: 'medium',
          },
          {
            head: head.speech,
            cell: (turn) => tookOf(turn, 'speech_first_sound'),
            numeric: true,
            from: 'medium',
          },
          { head: head.bargeIn, cell: bargeInOf, from: 'wide' },
          ...sound,
        ]}
      />
    </details>
  );
}
