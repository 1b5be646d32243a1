/** The first screen: how the organization is doing, with the way to each part of it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { type Answer, request } from '../../api/client.ts';
import { Mos } from '../../parts/call-columns.tsx';
import { useFollowed } from '../../parts/followed.ts';
import { duration, figure } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Facts, LoadState, ProblemNote, ReloadButton, Screen, Time } from '../../parts/pieces.tsx';
import { useTitle } from '../../parts/title.ts';
import { pathTo, withQuery } from '../../router.ts';
import { texts } from '../../text/texts.ts';
import { CallsNow } from '../live/calls-now.ts';

const words = texts.overview;
/** Entries of each list. */
const most = 5;
/** Calls in progress that are counted. */
const mostCalls = 1000;
/** Numbers that are looked at for trunks in trouble. */
const numbersAtOnce = 100;
/** Sums of calls have no event of their own, ms. */
const againMs = 30_000;

async function read(signal: AbortSignal) {
  const today = new Date().toISOString().slice(0, 10);
  const [sums, numbers, alerts, runs, refused] = await Promise.all([
    request('GET /v1/sip/calls/aggregates', { query: { by: 'day', per: 'all', from_date: today }, signal }),
    request('GET /v1/sip/numbers', { query: { limit: numbersAtOnce }, signal }),
    request('GET /v1/sip/alerts', { query: { state: 'open', limit: most }, signal }),
    request('GET /v1/agent-testing/runs', { query: { status: 'FAILED', limit: most }, signal }),
    request('GET /v1/sip/refused', { query: { limit: most }, signal }),
  ]);
  return {
    today,
    complete: sums.data.complete,
    sum: sums.data.aggregates[0] ?? null,
    hasNumbers: numbers.data.numbers.length > 0,
    unreachable: numbers.data.numbers.filter(({ health_status }) => health_status === 'unreachable'),
    alerts: alerts.data.alerts,
    runs: runs.runs,
    refused: refused.data.refused,
  };
}

type Seen = Awaited<ReturnType<typeof read>>;

export function Overview() {
  useTitle(words.title);
  const now = useMemo(() => new CallsNow(mostCalls), []);
  useEffect(() => now.start(), [now]);
  const loaded = useLoaded('overview', read);
  useFollowed({ types: 'alert,test_run' }, loaded.reload);
  useEffect(() => {
    const timer = setInterval(loaded.reload, againMs);
    return () => clearInterval(timer);
  }, []);
  const { data } = loaded;
  return (
    <Screen title={words.title} actions={<ReloadButton reload={loaded.reload} />}>
      <LoadState of={loaded} />
      {now.problem.value && <ProblemNote problem={now.problem.value} again={() => void now.read()} />}
      <div class="cards">
        <Card title={words.live.title} to={pathTo('live')} link={words.live.link}>
          <p class="big">
            {now.calls.value === null ? '–' : `${now.calls.value.length}${now.more.value ? '+' : ''}`}
          </p>
        </Card>
        {data && <Today seen={data} />}
        {data && <Trouble seen={data} />}
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

function Today({ seen: { today, sum, complete } }: { seen: Seen }) {
  const { today: words_ } = words;
  return (
    <Card title={words_.title} to={withQuery(pathTo('calls'), { from: today })} link={words_.link}>
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
      {!complete && <p class="quiet">{words_.incomplete}</p>}
    </Card>
  );
}

type Alert = Answer<'GET /v1/sip/alerts'>['data']['alerts'][number];

const alertName = ({ kind }: Alert) => texts.trunks.alerts.kinds[kind];

/** What somebody should look at. */
function Trouble({ seen: { unreachable, hasNumbers, alerts, runs, refused } }: { seen: Seen }) {
  return (
    <>
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
      <Card title={words.alerts.title} to={pathTo('alerts')} link={words.alerts.link}>
        <List
          none={words.alerts.none}
          rows={alerts.map((alert) => (
            <span key={alert.alert_id}>
              <Badge tone="bad">{alertName(alert)}</Badge>{' '}
              {alert.phone_number !== null && (
                <a href={pathTo('trunk', alert.phone_number)}>{alert.phone_number}</a>
              )}
              {alert.watch_id !== null && <a href={pathTo('watch', alert.watch_id)}>{texts.alerts.watch}</a>}{' '}
              <Time at={alert.raised_at} />
            </span>
          ))}
        />
      </Card>
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
      <Card title={words.refused.title} to={pathTo('refused')} link={words.refused.link}>
        <List
          none={words.refused.none}
          rows={refused.map((row) => (
            <span key={row.id}>
              <code>{row.source ?? texts.refused.manySources}</code> {row.summary}
            </span>
          ))}
        />
      </Card>
    </>
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
