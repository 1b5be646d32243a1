/** The first screen: how the organization is doing, with the way to each part of it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { type Answer, request } from '../../api/client.ts';
import { Mos } from '../../parts/call-columns.tsx';
import { duration, figure } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Facts, LoadState, ProblemNote, Screen, Time } from '../../parts/pieces.tsx';
import { type Renewal, seldom } from '../../parts/renewal.ts';
import { useTitle } from '../../parts/title.ts';
import { pathTo, withQuery } from '../../router.ts';
import { texts } from '../../text/texts.ts';
import { visible } from '../../visible.ts';
import { CallsNow } from '../live/calls-now.ts';
import { isAlert, isTestRun, mayChangeHealth, overviewEvents } from './news.ts';

const words = texts.overview;
/** Entries of each list. */
const most = 5;
/** Calls in progress that are counted. */
const mostCalls = 1000;
/** Numbers that are looked at for trunks in trouble. */
const numbersAtOnce = 100;
/** Refused calls have no event, and come by the thousand when somebody tries numbers. */
const refusedMs = 10_000;

/** At most this far behind: a trunk that comes and goes is told at each probe. */
const onEvents = (matters: NonNullable<Renewal['matters']>): Renewal => ({
  events: overviewEvents,
  matters,
  gapMs: 5000,
});

type Sums = Answer<'GET /v1/sip/calls/aggregates'>['data'];
type Numbers = Answer<'GET /v1/sip/numbers'>['data']['numbers'];
type Alert = Answer<'GET /v1/sip/alerts'>['data']['alerts'][number];
type Run = Answer<'GET /v1/agent-testing/runs'>['runs'][number];
type Refused = Answer<'GET /v1/sip/refused'>['data']['refused'][number];

/** Each card reads alone, and only when something has happened that it shows. */
function useCards() {
  const today = useLoaded<{ readonly day: string; readonly sums: Sums }>(
    'today',
    async (signal) => {
      const day = new Date().toISOString().slice(0, 10);
      const query = { by: 'day', per: 'all', from_date: day } as const;
      return { day, sums: (await request('GET /v1/sip/calls/aggregates', { query, signal })).data };
    },
    seldom,
  );
  const numbers = useLoaded<Numbers>(
    'numbers',
    async (signal) =>
      (await request('GET /v1/sip/numbers', { query: { limit: numbersAtOnce }, signal })).data.numbers,
    (rows) => ({ ...onEvents((event) => mayChangeHealth(event, rows)), ...seldom }),
  );
  const alerts = useLoaded<readonly Alert[]>(
    'alerts',
    async (signal) =>
      (await request('GET /v1/sip/alerts', { query: { state: 'open', limit: most }, signal })).data.alerts,
    onEvents(isAlert),
  );
  const runs = useLoaded<readonly Run[]>(
    'failed runs',
    async (signal) =>
      (await request('GET /v1/agent-testing/runs', { query: { status: 'FAILED', limit: most }, signal }))
        .runs,
    onEvents(isTestRun),
  );
  const refused = useLoaded<readonly Refused[]>(
    'refused',
    async (signal) => (await request('GET /v1/sip/refused', { query: { limit: most }, signal })).data.refused,
    { everyMs: refusedMs },
  );
  return { today, numbers, alerts, runs, refused };
}

export function Overview() {
  useTitle(words.title);
  const now = useMemo(() => new CallsNow(mostCalls), []);
  useEffect(() => (visible.value ? now.start(overviewEvents) : undefined), [now, visible.value]);
  const cards = useCards();
  const all = Object.values(cards);
  // What fails for one mostly fails for all, and is said once.
  const worst = all.find(({ problem }) => problem) ?? all.find(({ data }) => data === null) ?? cards.today;
  // All at once, so that none moves away under the pointer.
  const isRead = all.every(({ data, problem }) => data !== null || problem !== null);
  return (
    <Screen title={words.title}>
      <LoadState of={worst} />
      {now.problem.value && <ProblemNote problem={now.problem.value} again={() => void now.read()} />}
      <div class="cards">
        <Card title={words.live.title} to={pathTo('live')} link={words.live.link}>
          <p class="big">
            {now.calls.value === null ? '–' : `${now.calls.value.length}${now.more.value ? '+' : ''}`}
          </p>
        </Card>
        {isRead && cards.today.data && <Today {...cards.today.data} />}
        {isRead && cards.numbers.data && <Trunks numbers={cards.numbers.data} />}
        {isRead && cards.alerts.data && <Alerts alerts={cards.alerts.data} />}
        {isRead && cards.runs.data && <FailedTests runs={cards.runs.data} />}
        {isRead && cards.refused.data && <RefusedCalls rows={cards.refused.data} />}
      </div>
    </Screen>
  );
}

