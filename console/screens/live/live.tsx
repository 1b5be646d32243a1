/** Calls in progress, as they begin, are answered, speak and end. */
import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { mayChange } from '../../api/session.ts';
import { CallActions } from '../../parts/call-actions.tsx';
import { type LoggedCall, Mos, partyColumns } from '../../parts/call-columns.tsx';
import { duration } from '../../parts/format.ts';
import { LongTable } from '../../parts/long-table.tsx';
import { Badge, Empty, Loading, ProblemNote, Screen } from '../../parts/pieces.tsx';
import type { Column } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { texts } from '../../text/texts.ts';
import { CallsNow } from './calls-now.ts';

/** Calls that are read; those that begin later are added. */
const mostRead = 10_000;

const words = texts.live;

export function Live() {
  const now = useMemo(() => new CallsNow(mostRead), []);
  useEffect(() => now.start({ types: 'call,transcript,quality.sample' }), [now]);
  useEffect(() => {
    const tick = () => {
      second.value = Date.now();
    };
    tick();
    const timer = setInterval(tick, secondMs);
    return () => clearInterval(timer);
  }, []);
  const { value: calls } = now.calls;
  useTitle(calls === null ? words.title : `${words.title} (${calls.length})`);
  const columns = useMemo(() => columnsOf(now, mayChange.value), [now, mayChange.value]);
  return (
    <Screen
      title={words.title}
      actions={
        <>
          {calls && <span class="quiet">{words.counted(calls.length)}</span>}
          <Badge tone={now.following.value ? 'good' : 'warn'}>
            {now.following.value ? words.following : words.connecting}
          </Badge>
        </>
      }
    >
      {now.problem.value && <ProblemNote problem={now.problem.value} again={() => void now.read()} />}
      {calls === null && !now.problem.value && <Loading />}
      {calls?.length === 0 && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {calls && calls.length > 0 && (
        <LongTable name={words.title} rows={calls} columns={columns} keyOf={(call) => call.id} />
      )}
      {now.more.value && <p class="quiet">{words.more(mostRead)}</p>}
    </Screen>
  );
}

function columnsOf(now: CallsNow, hasActions: boolean): Column<LoggedCall>[] {
  const columns: Column<LoggedCall>[] = [
    // The buttons need the room of the direction.
    ...partyColumns.map((column) => (column.from ? { ...column, from: 'widest' as const } : column)),
    { head: words.head.state, cell: (call) => <State call={call} />, from: 'wide' },
    { head: words.head.time, cell: (call) => <Running call={call} />, numeric: true, from: 'medium' },
    { head: texts.calls.head.mos, cell: ({ id }) => <MosNow of={now.of(id)} />, numeric: true, from: 'wide' },
    { head: words.head.levels, cell: ({ id }) => <Levels of={now.of(id)} />, from: 'widest' },
    { head: words.head.words, cell: ({ id }) => <LastWords of={now.of(id)} />, from: 'wide', grows: true },
  ];
  if (hasActions)
    columns.push({
      head: words.head.action,
      // On a phone it is on the screen of the call.
      from: 'medium',
      cell: (call) => <CallActions call={call} isRow />,
    });
  return columns;
}

function State({ call }: { call: LoggedCall }) {
  if (call.answered_at === null) return <Badge tone="warn">{words.states.ringing}</Badge>;
  return <Badge tone="live">{words.states.answered}</Badge>;
}

type Of = ReturnType<CallsNow['of']>;

function MosNow({ of: { sample } }: { of: Of }) {
  return <Mos value={sample.value?.mos} />;
}

/** Below it is silence to the ear, dBov. */
const quietest = -60;

/** Of the last seconds: what comes from the other side, and what is sent there. */
function Levels({ of: { sample } }: { of: Of }) {
  const { value: now } = sample;
  if (!now) return <>–</>;
  const meter = (name: string, level: number | null) => (
    <meter
      min={quietest}
      max={0}
      value={level ?? quietest}
      aria-label={name}
      title={level === null ? name : `${name}: ${words.dbov(level)}`}
    />
  );
  return (
    <span class="levels">
      {meter(words.received, now.level_received_dbov)}
      {meter(words.sent, now.level_sent_dbov)}
    </span>
  );
}

function LastWords({ of: { words: line } }: { of: Of }) {
  return <>{line.value && `${texts.calls.who[line.value.user]}: ${line.value.text}`}</>;
}

const secondMs = 1000;
/** One for all rows. */
const second: Signal<number> = signal(Date.now());

function Running({ call }: { call: LoggedCall }) {
  return <>{duration((second.value - Date.parse(call.started_at)) / 1000)}</>;
}
