/** One call: why it ended, its facts, and on one time axis what was said and each SIP message. */
import { useEffect, useMemo } from 'preact/hooks';
import { request } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { mayChange } from '../../api/session.ts';
import { CallActions } from '../../parts/call-actions.tsx';
import type { LoggedCall } from '../../parts/call-columns.tsx';
import { CopyButton } from '../../parts/copied.tsx';
import { useLoaded } from '../../parts/load.ts';
import { NotRead, ProblemNote, Screen } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { useTitle } from '../../parts/title.ts';
import { texts } from '../../text/texts.ts';
import { CallFacts, CallTitle, WhyEnded } from './head.tsx';
import { SipLadder } from './ladder.tsx';
import { Lanes } from './lanes.tsx';
import { ladderOf } from './messages.ts';
import { Player } from './player.ts';
import { QualityOverTime } from './quality.tsx';
import { offsetOf, type Recording, soundOfRecording, soundOfSamples, spanOfTurn, turnAt } from './sound.ts';
import { Axis } from './times.ts';
import { Transcript } from './transcript.tsx';
import { type Turn, Turns } from './turns.tsx';
import { Variables } from './variables.tsx';
import { Waveform } from './waveform.tsx';

const words = texts.call;

export function Call({ id }: { id: string }) {
  const loaded = useLoaded(
    `call ${id}`,
    (signal) => read(id, signal),
    // Its quality, and its recording, come without an event. One whose edge is lost can come back after its end.
    (data) => ({ events: { types: 'call,transcript', call_id: id }, ...(isMoving(data) && usual) }),
  );
  const call = loaded.data?.call;
  useTitle(call ? words.title(call.from, call.to) : texts.calls.title);
  if (!loaded.data) return <NotRead title={texts.calls.title} of={loaded} />;
  return (
    <>
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      <Found {...loaded.data} />
    </>
  );
}

/** A recording arrives some seconds after the call; one whose edge stays away is not waited for. */
const arrivalMs = 120_000;

function isMoving({ call: { ended_at }, recording }: Read): boolean {
  if (ended_at === null) return true;
  return recording?.duration_ms === null && Date.now() - Date.parse(ended_at) < arrivalMs;
}

type Read = Awaited<ReturnType<typeof read>>;

async function read(id: string, signal: AbortSignal) {
  const { call } = (await request('GET /v1/sip/calls/{call_id}', { path: { call_id: id }, signal })).data;
  const path = { call_id: call.id };
  const [details, quality, timeline, trace, recorded] = await Promise.all([
    request('GET /v1/calls/{call_id}', { path, signal }),
    request('GET /v1/sip/calls/{call_id}/quality', { path, signal }),
    request('GET /v1/sip/calls/{call_id}/timeline', { path, query: { limit: 500 }, signal }),
    request('GET /v1/sip/calls/{call_id}/trace', { path, signal }).then(
      ({ data }) => data,
      (error: unknown) => {
        if (problemOf(error).code !== 'TRACE_NOT_FOUND') throw error;
        return { truncated: false, messages: [] };
      },
    ),
    readRecording(path, signal),
  ]);
  return { call, details, trace, quality: quality.data, timeline: timeline.data, ...recorded };
}

/** @returns null: there is none, or its peaks are not known yet */
async function readRecording(path: { call_id: string }, signal: AbortSignal) {
  try {
    const { recording } = (await request('GET /v1/calls/{call_id}/recording/details', { path, signal })).data;
    if (recording.duration_ms === null) return { recording, peaks: null };
    const peaks = await request('GET /v1/calls/{call_id}/recording/peaks', { path, signal });
    return { recording, peaks: peaks.data };
  } catch (error) {
    if (problemOf(error).code !== 'RECORDING_NOT_FOUND') throw error;
    return { recording: null, peaks: null };
  }
}

