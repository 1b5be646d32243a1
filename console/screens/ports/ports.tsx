/** Port requests: of the organization, or for operators the queue of all. */
import { type Answer, request } from '../../api/client.ts';
import { isOperator, mayChange, session } from '../../api/session.ts';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks, StateFilter, stateOfAddress } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { pathTo } from '../../router.ts';
import { ports as words } from '../../text/ports.ts';
import { Documents } from './documents.tsx';
import { StartPort } from './start.tsx';
import { tones } from './states.ts';

type Row = Answer<'GET /v1/sip/port'>['data']['port_requests'][number] & { readonly org_id?: string };

/** Rows of a page. */
const pageRows = 50;
const { head } = words;
const states = [
  'waiting_for_signature',
  'submitted',
  'in_progress',
  'completed',
  'canceled',
  'failed',
] as const;

const columnsOf = (operator: boolean): readonly Column<Row>[] => [
  {
    head: head.numbers,
    cell: ({ id, phone_numbers: [first, ...others] }) => (
      <a class="row-link" href={pathTo('port', id)}>
        {first?.number} {others.length > 0 && words.more(others.length)}
      </a>
    ),
  },
  { head: head.state, cell: ({ status }) => <Badge tone={tones[status]}>{words.states[status]}</Badge> },
  ...(operator
    ? [{ head: head.organization, cell: (row: Row) => <code>{row.org_id}</code>, grows: true }]
    : []),
  { head: head.target, cell: (row) => row.target_port_date, from: 'medium' },
  { head: head.foc, cell: (row) => row.foc_date ?? '–', from: 'medium' },
  { head: head.created, cell: (row) => <Time at={row.created_at} />, from: 'wide' },
  { head: head.updated, cell: (row) => <Time at={row.updated_at} />, from: 'wide' },
];

export function Ports() {
  useTitle(words.title);
  const operator = isOperator.value;
  const status = stateOfAddress(states);
  const offset = offsetOf();
  const loaded = useLoaded(
    `ports ${status} ${offset}`,
    async (signal): Promise<readonly Row[]> => {
      const asked = { query: { limit: pageRows, offset, ...(status && { status }) }, signal };
      const answer = operator
        ? await request('GET /v1/admin/ports', asked)
        : await request('GET /v1/sip/port', asked);
      return answer.data.port_requests;
    },
    usual,
  );
  const { data: rows } = loaded;
  return (
    <Screen title={words.title}>
      <p class="quiet">{operator ? words.queue : words.intro}</p>
      {mayChange.value && !operator && <OwnPapers />}
      <StateFilter label={words.state} states={states} names={words.states} />
      <LoadState of={loaded} />
      {rows?.length === 0 &&
        (status === null ? (
          <Empty title={words.empty}>{words.emptyNext}</Empty>
        ) : (
          <Empty title={words.noMatch} />
        ))}
      {rows && rows.length > 0 && (
        <Table name={words.title} rows={rows} columns={columnsOf(operator)} keyOf={({ id }) => id} />
      )}
      {rows && <PageLinks rows={pageRows} hasMore={rows.length === pageRows} />}
    </Screen>
  );
}

/** Documents are listed up to here: an organization has at most 100 that no request uses. */
const documentRows = 100;

/** What a customer begins with: documents, and the form that sends them. */
function OwnPapers() {
  const loaded = useLoaded(
    'port documents',
    async (signal) => {
      const answer = await request('GET /v1/sip/port/document', { query: { limit: documentRows }, signal });
      return answer.data.documents;
    },
    usual,
  );
  return (
    <>
      {session.value?.role === 'admin' && <StartPort documents={loaded.data ?? []} />}
      <Documents loaded={loaded} />
    </>
  );
}
