/** One call: why it ended, its facts, and on one time axis what was said and each SIP message. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { request } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { mayChange } from '../../api/session.ts';
import type { LoggedCall } from '../../parts/call-columns.tsx';
import { useFollowed } from '../../parts/followed.ts';
import { HangUp } from '../../parts/hang-up.tsx';
import { useLoaded } from '../../parts/load.ts';
import { Loading, ProblemNote, ReloadButton, Screen } from '../../parts/pieces.tsx';
import { useTitle } from '../../parts/title.ts';
import { texts } from '../../text/texts.ts';
import { CallFacts, CallTitle, WhyEnded } from './head.tsx';
import { SipLadder } from './ladder.tsx';
import { Lanes } from './lanes.tsx';
import { ladderOf } from './messages.ts';
import { QualityOverTime } from './quality.tsx';
import { Axis } from './times.ts';
import { Transcript } from './transcript.tsx';
import { Turns } from './turns.tsx';
import { Variables } from './variables.tsx';

const words = texts.call;

export function Call({ id }: { id: string }) {
  const loaded = useLoaded(`call ${id}`, (signal) => read(id, signal));
  const call = loaded.data?.call;
  useWhileRunning(id, call !== undefined && call.ended_at === null, loaded.reload);
  useTitle(call ? words.title(call.from, call.to) : texts.calls.title);
  if (!loaded.data) {
    if (loaded.problem) return <ProblemNote problem={loaded.problem} again={loaded.reload} />;
    return <Loading />;
  }
  return (
    <>
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      <Found {...loaded.data} reload={loaded.reload} />
    </>
  );
}

/** A running call is read again at least this often, for its quality; ms. */
const sampleMs = 5000;

/** Reads a call again when something happens on it. */
function useWhileRunning(id: string, running: boolean, reload: () => void): void {
  useFollowed(running ? { types: 'call,transcript', call_id: id } : null, reload);
  useEffect(() => {
    if (!running) return;
    const samples = setInterval(reload, sampleMs);
    return () => clearInterval(samples);
  }, [id, running]);
}

type Read = Awaited<ReturnType<typeof read>>;

async function read(id: string, signal: AbortSignal) {
  const { call } = (await request('GET /v1/sip/calls/{call_id}', { path: { call_id: id }, signal })).data;
  const path = { call_id: call.id };
  const [details, quality, timeline, trace] = await Promise.all([
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
  ]);
  return { call, details, trace, quality: quality.data, timeline: timeline.data };
}

function Found({ call, details, trace, quality, timeline, reload }: Read & { reload: () => void }) {
  const axis = useMemo(() => new Axis(), [call.id]);
  const ladder = useMemo(() => ladderOf(trace.messages, call.started_at), [trace, call.started_at]);
  const begin = Date.parse(call.started_at);
  const lastMs = Math.max(
    Date.parse(call.ended_at ?? call.started_at) - begin,
    ladder.rows.at(-1)?.atMs ?? 0,
    quality.samples.at(-1)?.at_ms ?? 0,
    Date.parse(details.transcripts.at(-1)?.created_at ?? call.started_at) - begin,
  );
  useEffect(() => axis.stretch(lastMs * 1.02), [axis, lastMs]);
  return (
    <Screen title={<CallTitle call={call} />} actions={<Actions call={call} reload={reload} />}>
      <WhyEnded call={call} />
      <CallFacts call={call} details={details} />
      <section aria-labelledby="axis-title">
        <h2 id="axis-title">{words.axis.title}</h2>
        <Lanes axis={axis} ladder={ladder} details={details} turns={timeline.turns} />
        <QualityOverTime quality={quality} axis={axis} />
        <Turns turns={timeline.turns} />
      </section>
      <div class="columns">
        <section aria-labelledby="transcript-title">
          <h2 id="transcript-title">{words.transcript.title}</h2>
          <Transcript details={details} axis={axis} />
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

function Actions({ call, reload }: { call: LoggedCall; reload: () => void }) {
  const { id } = call;
  const copied = useSignal(false);
  const copy = async () => {
    await navigator.clipboard.writeText(window.location.href);
    copied.value = true;
  };
  return (
    <>
      {call.ended_at === null && mayChange.value && <HangUp id={id} name={words.title(call.from, call.to)} />}
      <ReloadButton reload={reload} />
      <button type="button" onClick={copy}>
        {words.copy}
      </button>
      <a href={`/v1/sip/calls/${encodeURIComponent(id)}/trace.pcap`} download={`${id}.pcap`}>
        {words.pcap}
      </a>
      <span role="status" class="quiet">
        {copied.value && words.copied}
      </span>
    </>
  );
}
