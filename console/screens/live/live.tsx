/** Calls in progress, as they begin, are answered, speak and end. */
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { mayChange } from '../../api/session.ts';
import { CallActions } from '../../parts/call-actions.tsx';
import { type LoggedCall, partyColumns } from '../../parts/call-columns.tsx';
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
  useEffect(() => now.start(), [now]);
  const { value: calls } = now.calls;
  useTitle(calls === null ? words.title : `${words.title} (${calls.length})`);
  const said = now.words.value;
  const columns: Column<LoggedCall>[] = [
    ...partyColumns,
    { head: words.head.state, cell: (call) => <State call={call} />, from: 'medium' },
    { head: words.head.time, cell: (call) => <Running call={call} />, numeric: true },
    {
      head: words.head.words,
      cell: ({ id }) => {
        const line = said.get(id);
        return line ? `${texts.calls.who[line.user]}: ${line.text}` : '';
      },
      from: 'wide',
      grows: true,
    },
  ];
  if (mayChange.value)
    columns.push({
      head: words.head.action,
      // On a phone it is on the screen of the call.
      from: 'medium',
      cell: (call) => <CallActions call={call} />,
    });
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

function State({ call }: { call: LoggedCall }) {
  if (call.answered_at === null) return <Badge tone="warn">{words.states.ringing}</Badge>;
  return <Badge tone="live">{words.states.answered}</Badge>;
}

const secondMs = 1000;

function Running({ call }: { call: LoggedCall }) {
  const at = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      at.value = Date.now();
    }, secondMs);
    return () => clearInterval(timer);
  }, []);
  return <>{duration((at.value - Date.parse(call.started_at)) / 1000)}</>;
}
