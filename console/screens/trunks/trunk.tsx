/** One number: health of its endpoints, and each of its configurations. */
import { type Answer, request } from '../../api/client.ts';
import { Answering } from '../../parts/answering.tsx';
import { DaysLeft } from '../../parts/days-left.tsx';
import { figure } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Facts, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { TalkButton } from '../../phone/talk-button.tsx';
import { texts } from '../../text/texts.ts';
import { Configuration } from './configuration.tsx';
import { Health, OpenAlerts } from './trunks.tsx';

type Status = Answer<'GET /v1/sip/status'>['data'];
type Endpoint = Status['endpoints'][number];

const words = texts.trunks;
const { head, roles } = words.endpoints;

const columns: readonly Column<Endpoint>[] = [
  {
    head: head.endpoint,
    cell: (row) => (
      <>
        {row.host}:{row.port}
        <br />
        <span class="quiet">{roles[row.priority] ?? row.priority}</span>{' '}
        {row.active && <Badge tone="live">{words.endpoints.active}</Badge>}
      </>
    ),
  },
  {
    head: head.health,
    cell: (row) => (
      <>
        <Health status={row.status} />
        {row.consecutive_failures > 0 && (
          <>
            <br />
            <span class="quiet">{words.endpoints.failures(row.consecutive_failures)}</span>
          </>
        )}
      </>
    ),
  },
  { head: head.time, cell: (row) => figure(row.response_time_ms, 0, 'ms'), numeric: true, from: 'medium' },
  { head: head.checked, cell: (row) => <Time at={row.checked_at} />, from: 'medium' },
  {
    head: head.certificate,
    cell: ({ certificate }) => (certificate ? <DaysLeft expires={certificate.expires_at} /> : '–'),
    from: 'medium',
  },
  {
    head: head.issued,
    cell: ({ certificate }) =>
      certificate && (
        <>
          {certificate.names.join(', ')}
          <br />
          <span class="quiet">{certificate.issuer}</span>
        </>
      ),
    from: 'wide',
    grows: true,
  },
  { head: head.edge, cell: (row) => <code>{row.edge_id ?? '–'}</code>, from: 'wide', grows: true },
];

async function read(number: string, signal: AbortSignal) {
  const query = { phone_number: number };
  const [status, sip, alerts] = await Promise.all([
    request('GET /v1/sip/status', { query, signal }),
    request('GET /v1/sip', { query, signal }),
    request('GET /v1/sip/alerts', { query: { ...query, state: 'open', limit: 50 }, signal }),
  ]);
  return { status: status.data, configurations: sip.data.configurations, alerts: alerts.data.alerts };
}

export function Trunk({ id: number }: { id: string }) {
  const loaded = useLoaded(`trunk ${number}`, (signal) => read(number, signal), usual);
  useTitle(words.trunkTitle(number));
  const { data } = loaded;
  return (
    <Screen
      title={
        <>
          {words.trunkTitle(number)} {data && <Health status={data.status.status} />}
        </>
      }
      actions={<TalkButton name={number} session={{ phone_number: number }} />}
    >
      <LoadState of={loaded} />
      {data && (
        <>
          {data.status.endpoints.length > 0 && <HealthFacts status={data.status} />}
          {data.alerts.length > 0 && <OpenAlerts rows={data.alerts} />}
          <section aria-labelledby="endpoints-title">
            <h2 id="endpoints-title">{words.endpoints.title}</h2>
            {data.status.endpoints.length === 0 ? (
              <p class="quiet">{words.endpoints.none}</p>
            ) : (
              <Table
                name={words.endpoints.title}
                rows={data.status.endpoints}
                columns={columns}
                keyOf={(row) => `${row.configuration_id} ${row.priority}`}
              />
            )}
          </section>
          {data.configurations.some(({ direction }) => direction === 'inbound') && (
            <section class="card" aria-labelledby="answering-title">
              <h2 id="answering-title">{words.answering.title}</h2>
              <Answering number={number} />
            </section>
          )}
          {data.configurations.map((one) => (
            <Configuration key={one.id} configuration={one} reload={loaded.reload} />
          ))}
        </>
      )}
    </Screen>
  );
}

function HealthFacts({ status }: { status: Status }) {
  const { facts } = words;
  return (
    <Facts
      rows={[
        [facts.now, figure(status.response_time_ms, 0, 'ms')],
        [facts.mean, figure(status.average_response_time_ms, 0, 'ms')],
        [facts.day, figure(status.uptime_percentage, 2, '%')],
        [facts.month, figure(status.uptime_percentage_30d, 2, '%')],
        [facts.checked, <Time key="checked" at={status.checked_at} />],
      ]}
    />
  );
}
