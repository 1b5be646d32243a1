/** Alerts about trunks and watches, newest first, kept current by events. */
import { type Answer, request } from '../api/client.ts';
import { figure } from '../parts/format.ts';
import { useLoaded } from '../parts/load.ts';
import { beforeOf, OlderLinks } from '../parts/pages.tsx';
import { Badge, Empty, LoadState, Screen, Time } from '../parts/pieces.tsx';
import { openAlerts } from '../parts/renewal.ts';
import { type Column, Table } from '../parts/table.tsx';
import { useTitle } from '../parts/title.ts';
import { pathTo, query, withQuery } from '../router.ts';
import { texts } from '../text/texts.ts';

type Alert = Answer<'GET /v1/sip/alerts'>['data']['alerts'][number];

/** Rows of a page. */
const pageRows = 50;
const words = texts.alerts;
const { head } = words;
const path = pathTo('alerts');

/** What was measured, and what it may be. */
export const alertFigures: readonly Column<Alert>[] = [
  {
    head: head.value,
    cell: ({ kind, value }) => figure(value, 0, words.units[kind]),
    numeric: true,
    from: 'medium',
  },
  {
    head: head.threshold,
    cell: ({ kind, threshold }) => figure(threshold, 0, words.units[kind]),
    numeric: true,
    from: 'wide',
  },
];

const columnsOf = (watches: ReadonlyMap<string, string>): readonly Column<Alert>[] => [
  {
    head: head.about,
    cell: ({ phone_number: number, watch_id: watch }) => {
      if (number !== null)
        return (
          <a class="row-link" href={pathTo('trunk', number)}>
            {number}
          </a>
        );
      if (watch === null) return '–';
      return (
        <a class="row-link" href={pathTo('watch', watch)}>
          {watches.get(watch) ?? words.watch}
        </a>
      );
    },
  },
  {
    head: head.state,
    cell: ({ state }) => <Badge tone={state === 'open' ? 'bad' : 'good'}>{words.states[state]}</Badge>,
  },
  { head: head.kind, cell: ({ kind }) => texts.trunks.alerts.kinds[kind] },
  { head: head.endpoint, cell: ({ endpoint }) => endpoint ?? '–', from: 'wide', grows: true },
  ...alertFigures,
  { head: head.raised, cell: ({ raised_at }) => <Time at={raised_at} /> },
  { head: head.resolved, cell: ({ resolved_at }) => <Time at={resolved_at} />, from: 'medium' },
];

const noWatches: ReadonlyMap<string, string> = new Map();

async function watchNames(alerts: readonly Alert[], signal: AbortSignal) {
  if (alerts.every(({ watch_id }) => watch_id === null)) return noWatches;
  const { watches } = await request('GET /v1/agent-testing/watches', { signal });
  return new Map(watches.map(({ id, name }) => [id, name]));
}

export function Alerts() {
  useTitle(words.title);
  const before = beforeOf();
  const all = query.value.get('show') === 'all';
  const loaded = useLoaded(
    `alerts ${all} ${before}`,
    async (signal) => {
      const asked = { limit: pageRows, ...(!all && { state: 'open' as const }), ...(before && { before }) };
      const { alerts } = (await request('GET /v1/sip/alerts', { query: asked, signal })).data;
      return { rows: alerts, watches: await watchNames(alerts, signal) };
    },
    openAlerts,
  );
  const { rows, watches } = loaded.data ?? { rows: null, watches: noWatches };
  return (
    <Screen title={words.title}>
      <nav class="row" aria-label={words.show}>
        <a href={path} {...(!all && { 'aria-current': 'page' as const })}>
          {words.open}
        </a>
        <a href={withQuery(path, { show: 'all' })} {...(all && { 'aria-current': 'page' as const })}>
          {words.all}
        </a>
      </nav>
      <LoadState of={loaded} />
      {rows?.length === 0 && before === '' && (
        <Empty title={all ? words.none : words.noneOpen}>{words.noneNext}</Empty>
      )}
      {rows && rows.length > 0 && (
        <Table
          name={words.title}
          rows={rows}
          columns={columnsOf(watches)}
          keyOf={(alert) => alert.alert_id}
        />
      )}
      {rows && <OlderLinks next={rows.length === pageRows ? (rows.at(-1)?.alert_id ?? null) : null} />}
    </Screen>
  );
}
