/** Port requests: of the organization, or for operators the queue of all. */
import { type Answer, request } from '../../api/client.ts';
import { isOperator } from '../../api/session.ts';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, ReloadButton, Screen, Time } from '../../parts/pieces.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { navigate, pathTo, query, withQuery } from '../../router.ts';
import { ports as words } from '../../text/ports.ts';
import { texts } from '../../text/texts.ts';
import { tones } from './states.ts';

type Row = Answer<'GET /v1/sip/port'>['data']['port_requests'][number] & { readonly org_id?: string };

/** Rows of a page. */
const pageRows = 50;
const { head } = words;
const path = pathTo('ports');
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
  const status = states.find((one) => one === query.value.get('state'));
  const offset = offsetOf();
  const loaded = useLoaded(`ports ${status} ${offset}`, async (signal): Promise<readonly Row[]> => {
    const asked = { query: { limit: pageRows, offset, ...(status && { status }) }, signal };
    const answer = operator
      ? await request('GET /v1/admin/ports', asked)
      : await request('GET /v1/sip/port', asked);
    return answer.data.port_requests;
  });
  const { data: rows } = loaded;
  const at = (start: number) =>
    withQuery(path, { state: status ?? '', offset: start <= 0 ? '' : String(start) });
  return (
    <Screen title={words.title} actions={<ReloadButton reload={loaded.reload} />}>
      <p class="quiet">{operator ? words.queue : words.intro}</p>
      <div class="filters">
        <label>
          {words.state}
          <select
            value={status ?? ''}
            onChange={({ currentTarget: { value } }) => navigate(withQuery(path, { state: value }))}
          >
            <option value="">{words.all}</option>
            {states.map((one) => (
              <option key={one} value={one}>
                {words.states[one]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <LoadState of={loaded} />
      {rows?.length === 0 &&
        (status === undefined ? (
          <Empty title={words.empty}>{words.emptyNext}</Empty>
        ) : (
          <Empty title={words.noMatch} />
        ))}
      {rows && rows.length > 0 && (
        <Table name={words.title} rows={rows} columns={columnsOf(operator)} keyOf={({ id }) => id} />
      )}
      {rows && (offset > 0 || rows.length === pageRows) && (
        <nav class="row pager" aria-label={texts.lists.pages}>
          {offset > 0 && <a href={at(offset - pageRows)}>{texts.lists.previous}</a>}
          {rows.length === pageRows && <a href={at(offset + pageRows)}>{texts.lists.next}</a>}
        </nav>
      )}
    </Screen>
  );
}