/** What there is to hear and to draw of the sound of a call. */
function useSound({ call, quality, recording, peaks }: Read, axis: Axis) {
  const length = recording?.duration_ms ?? null;
  const beginMs = recording === null ? 0 : offsetOf(recording, call.started_at);
  const player = useMemo(
    () => (length === null ? null : new Player(call.id, { fromMs: beginMs, toMs: beginMs + length }, axis)),
    [call.id, length, beginMs, axis],
  );
  useEffect(() => () => player?.close(), [player]);
  const sound = useMemo(
    () => (peaks === null ? soundOfSamples(quality.samples) : soundOfRecording(peaks, beginMs)),
    [peaks, quality, beginMs],
  );
  const pauses = useMemo(() => pausesOf(recording, beginMs), [recording, beginMs]);
  const isEmpty = sound.parts.length === 0;
  const { sound: said } = words;
  const without = recording !== null ? said.arriving : isEmpty ? said.nothing : said.ofSamples;
  return { player, sound, pauses, without, endMs: beginMs + (length ?? 0) };
}

function pausesOf(recording: Recording | null, beginMs: number) {
  return (recording?.pauses ?? []).map(({ from_ms, to_ms }) => ({
    fromMs: beginMs + from_ms,
    toMs: beginMs + to_ms,
  }));
}

function Found(data: Read) {
  const { call, details, trace, quality, timeline } = data;
  const axis = useMemo(() => new Axis(), [call.id]);
  const { player, endMs, ...heard } = useSound(data, axis);
  const ladder = useMemo(() => ladderOf(trace.messages, call.started_at), [trace, call.started_at]);
  const begin = Date.parse(call.started_at);
  const lastMs = Math.max(
    Date.parse(call.ended_at ?? call.started_at) - begin,
    ladder.rows.at(-1)?.atMs ?? 0,
    quality.samples.at(-1)?.at_ms ?? 0,
    endMs,
    Date.parse(details.transcripts.at(-1)?.created_at ?? call.started_at) - begin,
  );
  useEffect(() => axis.stretch(lastMs * 1.02), [axis, lastMs]);
  const playTurn = player && ((turn: Turn) => playSpan(player, turn));
  const playLine =
    player &&
    ((atMs: number) => {
      const turn = turnAt(timeline.turns, atMs);
      if (turn) playSpan(player, turn);
      else player.play({ fromMs: atMs });
    });
  return (
    <Screen title={<CallTitle call={call} />} actions={<Actions call={call} />}>
      <WhyEnded call={call} />
      <CallFacts call={call} details={details} />
      <section aria-labelledby="axis-title">
        <h2 id="axis-title">{words.axis.title}</h2>
        <Lanes axis={axis} ladder={ladder} details={details} turns={timeline.turns} playTurn={playTurn} />
        <Waveform {...heard} axis={axis} player={player} />
        <QualityOverTime quality={quality} axis={axis} />
        <Turns turns={timeline.turns} play={playTurn} />
      </section>
      <div class="columns">
        <section aria-labelledby="transcript-title">
          <h2 id="transcript-title">{words.transcript.title}</h2>
          <Transcript details={details} axis={axis} play={playLine} />
          <Variables details={details} />
        </section>
        <section aria-labelledby="ladder-title">
          <h2 id="ladder-title">{words.ladder.title}</h2>
          <SipLadder ladder={ladder} truncated={trace.truncated} axis={axis} />
        </section>
      </div>
    </Screen>
  );
}

function playSpan(player: Player, turn: Turn): void {
  player.play(spanOfTurn(turn) ?? { fromMs: turn.from_ms });
}

function Actions({ call }: { call: LoggedCall }) {
  const { id } = call;
  return (
    <>
      {call.ended_at === null && mayChange.value && <CallActions call={call} />}
      <CopyButton text={() => window.location.href} label={words.copy} done={words.copied} />
      <a href={`/v1/sip/calls/${encodeURIComponent(id)}/trace.pcap`} download={`${id}.pcap`}>
        {words.pcap}
      </a>
    </>
  );
}