interface CardProps {
  readonly title: string;
  readonly to: string;
  readonly link: string;
  readonly children: ComponentChildren;
}

function Card({ title, to, link, children }: CardProps) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
      <p>
        <a href={to}>{link}</a>
      </p>
    </section>
  );
}

function Today({ day, sums }: { readonly day: string; readonly sums: Sums }) {
  const { today: words_ } = words;
  const [sum = null] = sums.aggregates;
  return (
    <Card title={words_.title} to={withQuery(pathTo('calls'), { from: day })} link={words_.link}>
      {sum === null ? (
        <p class="quiet">{words_.none}</p>
      ) : (
        <Facts
          rows={[
            [words_.calls, sum.calls],
            [words_.asr, figure(sum.asr_percent, 1, '%')],
            [words_.acd, sum.acd_seconds === null ? '–' : duration(sum.acd_seconds)],
            [words_.mos, <Mos key="median" value={sum.mos?.p50} />],
            [words_.poor, <Mos key="worst" value={sum.mos?.p5} />],
          ]}
        />
      )}
      {!sums.complete && <p class="quiet">{words_.incomplete}</p>}
    </Card>
  );
}

function Trunks({ numbers }: { readonly numbers: Numbers }) {
  const hasNumbers = numbers.length > 0;
  const unreachable = numbers.filter(({ health_status }) => health_status === 'unreachable');
  return (
    <Card
      title={words.trunks.title}
      to={pathTo(hasNumbers ? 'trunks' : 'connect')}
      link={hasNumbers ? words.trunks.link : words.trunks.connect}
    >
      <List
        none={hasNumbers ? words.trunks.none : words.trunks.noNumbers}
        rows={unreachable.slice(0, most).map(({ phone_number: number }) => (
          <a key={number} href={pathTo('trunk', number)}>
            {number}
          </a>
        ))}
      />
    </Card>
  );
}

function Alerts({ alerts }: { readonly alerts: readonly Alert[] }) {
  return (
    <Card title={words.alerts.title} to={pathTo('alerts')} link={words.alerts.link}>
      <List
        none={words.alerts.none}
        rows={alerts.map((alert) => (
          <span key={alert.alert_id}>
            <Badge tone="bad">{texts.trunks.alerts.kinds[alert.kind]}</Badge>{' '}
            {alert.phone_number !== null && (
              <a href={pathTo('trunk', alert.phone_number)}>{alert.phone_number}</a>
            )}
            {alert.watch_id !== null && <a href={pathTo('watch', alert.watch_id)}>{texts.alerts.watch}</a>}{' '}
            <Time at={alert.raised_at} />
          </span>
        ))}
      />
    </Card>
  );
}

function FailedTests({ runs }: { readonly runs: readonly Run[] }) {
  return (
    <Card title={words.tests.title} to={pathTo('runs')} link={words.tests.link}>
      <List
        none={words.tests.none}
        rows={runs.map((run) => (
          <span key={run.id}>
            <a href={pathTo('run', run.id)}>{run.scenario.name}</a> <Time at={run.created_at} />
          </span>
        ))}
      />
    </Card>
  );
}

function RefusedCalls({ rows }: { readonly rows: readonly Refused[] }) {
  return (
    <Card title={words.refused.title} to={pathTo('refused')} link={words.refused.link}>
      <List
        none={words.refused.none}
        rows={rows.map((row) => (
          <span key={row.id}>
            <code>{row.source ?? texts.refused.manySources}</code> {row.summary}
          </span>
        ))}
      />
    </Card>
  );
}

function List({ rows, none }: { readonly rows: readonly ComponentChildren[]; readonly none: string }) {
  if (rows.length === 0) return <p class="quiet">{none}</p>;
  return (
    <ul>
      {rows.map((row, index) => (
        <li key={String(index)}>{row}</li>
      ))}
    </ul>
  );
}
