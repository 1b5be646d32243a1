/** Watches over production calls, and a form for another one. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { useLoaded } from '../../parts/load.ts';
import { NamedOptions } from '../../parts/named-options.tsx';
import { Badge, Empty, LoadState, Screen } from '../../parts/pieces.tsx';
import { openAlerts, seldom } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { navigate, pathTo } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import { watches as words } from '../../text/watches.ts';
import { agentNames } from '../tests/pieces.tsx';

type Row = Answer<'GET /v1/agent-testing/watches'>['watches'][number];

/** Scenarios to take assertions from. */
const offered = 200;
/** A production call cannot decide these. */
const ofTestsOnly = new Set(['WEBHOOK_TRIGGERED', 'TOOL_CALLED', 'MEASUREMENT', 'HEARD_WORDS']);
const { head, make } = words;

async function read(signal: AbortSignal) {
  const [{ watches }, names, { scenarios }] = await Promise.all([
    request('GET /v1/agent-testing/watches', { signal }),
    agentNames(signal),
    request('GET /v1/agent-testing/scenarios', { query: { limit: offered }, signal }),
  ]);
  const usable = scenarios.filter(
    ({ assertions, pathway_id, persona_id }) =>
      (pathway_id ?? persona_id) !== null && assertions.some(({ type }) => !ofTestsOnly.has(type)),
  );
  return { watches, names, scenarios: usable };
}

export function WatchState({ watch }: { watch: Pick<Row, 'alarm' | 'enabled'> }) {
  if (watch.alarm) return <Badge tone="bad">{words.drifted}</Badge>;
  return <Badge tone={watch.enabled ? 'live' : 'quiet'}>{watch.enabled ? words.watching : words.off}</Badge>;
}

export function watchedName(watch: Row, pathways: ReadonlyMap<string, string>): string {
  if (watch.pathway_id !== null) return pathways.get(watch.pathway_id) ?? watch.pathway_id;
  return watch.persona_id === null ? words.number(watch.phone_number ?? '') : words.persona;
}

export function Watches() {
  useTitle(words.title);
  // What a new one can take is read, too; what changes by itself is told as an alert.
  const loaded = useLoaded('watches', read, { ...openAlerts, ...seldom });
  const { data } = loaded;
  const columns: readonly Column<Row>[] = [
    { head: head.state, cell: (row) => <WatchState watch={row} /> },
    {
      head: head.name,
      cell: ({ id, name }) => (
        <a class="row-link" href={pathTo('watch', id)}>
          {name}
        </a>
      ),
      grows: true,
    },
    { head: head.agent, cell: (row) => data && watchedName(row, data.names.pathways) },
    { head: head.today, cell: ({ today }) => words.skipped(today.judged, today.skipped), numeric: true },
  ];
  return (
    <Screen title={words.title}>
      <LoadState of={loaded} />
      {data?.watches.length === 0 && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {data && data.watches.length > 0 && (
        <Table name={words.title} rows={data.watches} columns={columns} keyOf={({ id }) => id} />
      )}
      {data && mayChange.value && <NewWatch scenarios={data.scenarios} />}
    </Screen>
  );
}

function NewWatch({ scenarios }: Pick<Awaited<ReturnType<typeof read>>, 'scenarios'>) {
  if (scenarios.length === 0)
    return (
      <p class="quiet">
        {make.noScenario} <a href={pathTo('tests')}>{tests.runs.goTo}</a>
      </p>
    );
  const add = async (data: FormData) => {
    const scenario = scenarios.find(({ id }) => id === textOf(data, 'scenario'));
    if (!scenario) return;
    const assertions = scenario.assertions
      .filter(({ type }) => !ofTestsOnly.has(type))
      .slice(0, 20)
      .map(({ id: _, ...assertion }) => assertion);
    const { id } = await request('POST /v1/agent-testing/watches', {
      body: {
        name: textOf(data, 'name'),
        assertions,
        sample_rate: Number(textOf(data, 'share')) / 100,
        calls_per_day: Number(textOf(data, 'perDay')),
        ...(scenario.pathway_id === null
          ? { persona_id: scenario.persona_id ?? '' }
          : { pathway_id: scenario.pathway_id }),
      } as never,
    });
    navigate(pathTo('watch', id));
  };
  return (
    <section class="card" aria-labelledby="new-watch">
      <h2 id="new-watch">{make.title}</h2>
      <Form submit={make.add} run={add} label={make.title}>
        <label>
          {make.name}
          <input name="name" required maxLength={200} />
        </label>
        <label>
          {make.scenario}
          <select name="scenario">
            <NamedOptions of={scenarios} />
          </select>
        </label>
        <label>
          {make.share}
          <input name="share" type="number" min="0.01" max="100" step="any" defaultValue="100" required />
        </label>
        <label>
          {make.perDay}
          <input name="perDay" type="number" min="1" max="10000" defaultValue="200" required />
        </label>
      </Form>
    </section>
  );
}
