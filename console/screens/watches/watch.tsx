/** One watch: shares that passed by version, its alarm, and the judged calls, each of which can become a scenario. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks } from '../../parts/pages.tsx';
import { Badge, Facts, NotRead, ProblemNote, Screen, Time, type Tone } from '../../parts/pieces.tsx';
import { percent, RateBar } from '../../parts/rates.tsx';
import { seldom, usual } from '../../parts/renewal.ts';
import { ActButton } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, navigate, pathTo, query, withQuery } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import { watches as words } from '../../text/watches.ts';
import { agentNames } from '../tests/pieces.tsx';
import { WatchState, watchedName } from './watches.tsx';

type Watch = Answer<'GET /v1/agent-testing/watches/{id}'>;
type Version = Watch['versions'][number];
type Call = Answer<'GET /v1/agent-testing/watches/{id}/calls'>['calls'][number];

/** Rows of a page. */
const pageRows = 20;
const { head } = words;
const statuses = ['FAILED', 'PASSED', 'INCONCLUSIVE', 'ERROR'] as const;

const tones: Readonly<Record<Call['status'], Tone>> = {
  PASSED: 'good',
  FAILED: 'bad',
  INCONCLUSIVE: 'quiet',
  ERROR: 'warn',
};

const versionName = (version: number | null) => (version === null ? words.persona : tests.version(version));

async function read(id: string, signal: AbortSignal) {
  const status = statuses.find((one) => one === query.value.get('status'));
  const [watch, judged] = await Promise.all([
    request('GET /v1/agent-testing/watches/{id}', { path: { id }, signal }),
    request('GET /v1/agent-testing/watches/{id}/calls', {
      path: { id },
      query: { limit: pageRows, offset: offsetOf(), ...(status && { status }) },
      signal,
    }),
  ]);
  return { watch, judged };
}

const versions: readonly Column<Version>[] = [
  { head: head.version, cell: ({ version }) => versionName(version) },
  {
    head: head.rate,
    cell: (row) => (
      <RateBar rate={row.pass_rate} interval={row.pass_rate_interval} note={row.pass_rate_note} />
    ),
  },
  { head: head.calls, cell: (row) => `${row.passed} / ${row.calls}`, numeric: true, from: 'medium' },
  { head: head.undecided, cell: (row) => row.undecided, numeric: true, from: 'medium' },
  { head: head.last, cell: (row) => <Time at={row.last_at} />, from: 'wide' },
];

export function WatchScreen({ id }: { id: string }) {
  const loaded = useLoaded(address.value, (signal) => read(id, signal), usual);
  const names = useLoaded('names', agentNames, seldom);
  const { data } = loaded;
  useTitle(data?.watch.name ?? words.title);
  if (!data) return <NotRead title={words.title} of={loaded} />;
  const { judged, watch } = data;
  const { alarm } = watch;
  return (
    <Screen
      title={
        <>
          {watch.name} <WatchState watch={watch} />
        </>
      }
      actions={mayChange.value && <Actions watch={watch} reload={loaded.reload} />}
    >
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      {alarm && (
        <p class="note bad">
          {words.alarm(
            versionName(alarm.version),
            versionName(alarm.good_version),
            percent(-alarm.difference),
          )}
        </p>
      )}
      <Facts
        rows={[
          [head.agent, watchedName(watch, names.data?.pathways ?? new Map())],
          [head.today, words.skipped(watch.today.judged, watch.today.skipped)],
        ]}
      />
      <h2>{words.versions}</h2>
      <Table
        name={words.versions}
        rows={watch.versions}
        columns={versions}
        keyOf={({ version }) => String(version)}
      />
      <h2>{words.judged}</h2>
      <Calls id={id} judged={judged} />
    </Screen>
  );
}

function Calls({ id, judged }: { id: string; judged: Answer<'GET /v1/agent-testing/watches/{id}/calls'> }) {
  const toScenario = async (call_id: string) => {
    const scenario = await request('POST /v1/agent-testing/watches/{id}/calls/{call_id}/scenario', {
      path: { id, call_id },
      body: {},
    });
    navigate(pathTo('test', scenario.id));
  };
  const columns: readonly Column<Call>[] = [
    {
      head: head.status,
      cell: ({ status }) => <Badge tone={tones[status]}>{words.statuses[status]}</Badge>,
    },
    {
      head: head.call,
      cell: ({ call_id, ended_at }) => (
        <a href={pathTo('call', call_id)}>
          <Time at={ended_at} />
        </a>
      ),
    },
    { head: head.version, cell: ({ version }) => versionName(version), from: 'medium' },
    { head: head.why, cell: ({ reasoning }) => reasoning, grows: true, from: 'medium' },
    ...(mayChange.value
      ? [
          {
            head: head.scenario,
            cell: ({ call_id }: Call) => (
              <ActButton run={() => toScenario(call_id)} label={words.toScenarioOf(call_id)}>
                {words.toScenario}
              </ActButton>
            ),
          },
        ]
      : []),
  ];
  const chosen = query.value.get('status') ?? '';
  return (
    <>
      <label>
        {words.only}{' '}
        <select
          value={chosen}
          onChange={({ currentTarget: { value } }) =>
            navigate(withQuery(pathTo('watch', id), { status: value }))
          }
        >
          <option value="">{words.everyCall}</option>
          {statuses.map((status) => (
            <option key={status} value={status}>
              {words.statuses[status]}
            </option>
          ))}
        </select>
      </label>
      {judged.calls.length === 0 ? (
        <p class="quiet">{words.noCalls}</p>
      ) : (
        <>
          <Table name={words.judged} rows={judged.calls} columns={columns} keyOf={({ call_id }) => call_id} />
          <PageLinks rows={pageRows} total={judged.total_count} />
        </>
      )}
    </>
  );
}

function Actions({ watch, reload }: { watch: Watch; reload: () => void }) {
  const { id } = watch;
  const change = async () => {
    await request('PUT /v1/agent-testing/watches/{id}', {
      path: { id },
      body: { enabled: !watch.enabled },
    });
    reload();
  };
  const remove = async () => {
    await request('DELETE /v1/agent-testing/watches/{id}', { path: { id } });
    navigate(pathTo('watches'));
  };
  return (
    <>
      <ActButton run={change}>{watch.enabled ? words.pause : words.resume}</ActButton>
      <AskedButton words={words.remove} name={watch.name} run={remove} />
    </>
  );
}
