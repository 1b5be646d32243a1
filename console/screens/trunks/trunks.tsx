/** All numbers with SIP configurations, and what is wrong with any of them. */
import { type Answer, request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, Screen, Time, type Tone } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { pathTo } from '../../router.ts';
import { texts } from '../../text/texts.ts';
import { alertFigures } from '../alerts.tsx';

type Row = Answer<'GET /v1/sip/numbers'>['data']['numbers'][number];
type Alert = Answer<'GET /v1/sip/alerts'>['data']['alerts'][number];

/** Rows of a page. */
const pageRows = 100;
const { head, alerts } = texts.trunks;

const tones: Readonly<Record<string, Tone>> = { healthy: 'good', unreachable: 'bad', unchecked: 'quiet' };

export function Health({ status }: { status: string }) {
  const words: Readonly<Record<string, string>> = texts.trunks.health;
  return <Badge tone={tones[status] ?? 'quiet'}>{words[status] ?? status}</Badge>;
}

const columns: readonly Column<Row>[] = [
  {
    head: head.number,
    cell: (row) => (
      <a class="row-link" href={pathTo('trunk', row.phone_number)}>
        {row.phone_number}
      </a>
    ),
  },
  { head: head.health, cell: (row) => <Health status={row.health_status} /> },
  {
    head: head.directions,
    cell: (row) => {
      const words: Readonly<Record<string, string>> = texts.trunks.directions;
      return row.directions.map((one) => words[one] ?? one).join(', ');
    },
    from: 'medium',
  },
  { head: head.configurations, cell: (row) => row.configuration_count, numeric: true, from: 'wide' },
  { head: head.endpoint, cell: (row) => row.sip_endpoint ?? '–', grows: true },
];

export function Trunks() {
  useTitle(texts.trunks.title);
  const offset = offsetOf();
  const loaded = useLoaded(
    `trunks ${offset}`,
    async (signal) => {
      const [numbers, open] = await Promise.all([
        request('GET /v1/sip/numbers', { query: { limit: pageRows, offset }, signal }),
        request('GET /v1/sip/alerts', { query: { state: 'open', limit: 50 }, signal }),
      ]);
      // Those of watches are no matter of trunks.
      const alerts = open.data.alerts.filter(({ watch_id }) => watch_id === null);
      return { numbers: numbers.data.numbers, alerts };
    },
    usual,
  );
  const { data } = loaded;
  return (
    <Screen title={texts.trunks.title}>
      <LoadState of={loaded} />
      {data && data.alerts.length > 0 && <OpenAlerts rows={data.alerts} />}
      {data?.numbers.length === 0 && offset === 0 && (
        <Empty title={texts.trunks.empty}>{texts.trunks.emptyNext}</Empty>
      )}
      {data && data.numbers.length > 0 && (
        <Table
          name={texts.trunks.title}
          rows={data.numbers}
          columns={columns}
          keyOf={(row) => row.phone_number}
        />
      )}
      {data && <PageLinks rows={pageRows} hasMore={data.numbers.length === pageRows} />}
    </Screen>
  );
}

export function OpenAlerts({ rows }: { rows: readonly Alert[] }) {
  return (
    <section aria-labelledby="alerts-title">
      <h2 id="alerts-title">{alerts.title}</h2>
      <Table
        name={alerts.title}
        rows={rows}
        keyOf={(alert) => alert.alert_id}
        columns={[
          { head: alerts.head.kind, cell: ({ kind }) => <Badge tone="bad">{alerts.kinds[kind]}</Badge> },
          { head: alerts.head.number, cell: ({ phone_number }) => phone_number ?? '–' },
          {
            head: alerts.head.endpoint,
            cell: ({ endpoint }) => endpoint ?? '–',
            from: 'medium',
            grows: true,
          },
          ...alertFigures,
          { head: alerts.head.raised, cell: ({ raised_at }) => <Time at={raised_at} /> },
        ]}
      />
    </section>
  );
}
