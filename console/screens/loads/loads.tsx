/** Loads: scenarios that were run as calls at once, and a form for another one. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { useLoaded } from '../../parts/load.ts';
import { NamedOptions } from '../../parts/named-options.tsx';
import { offsetOf, PageLinks } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, Screen, Time, type Tone } from '../../parts/pieces.tsx';
import { underWay, usual } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, navigate, pathTo } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import { loads as words } from '../../text/watches.ts';
import { loadBody } from './body.ts';

type Row = Answer<'GET /v1/agent-testing/loads'>['loads'][number];

/** Rows of a page. */
const pageRows = 50;
/** Scenarios to choose from. */
const offered = 200;
/** Of one load. */
const mostScenarios = 10;
const { head, make } = words;

const tones: Readonly<Record<Row['status'], Tone>> = {
  RUNNING: 'live',
  COMPLETED: 'good',
  CANCELLED: 'quiet',
};

export function LoadStatus({ status }: { status: Row['status'] }) {
  return <Badge tone={tones[status]}>{words.statuses[status]}</Badge>;
}

const columnsOf = (names: ReadonlyMap<string, string>): readonly Column<Row>[] => [
  { head: head.status, cell: ({ status }) => <LoadStatus status={status} /> },
  {
    head: head.load,
    cell: ({ id, phone_number, scenario_ids }) => (
      <a class="row-link" href={pathTo('load', id)}>
        {words.of(scenario_ids.length, phone_number, names.get(scenario_ids[0] ?? ''))}
      </a>
    ),
    grows: true,
  },
  { head: head.created, cell: (row) => <Time at={row.created_at} /> },
  { head: head.ended, cell: (row) => <Time at={row.completed_at} />, from: 'medium' },
];

async function read(signal: AbortSignal) {
  const [list, { scenarios }] = await Promise.all([
    request('GET /v1/agent-testing/loads', { query: { limit: pageRows, offset: offsetOf() }, signal }),
    request('GET /v1/agent-testing/scenarios', { query: { limit: offered }, signal }),
  ]);
  const names = new Map(scenarios.map(({ id, name }) => [id, name]));
  return { ...list, names, scenarios: scenarios.filter((one) => one.scenario_type !== 'HISTORICAL') };
}

export function Loads() {
  useTitle(words.title);
  const loaded = useLoaded(address.value, read, ({ loads }) =>
    loads.some(({ status }) => status === 'RUNNING') ? underWay : usual,
  );
  const { data } = loaded;
  return (
    <Screen title={words.title}>
      <LoadState of={loaded} />
      {data?.loads.length === 0 && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {data && data.loads.length > 0 && (
        <>
          <Table
            name={words.title}
            rows={data.loads}
            columns={columnsOf(data.names)}
            keyOf={({ id }) => id}
          />
          <PageLinks rows={pageRows} total={data.total_count} />
        </>
      )}
      {data && mayChange.value && <NewLoad scenarios={data.scenarios} />}
    </Screen>
  );
}

function NewLoad({ scenarios }: Pick<Awaited<ReturnType<typeof read>>, 'scenarios'>) {
  const overCall = useSignal(true);
  if (scenarios.length === 0)
    return (
      <p class="quiet">
        {make.noScenario} <a href={pathTo('tests')}>{tests.runs.goTo}</a>
      </p>
    );
  const start = async (data: FormData) => {
    const field = (name: string) => textOf(data, name);
    const { load_id } = await request('POST /v1/agent-testing/loads', {
      body: loadBody({
        scenarios: data.getAll('scenarios').map(String).slice(0, mostScenarios),
        transport: field('transport'),
        number: field('number'),
        from: field('from'),
        to: field('to'),
        step: field('step'),
        runs: field('runs'),
        version: field('version'),
      }),
    });
    navigate(pathTo('load', load_id));
  };
  const count = (name: 'from' | 'to' | 'step' | 'runs', usual: number, most: number) => (
    <label>
      {make[name]}
      <input name={name} type="number" min="1" max={most} defaultValue={usual} required />
    </label>
  );
  return (
    <section class="card" aria-labelledby="new-load">
      <h2 id="new-load">{make.title}</h2>
      <Form submit={make.add} run={start} label={make.title}>
        <label class="grows">
          {make.scenarios}
          <select name="scenarios" multiple size={Math.min(5, Math.max(2, scenarios.length))} required>
            <NamedOptions of={scenarios} />
          </select>
        </label>
        <label>
          {make.over}
          <select
            name="transport"
            onChange={({ currentTarget: { value } }) => {
              overCall.value = value === 'sip';
            }}
          >
            <option value="sip">{make.overs.sip}</option>
            <option value="text">{make.overs.text}</option>
          </select>
        </label>
        {overCall.value && (
          <label>
            {make.number}
            <input name="number" type="tel" placeholder="+14155550100" />
          </label>
        )}
        {count('from', 2, 500)}
        {count('to', 6, 500)}
        {count('step', 2, 500)}
        {count('runs', 20, 1000)}
        <label>
          {make.version}
          <input name="version" type="number" min="0" />
        </label>
      </Form>
    </section>
  );
}
