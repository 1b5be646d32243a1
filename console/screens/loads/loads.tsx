/** Loads: scenarios that were run as calls at once. */
import { type Answer, request } from '../../api/client.ts';
import { useReread } from '../../parts/followed.ts';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, Screen, Time, type Tone } from '../../parts/pieces.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, pathTo } from '../../router.ts';
import { loads as words } from '../../text/watches.ts';

type Row = Answer<'GET /v1/agent-testing/loads'>['loads'][number];

/** Rows of a page. */
const pageRows = 50;
const { head } = words;

const tones: Readonly<Record<Row['status'], Tone>> = {
  RUNNING: 'live',
  COMPLETED: 'good',
  CANCELLED: 'quiet',
};

export function LoadStatus({ status }: { status: Row['status'] }) {
  return <Badge tone={tones[status]}>{words.statuses[status]}</Badge>;
}

const columns: readonly Column<Row>[] = [
  { head: head.status, cell: ({ status }) => <LoadStatus status={status} /> },
  {
    head: head.load,
    cell: ({ id, phone_number, scenario_ids }) => (
      <a class="row-link" href={pathTo('load', id)}>
        {words.of(scenario_ids.length, phone_number)}
      </a>
    ),
    grows: true,
  },
  { head: head.created, cell: (row) => <Time at={row.created_at} /> },
  { head: head.ended, cell: (row) => <Time at={row.completed_at} />, from: 'medium' },
];

export function Loads() {
  useTitle(words.title);
  const loaded = useLoaded(address.value, (signal) =>
    request('GET /v1/agent-testing/loads', { query: { limit: pageRows, offset: offsetOf() }, signal }),
  );
  const { data } = loaded;
  useReread(data?.loads.some(({ status }) => status === 'RUNNING') ?? false, loaded.reload);
  return (
    <Screen title={words.title}>
      <LoadState of={loaded} />
      {data?.loads.length === 0 && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {data && data.loads.length > 0 && (
        <>
          <Table name={words.title} rows={data.loads} columns={columns} keyOf={({ id }) => id} />
          <PageLinks rows={pageRows} total={data.total_count} />
        </>
      )}
    </Screen>
  );
}
