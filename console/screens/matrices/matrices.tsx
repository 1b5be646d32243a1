/** Matrices: one scenario over versions, voices and weathers; a form for another one, and noises of one's own. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { useLoaded } from '../../parts/load.ts';
import { NamedOptions } from '../../parts/named-options.tsx';
import { beforeOf, OlderLinks } from '../../parts/pages.tsx';
import { Empty, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { underWay, usual } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, navigate, pathTo } from '../../router.ts';
import { matrices as words } from '../../text/matrices.ts';
import { tests } from '../../text/tests.ts';
import { isOver, RunStatus } from '../tests/pieces.tsx';
import { matrixBody, offeredWeathers } from './body.ts';
import { type NoiseRow, Noises } from './noises.tsx';

type Row = Answer<'GET /v1/agent-testing/matrices'>['matrices'][number];

/** Rows of a page. */
const pageRows = 20;
/** Scenarios to choose from. */
const offered = 200;
const { head, make } = words;

async function read(signal: AbortSignal) {
  const before = beforeOf();
  const [{ matrices, next }, { scenarios }, { noises }] = await Promise.all([
    request('GET /v1/agent-testing/matrices', {
      query: { limit: pageRows, ...(before && { before }) },
      signal,
    }),
    request('GET /v1/agent-testing/scenarios', { query: { limit: offered }, signal }),
    request('GET /v1/agent-testing/noises', { signal }),
  ]);
  return { matrices, next, scenarios, noises };
}

type Scenarios = Awaited<ReturnType<typeof read>>['scenarios'];

export function Matrices() {
  useTitle(words.title);
  const loaded = useLoaded(address.value, read, ({ matrices }) =>
    matrices.every(({ status }) => isOver(status)) ? usual : underWay,
  );
  const { data } = loaded;
  const nameOf = (id: string) => data?.scenarios.find((one) => one.id === id)?.name ?? id.slice(0, 8);
  const columns: readonly Column<Row>[] = [
    { head: head.status, cell: ({ status }) => <RunStatus status={status} /> },
    {
      head: head.scenario,
      cell: ({ id, scenario_id }) => (
        <a class="row-link" href={pathTo('matrix', id)}>
          {nameOf(scenario_id)}
        </a>
      ),
      grows: true,
    },
    { head: head.cells, cell: (row) => row.total_cells, numeric: true },
    { head: head.repeats, cell: (row) => row.repeats, numeric: true, from: 'medium' },
    { head: head.created, cell: (row) => <Time at={row.created_at} />, from: 'medium' },
  ];
  return (
    <Screen title={words.title}>
      <LoadState of={loaded} />
      {data?.matrices.length === 0 && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {data && data.matrices.length > 0 && (
        <Table name={words.title} rows={data.matrices} columns={columns} keyOf={({ id }) => id} />
      )}
      {data && (
        <>
          <OlderLinks next={data.next} />
          {mayChange.value && <NewMatrix scenarios={data.scenarios} noises={data.noises} />}
          <Noises noises={data.noises} reload={loaded.reload} />
        </>
      )}
    </Screen>
  );
}

function NewMatrix({ noises, scenarios }: { noises: readonly NoiseRow[]; scenarios: Scenarios }) {
  const overCall = useSignal(false);
  if (scenarios.length === 0)
    return (
      <p class="quiet">
        {make.noScenario} <a href={pathTo('tests')}>{tests.runs.goTo}</a>
      </p>
    );
  const weathers = offeredWeathers(noises);
  const add = async (data: FormData) => {
    const form = {
      scenario: textOf(data, 'scenario'),
      versions: textOf(data, 'versions'),
      repeats: textOf(data, 'repeats'),
      call: overCall.value
        ? {
            number: textOf(data, 'number'),
            voices: textOf(data, 'voices'),
            weathers: data.getAll('weather').map(String),
          }
        : null,
    };
    const { matrix_id } = await request('POST /v1/agent-testing/matrices', {
      body: matrixBody(form, weathers),
    });
    navigate(pathTo('matrix', matrix_id));
  };
  return (
    <section class="card" aria-labelledby="new-matrix">
      <h2 id="new-matrix">{make.title}</h2>
      <Form submit={make.add} run={add} label={make.title}>
        <label>
          {make.scenario}
          <select name="scenario">
            <NamedOptions of={scenarios} />
          </select>
        </label>
        <label>
          {make.versions}
          <input name="versions" pattern="[0-9]+([\s,]+[0-9]+)*" />
        </label>
        <label>
          {make.repeats}
          <input name="repeats" type="number" min="1" max="100" defaultValue="10" required />
        </label>
        <label>
          {make.over}
          <select
            name="over"
            onChange={({ currentTarget: { value } }) => {
              overCall.value = value === 'sip';
            }}
          >
            <option value="text">{tests.start.overs.text}</option>
            <option value="sip">{tests.start.overs.sip}</option>
          </select>
        </label>
        {overCall.value && (
          <>
            <label>
              {make.number}
              <input name="number" type="tel" placeholder="+14155550100" />
            </label>
            <label>
              {make.voices}
              <textarea name="voices" rows={3} />
            </label>
            <fieldset>
              <legend>{make.weathers}</legend>
              <div class="row">
                {weathers.map(({ key, name }) => (
                  <label key={key} class="check">
                    <input type="checkbox" name="weather" value={key} />
                    {name}
                  </label>
                ))}
              </div>
            </fieldset>
          </>
        )}
      </Form>
    </section>
  );
}
