/** What keeps a version from production, and the way there. */
import { useEffect, useRef } from 'preact/hooks';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { useLoaded } from '../../parts/load.ts';
import { Badge, LoadState } from '../../parts/pieces.tsx';
import { testRuns, underWay, usual } from '../../parts/renewal.ts';
import { ActButton } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { navigate, pathTo, query, withQuery } from '../../router.ts';
import { quality } from '../../text/quality.ts';
import { score } from '../tests/pieces.tsx';
import { gatePlace } from './places.ts';
import { type Quality, versionName } from './versions.tsx';

type State = Answer<'GET /v1/pathway/{id}/version/{version_id}/gate'>;
type Blocking = State['scenarios'][number];

const words = quality.gate;
const { head } = words;

interface GateProps {
  readonly pathway: string;
  readonly data: Quality;
  /** Something was published. */
  readonly changed: () => void;
}

export function Gate({ pathway, data, changed }: GateProps) {
  const versions = data.versions.filter(({ version_number }) => version_number !== 0);
  const asked = query.value.get('version');
  const chosen = asked !== null && /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : versions[0]?.version_number;
  return (
    <section class="card" aria-labelledby="gate-title">
      <h2 id="gate-title">{words.title}</h2>
      {chosen === undefined ? (
        <p class="quiet">{words.noVersion}</p>
      ) : (
        <>
          <label class="check">
            {words.version}
            <select
              value={String(chosen)}
              onChange={({ currentTarget: { value } }) =>
                navigate(gatePlace(pathway, Number(value)), { replace: true })
              }
            >
              {!versions.some((one) => one.version_number === chosen) && (
                <option value={String(chosen)}>{versionName({ name: null, version_number: chosen })}</option>
              )}
              {versions.map((one) => (
                <option key={one.version_number} value={String(one.version_number)}>
                  {versionName(one)}
                </option>
              ))}
            </select>
          </label>
          <GateOf pathway={pathway} version={chosen} changed={changed} />
        </>
      )}
    </section>
  );
}

interface GateOfProps {
  readonly pathway: string;
  readonly version: number;
  readonly changed: () => void;
}

/** Of one version. */
export function GateOf({ pathway, version, changed }: GateOfProps) {
  const loaded = useLoaded(
    `gate ${pathway} ${version}`,
    (signal) =>
      request('GET /v1/pathway/{id}/version/{version_id}/gate', {
        path: { id: pathway, version_id: String(version) },
        signal,
      }),
    // It is published after the last event of its batch.
    ({ waiting_batch_id: waits }) => ({ ...testRuns, ...(waits === null ? usual : underWay) }),
  );
  const { data } = loaded;
  const waits = data !== null && data.waiting_batch_id !== null;
  const waited = useRef(false);
  useEffect(() => {
    if (waited.current && !waits) changed();
    waited.current = waits;
  }, [waits]);
  const again = () => {
    loaded.reload();
    changed();
  };
  return (
    <>
      <LoadState of={loaded} />
      {data && <Verdict state={data} />}
      {data && mayChange.value && (
        <Ways pathway={pathway} state={data} again={again} reread={loaded.reload} />
      )}
    </>
  );
}

function Verdict({ state }: { state: State }) {
  const { blocking, in_production, passed, scenarios, waiting_batch_id } = state;
  const columns: readonly Column<Blocking>[] = [
    {
      head: head.scenario,
      cell: (row) => <a href={pathTo('test', row.scenario_id)}>{row.name}</a>,
      grows: true,
    },
    { head: head.reason, cell: (row) => words.reasons[row.reason] },
    {
      head: head.run,
      cell: (row) =>
        row.latest_run_id && (
          <a href={pathTo('run', row.latest_run_id)} aria-label={words.openLabel(row.name)}>
            {words.open}
          </a>
        ),
    },
    { head: head.score, cell: (row) => score(row.score), numeric: true, from: 'medium' },
  ];
  return (
    <>
      <p class="row">
        {in_production && <Badge tone="live">{words.inProduction}</Badge>}
        <Badge tone={passed ? 'good' : 'bad'}>{passed ? words.passes : words.blocked}</Badge>
        {waiting_batch_id && (
          <>
            <Badge tone="warn">{words.waits}</Badge>
            <a href={withQuery(pathTo('runs'), { batch: waiting_batch_id })}>{words.batch}</a>
          </>
        )}
      </p>
      <p>{passed ? words.whyNot : words.why(blocking)}</p>
      {scenarios.length > 0 && (
        <Table name={words.title} rows={scenarios} columns={columns} keyOf={(row) => row.scenario_id} />
      )}
      {blocking > scenarios.length && <p class="quiet">{words.more(blocking - scenarios.length)}</p>}
    </>
  );
}

interface WaysProps {
  readonly pathway: string;
  readonly state: State;
  /** Something was published. */
  readonly again: () => void;
  /** The state may be another one by now. */
  readonly reread: () => void;
}

function Ways({ pathway, state, again, reread }: WaysProps) {
  const { in_production, passed, scenarios, version_id, waiting_batch_id } = state;
  const name = versionName({ name: null, version_number: version_id });
  if (in_production) return null;
  const publish = async (publish_on_pass: boolean) => {
    try {
      await request('POST /v1/pathway/{id}/publish', {
        path: { id: pathway },
        body: { version_id, publish_on_pass },
      });
    } catch (error) {
      reread();
      throw error;
    }
    again();
  };
  const run = async () => {
    const body = { scenario_ids: scenarios.map((one) => one.scenario_id), version_number: version_id };
    // As often as the one that wants most: a run too few would keep the gate closed.
    const times = Math.max(...scenarios.map((one) => one.runs_required));
    if (times > 1) {
      const { simulation_set_id } = await request('POST /v1/agent-testing/simulation-sets', {
        body: { ...body, simulations_per_scenario: times },
      });
      return navigate(pathTo('set', simulation_set_id));
    }
    const { batch_id } = await request('POST /v1/agent-testing/batch-run', { body });
    navigate(withQuery(pathTo('runs'), { batch: batch_id }));
  };
  return (
    <div class="row">
      {passed && <AskedButton words={words.publish} name={name} run={() => publish(false)} />}
      {!passed && <ActButton run={run}>{words.run}</ActButton>}
      {!passed && waiting_batch_id === null && (
        <AskedButton words={words.publishWhen} name={name} run={() => publish(true)} />
      )}
    </div>
  );
}
