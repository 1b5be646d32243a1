/** Who called and was refused, why, and one click to let it in or keep it out. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../api/client.ts';
import { pageProblem, RequestFailed } from '../api/problem.ts';
import { mayChange } from '../api/session.ts';
import { AskedButton } from '../parts/asked-button.tsx';
import { useLoaded } from '../parts/load.ts';
import { beforeOf, OlderLinks } from '../parts/pages.tsx';
import { Empty, LoadState, Screen, Time } from '../parts/pieces.tsx';
import { seldom, usual } from '../parts/renewal.ts';
import { type Column, Table } from '../parts/table.tsx';
import { useTitle } from '../parts/title.ts';
import { pathTo } from '../router.ts';
import { texts } from '../text/texts.ts';

type Row = Answer<'GET /v1/sip/refused'>['data']['refused'][number];

/** Rows of a page. */
const pageRows = 50;
const words = texts.refused;
const { head } = words;

const columns: readonly Column<Row>[] = [
  { head: head.last, cell: (row) => <Time at={row.last_at} />, from: 'medium' },
  { head: head.source, cell: (row) => <code>{row.source ?? words.manySources}</code> },
  {
    head: head.number,
    cell: ({ phone_number: number }) =>
      number === null ? words.noNumber : <a href={pathTo('trunk', number)}>{number}</a>,
    from: 'medium',
  },
  {
    head: head.why,
    cell: (row) => (
      <span class="lines">
        {row.summary}
        <small class="quiet">{row.detail ? `${row.advice} (${row.detail})` : row.advice}</small>
        {row.reason === 'no_agent' && row.phone_number !== null && (
          <a href={pathTo('trunk', row.phone_number)}>{words.chooseAgent}</a>
        )}
      </span>
    ),
  },
  { head: head.attempts, cell: (row) => row.attempts, numeric: true, from: 'medium' },
  { head: head.caller, cell: (row) => row.from ?? '–', from: 'wide' },
];

export function Refused() {
  useTitle(words.title);
  const before = beforeOf();
  const loaded = useLoaded(
    `refused ${before}`,
    async (signal) => {
      const asked = { limit: pageRows, ...(before && { before }) };
      return (await request('GET /v1/sip/refused', { query: asked, signal })).data.refused;
    },
    before === '' ? usual : seldom,
  );
  const { data: rows } = loaded;
  const done = useSignal('');
  const action: Column<Row> = {
    head: head.action,
    cell: (row) => (
      <Access
        row={row}
        done={(text) => {
          done.value = text;
          loaded.reload();
        }}
      />
    ),
  };
  return (
    <Screen title={words.title}>
      <p class="quiet">{words.intro}</p>
      <p role="status">{done.value}</p>
      <LoadState of={loaded} />
      {rows?.length === 0 && before === '' && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {rows && rows.length > 0 && (
        <Table
          name={words.title}
          rows={rows}
          columns={mayChange.value ? [...columns, action] : columns}
          keyOf={(row) => row.id}
        />
      )}
      {rows && <OlderLinks next={rows.length === pageRows ? (rows.at(-1)?.cursor ?? null) : null} />}
    </Screen>
  );
}

/** Refused for where they come from; others were let in, and are refused for something else. */
const bySource: readonly string[] = ['source_not_allowed', 'challenged'];

interface AccessProps {
  readonly row: Row;
  /** @param text what is so now: the row tells of the past, and stays */
  readonly done: (text: string) => void;
}

function Access({ row: { source, phone_number: number, reason }, done }: AccessProps) {
  // Phones in browsers come from anywhere; their sessions let them in, not addresses.
  if (source === null || number === null || reason.startsWith('phone_session')) return null;
  const allow = bySource.includes(reason);
  const run = async () => {
    await change(number, (addresses) =>
      allow ? withAddress(addresses, source) : without(addresses, source),
    );
    done(allow ? words.allowed(source, number) : words.blocked(source, number));
  };
  return <AskedButton words={allow ? words.allow : words.block} name={source} run={run} />;
}

function withAddress(addresses: readonly string[], source: string): readonly string[] {
  return addresses.includes(source) ? addresses : [...addresses, source];
}

function without(addresses: readonly string[], source: string): readonly string[] {
  if (!addresses.includes(source)) throw failed('NOT_LISTED', words.notListed, words.notListedHelps);
  return addresses.filter((one) => one !== source);
}

/** Replaces the allowed addresses of the number's primary inbound configuration. */
async function change(
  number: string,
  by: (addresses: readonly string[]) => readonly string[],
): Promise<void> {
  const { inbound } = (await request('GET /v1/sip', { query: { phone_number: number } })).data;
  if (!inbound) throw failed('NO_INBOUND', words.noInbound, words.noInboundHelps);
  const allowed_ips = by(inbound.options.allowed_ips ?? []);
  await request('POST /v1/sip/update', {
    body: { phone_number: number, updates: { type: 'inbound', id: inbound.id, options: { allowed_ips } } },
  });
}

function failed(code: string, message: string, helps: string): RequestFailed {
  return new RequestFailed(pageProblem(code, message, helps));
}
