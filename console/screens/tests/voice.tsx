/** What a run over a real call was like: how fast the agent answers, and who spoke when. */
import { figure } from '../../parts/format.ts';
import { Facts } from '../../parts/pieces.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { pathTo } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import type { Run } from './pieces.tsx';

type VoiceFigures = NonNullable<Run['voice']>;
type Turn = VoiceFigures['turns'][number];

const words = tests.run.voice;
const { head } = words;

const ms = (value: number | null) => figure(value, 0, 'ms');

const columns: readonly Column<Turn>[] = [
  { head: head.turn, cell: ({ turn }) => turn, numeric: true },
  { head: head.latency, cell: (row) => ms(row.response_latency_ms), numeric: true },
  { head: head.speech, cell: (row) => ms(row.speech_ms), numeric: true },
  { head: head.silence, cell: (row) => ms(row.silence_ms), numeric: true },
  {
    head: head.bargeIn,
    cell: (row) => {
      if (!row.barge_in) return '';
      return row.silent_after_ms === null ? words.notStopped : words.stopped(ms(row.silent_after_ms));
    },
    from: 'medium',
  },
  { head: head.overlap, cell: (row) => ms(row.overlap_ms), numeric: true, from: 'medium' },
  { head: head.source, cell: (row) => words.sources[row.transcript_source], from: 'wide' },
];

export function Voice({ voice }: { voice: VoiceFigures }) {
  const { latency_ms: latency } = voice;
  const call = (id: string | null, name: string) =>
    id && (
      <a key={id} href={pathTo('call', id)}>
        {name}
      </a>
    );
  return (
    <section aria-labelledby="voice-title">
      <h2 id="voice-title">{words.title}</h2>
      <Facts
        rows={[
          [words.latency, `${ms(latency.p50)} / ${ms(latency.p95)} / ${ms(latency.max)}`],
          [words.first, ms(voice.first_audio_ms)],
          [words.silence, ms(voice.longest_silence_ms)],
          [words.overlap, ms(voice.overlap_ms)],
          [words.codec, voice.codec ?? '–'],
          [
            words.mos,
            `${figure(voice.media?.mos ?? null, 2)} / ${figure(voice.caller_media?.mos ?? null, 2)}`,
          ],
          [
            words.call,
            <>
              {call(voice.call_id, words.callOfAgent)} {call(voice.caller_call_id, words.callOfCaller)}
            </>,
          ],
        ]}
      />
      <Table name={words.turns} rows={voice.turns} columns={columns} keyOf={({ turn }) => String(turn)} />
    </section>
  );
}
