/** The edges of the deployment, for operators. */
import { type Answer, request } from '../api/client.ts';
import { AskedButton } from '../parts/asked-button.tsx';
import { DaysLeft } from '../parts/days-left.tsx';
import { useLoaded } from '../parts/load.ts';
import { Badge, Empty, LoadState, Screen, Time, type Tone } from '../parts/pieces.tsx';
import { usual } from '../parts/renewal.ts';
import { type Column, Table } from '../parts/table.tsx';
import { useTitle } from '../parts/title.ts';
import { texts } from '../text/texts.ts';

type Edge = Answer<'GET /v1/admin/edges'>['data']['edges'][number];

const { head, states } = texts.edges;

function stateOf(edge: Edge): readonly [Tone, string] {
  if (!edge.connected) return ['bad', states.gone];
  if (edge.engine === 'down') return ['bad', states.engine];
  if (edge.disk === 'refusing_calls') return ['bad', states.disk];
  if (edge.draining)
    return ['warn', edge.calls === 0 && edge.takes_calls === false ? states.drained : states.draining];
  if (edge.takes_calls === null) return ['quiet', states.starting];
  return edge.takes_calls ? ['good', states.up] : ['warn', states.draining];
}

const columnsOf = (reload: () => void): readonly Column<Edge>[] => [
  { head: head.id, cell: (edge) => <code>{edge.id}</code>, grows: true },
  {
    head: head.state,
    cell: (edge) => {
      const [tone, word] = stateOf(edge);
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  { head: head.calls, cell: (edge) => edge.calls ?? '–', numeric: true },
  { head: head.version, cell: (edge) => `${edge.software} ${edge.version ?? ''}`, from: 'wide' },
  { head: head.region, cell: (edge) => edge.region ?? texts.edges.anyRegion, from: 'medium' },
  {
    head: head.address,
    cell: ({ sip }) => (
      <>
        {sip.host}:{sip.port}
        {sip.wss_url !== null && (
          <>
            <br />
            <span class="quiet">{sip.wss_url}</span>
          </>
        )}
      </>
    ),
    from: 'wide',
  },
  { head: head.weight, cell: (edge) => edge.weight, numeric: true, from: 'wide' },
  {
    head: head.certificate,
    cell: ({ certificate }) =>
      certificate ? (
        <>
          <DaysLeft expires={certificate.expires_at} />
          {certificate.other_host && <Badge tone="bad">{texts.edges.otherHost}</Badge>}
        </>
      ) : (
        '–'
      ),
    from: 'medium',
  },
  { head: head.seen, cell: (edge) => <Time at={edge.last_seen_at} />, from: 'medium' },
  { head: head.action, cell: (edge) => <Draining edge={edge} reload={reload} /> },
];

function Draining({ edge: { id, draining }, reload }: { edge: Edge; reload: () => void }) {
  const run = async () => {
    await request('PATCH /v1/admin/edges/{id}', { path: { id }, body: { draining: !draining } });
    reload();
  };
  return <AskedButton words={draining ? texts.edges.undrain : texts.edges.drain} name={id} run={run} />;
}

export function Edges() {
  useTitle(texts.edges.title);
  const loaded = useLoaded(
    'edges',
    async (signal) => (await request('GET /v1/admin/edges', { query: { limit: 500 }, signal })).data.edges,
    usual,
  );
  return (
    <Screen title={texts.edges.title}>
      <LoadState of={loaded} />
      {loaded.data?.length === 0 && <Empty title={texts.edges.empty}>{texts.edges.emptyNext}</Empty>}
      {loaded.data && loaded.data.length > 0 && (
        <Table
          name={texts.edges.title}
          rows={loaded.data}
          columns={columnsOf(loaded.reload)}
          keyOf={(edge) => edge.id}
        />
      )}
    </Screen>
  );
}
