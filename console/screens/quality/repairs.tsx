/** Repairs of a pathway: its sessions, and a new one. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Empty, LoadState, Time, type Tone } from '../../parts/pieces.tsx';
import { testRuns, underWay, usual } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { navigate } from '../../router.ts';
import { quality } from '../../text/quality.ts';
import { tests } from '../../text/tests.ts';
import { gatePlace, sessionPlace } from './places.ts';
import { type Quality, versionName } from './versions.tsx';

type Row = Answer<'GET /v1/agent-testing/tornado'>['sessions'][number];

const words = quality.repair;
const { head } = words;
/** Sessions that are shown: the newest. */
const shownSessions = 20;

const tones: Readonly<Record<Row['status'], Tone>> = {
  RUNNING: 'live',
  COMPLETED_ALL_PASSED: 'good',
  COMPLETED_PARTIAL: 'warn',
  STUCK: 'bad',
  TIMEOUT: 'warn',
  ERROR: 'bad',
  CANCELLED: 'quiet',
};

export function RepairStatus({ status }: Pick<Row, 'status'>) {
  return <Badge tone={tones[status]}>{words.statuses[status]}</Badge>;
}

interface RepairsProps {
  readonly pathway: string;
  readonly versions: Quality['versions'];
}

function isRunning(sessions: readonly Row[]): boolean {
  return sessions.some(({ status }) => status === 'RUNNING');
}

export function Repairs({ pathway, versions }: RepairsProps) {
  const loaded = useLoaded(
    `repairs ${pathway}`,
    (signal) =>
      request('GET /v1/agent-testing/tornado', {
        query: { pathway_id: pathway, limit: shownSessions },
        signal,
      }),
    ({ sessions }) => (isRunning(sessions) ? { ...testRuns, ...underWay } : usual),
  );
  const { data } = loaded;
  const running = data !== null && isRunning(data.sessions);
  const columns: readonly Column<Row>[] = [
    { head: head.status, cell: ({ status }) => <RepairStatus status={status} /> },
    {
      head: head.at,
      cell: (row) => (
        <a class="row-link" href={sessionPlace(pathway, row.session_id)}>
          <Time at={row.created_at} />
        </a>
      ),
      grows: true,
    },
    { head: head.passed, cell: (row) => `${row.passed_scenarios} / ${row.total_scenarios}`, numeric: true },
    {
      head: head.iteration,
      cell: (row) => `${row.current_iteration} / ${row.max_iterations}`,
      numeric: true,
      from: 'medium',
    },
    {
      head: head.version,
      cell: (row) =>
        row.forked_version !== null && (
          <a class="above" href={gatePlace(pathway, row.forked_version)}>
            {tests.version(row.forked_version)}
          </a>
        ),
    },
    { head: head.ended, cell: (row) => <Time at={row.completed_at} />, from: 'medium' },
  ];
  return (
    <section aria-labelledby="repairs-title">
      <h2 id="repairs-title">{words.title}</h2>
      <p class="quiet">{words.intro}</p>
      {mayChange.value && !running && <StartRepair pathway={pathway} versions={versions} />}
      <LoadState of={loaded} />
      {data?.sessions.length === 0 && <Empty title={words.empty} />}
      {data && data.sessions.length > 0 && (
        <Table
          name={words.title}
          rows={data.sessions}
          columns={columns}
          keyOf={({ session_id }) => session_id}
        />
      )}
    </section>
  );
}

function StartRepair({ pathway, versions }: RepairsProps) {
  const start = async (data: FormData) => {
    const version = textOf(data, 'repair-version');
    const { session_id } = await request('POST /v1/agent-testing/tornado/start', {
      body: {
        pathway_id: pathway,
        max_iterations: Number(textOf(data, 'iterations')),
        ...(version !== '' && { version_number: Number(version) }),
      },
    });
    navigate(sessionPlace(pathway, session_id));
  };
  return (
    <Form submit={words.start} run={start} label={words.title}>
      <label>
        {words.version}
        <select name="repair-version">
          <option value="">{words.production}</option>
          {versions.map((one) => (
            <option key={one.version_number} value={String(one.version_number)}>
              {versionName(one)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {words.iterations}
        <input name="iterations" type="number" min="1" max="20" defaultValue="5" required />
      </label>
    </Form>
  );
}
