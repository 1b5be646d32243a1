/** One repair: what it tried, how far it came, and each fix, to accept or refuse. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Facts, NotRead, ProblemNote, Screen } from '../../parts/pieces.tsx';
import { seldom, testRuns, underWay } from '../../parts/renewal.ts';
import { ActButton } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { navigate, pathTo, withQuery } from '../../router.ts';
import { quality } from '../../text/quality.ts';
import { tests } from '../../text/tests.ts';
import { useNodeNames } from '../graph/node-names.ts';
import { score, took } from '../tests/pieces.tsx';
import { Differences } from './diff.tsx';
import { gatePlace } from './places.ts';
import { RepairStatus } from './repairs.tsx';

type Session = Answer<'GET /v1/agent-testing/tornado/{id}/status'>;
type Iteration = Session['iterations'][number];
type Fix = Session['fixes'][number];

const words = quality.session;

export function RepairSession({ pathway, id }: { readonly pathway: string; readonly id: string }) {
  const loaded = useLoaded(
    `repair ${id}`,
    (signal) => request('GET /v1/agent-testing/tornado/{id}/status', { path: { id }, signal }),
    ({ status }) => (status === 'RUNNING' ? { ...testRuns, ...underWay } : seldom),
  );
  const { data } = loaded;
  const running = data !== null && data.status === 'RUNNING';
  useTitle(words.title);
  if (!data) return <NotRead title={words.title} of={loaded} />;
  const cancel = async () => {
    await request('POST /v1/agent-testing/tornado/{id}/cancel', { path: { id } });
    loaded.reload();
  };
  return (
    <Screen
      title={
        <>
          {words.title} <RepairStatus status={data.status} />
        </>
      }
      actions={
        <>
          <a href={pathTo('pathwayQuality', pathway)}>{words.back}</a>
          {running && mayChange.value && <AskedButton words={words.cancel} name="" run={cancel} />}
        </>
      }
    >
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      {data.error_message && <p class="note bad">{data.error_message}</p>}
      <SessionFacts session={data} />
      <p class="quiet">{words.heldMeans}</p>
      <Fixes pathway={data.pathway_id} session={data} />
      <Iterations session={data} />
    </Screen>
  );
}

function heldOut(held: Session['held_out']): string {
  return held ? words.iterations.of(held.passed, held.variants) : words.noneHeld;
}

function SessionFacts({ session }: { session: Session }) {
  const { facts } = words;
  return (
    <Facts
      rows={[
        [facts.base, tests.version(session.base_version)],
        [facts.iteration, `${session.current_iteration} / ${session.max_iterations}`],
        [facts.passed, `${session.passed_scenarios} / ${session.total_scenarios}`],
        [facts.held, heldOut(session.held_out)],
        [facts.fork, session.forked_version === null ? '–' : tests.version(session.forked_version)],
        ...(session.unfixable_count > 0 ? [[facts.unfixable, session.unfixable_count] as const] : []),
        [facts.took, took(session.elapsed_ms)],
      ]}
    />
  );
}

function Fixes({ pathway, session }: { readonly pathway: string; readonly session: Session }) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const { fixes, forked_version, session_id, status } = session;
  const said = words.fixes;
  const toggle = (id: string, on: boolean) => {
    const next = new Set(chosen.value);
    if (on) next.add(id);
    else next.delete(id);
    chosen.value = next;
  };
  const mayAccept = mayChange.value && forked_version !== null;
  const nodeName = useNodeNames(
    forked_version === null ? null : { pathway_id: pathway, version_number: forked_version },
  );
  return (
    <section aria-labelledby="fixes-title">
      <h2 id="fixes-title">{said.title}</h2>
      {fixes.length === 0 && (
        <p class="quiet">
          {status === 'RUNNING' ? said.soon : forked_version === null ? said.none : said.untold}
        </p>
      )}
      {fixes.length === 0 && forked_version !== null && (
        <a href={gatePlace(pathway, forked_version)}>{said.toGate(forked_version)}</a>
      )}
      <ul class="verdicts">
        {fixes.map((fix) => (
          <FixItem
            key={fix.id}
            fix={fix}
            nodeName={nodeName}
            chosen={chosen.value.has(fix.id)}
            choose={mayAccept ? (on) => toggle(fix.id, on) : null}
          />
        ))}
      </ul>
      {mayAccept && fixes.length > 0 && (
        <Decision
          pathway={pathway}
          session={session_id}
          fork={forked_version}
          all={fixes.length}
          ids={fixes.flatMap(({ id }) => (chosen.value.has(id) ? [id] : []))}
        />
      )}
    </section>
  );
}

interface FixItemProps {
  readonly fix: Fix;
  readonly nodeName: (id: string) => string;
  readonly chosen: boolean;
  /** null: it can only be seen. */
  readonly choose: ((on: boolean) => void) | null;
}

function FixItem({ fix, chosen, choose, nodeName }: FixItemProps) {
  const said = words.fixes;
  return (
    <li>
      <p class="row">
        {choose ? (
          <label class="check">
            <input
              type="checkbox"
              checked={chosen}
              onChange={({ currentTarget: { checked } }) => choose(checked)}
            />
            {said.accept(fix.id)}
          </label>
        ) : (
          <strong>{fix.id}</strong>
        )}
        <Badge tone="quiet">{said.types[fix.type]}</Badge>
        <small class="quiet">
          {fix.target_node === null ? said.whole : said.at(nodeName(fix.target_node))}
        </small>
      </p>
      <p class="prose">{fix.description}</p>
      {fix.omitted?.includes('diff') ? <p class="quiet">{said.gone}</p> : <Differences of={fix.diff} />}
    </li>
  );
}

interface DecisionProps {
  readonly pathway: string;
  readonly session: string;
  readonly fork: number;
  readonly all: number;
  /** The chosen fixes. */
  readonly ids: readonly string[];
}

/** All together are the version that was tested; some become a version of their own. */
function Decision({ all, fork, ids, pathway, session }: DecisionProps) {
  const said = words.fixes;
  const accept = async () => {
    if (ids.length === all) return navigate(gatePlace(pathway, fork));
    const { version_number } = await request('POST /v1/agent-testing/tornado/{id}/accept', {
      path: { id: session },
      body: { fix_ids: ids },
    });
    navigate(gatePlace(pathway, version_number));
  };
  const refuse = async () => {
    await request('DELETE /v1/pathway/{id}/version/{version_id}', {
      path: { id: pathway, version_id: String(fork) },
    });
    navigate(pathTo('pathwayQuality', pathway));
  };
  return (
    <>
      <p class="quiet">
        {ids.length === 0 ? said.chooseFirst : ids.length === all ? said.every(fork) : said.some}
      </p>
      <div class="row">
        {ids.length > 0 && <ActButton run={accept}>{said.keep(ids.length, all)}</ActButton>}
        {ids.length === 0 && <AskedButton words={said.refuse} name={tests.version(fork)} run={refuse} />}
        <a href={gatePlace(pathway, fork)}>{said.toGate(fork)}</a>
      </div>
    </>
  );
}

function Iterations({ session: { iterations } }: { session: Session }) {
  const { head, ...said } = words.iterations;
  const columns: readonly Column<Iteration>[] = [
    { head: head.number, cell: (row) => row.iteration, numeric: true },
    {
      head: head.version,
      cell: (row) => (
        <a href={withQuery(pathTo('runs'), { batch: row.batch_id })}>{tests.version(row.version_number)}</a>
      ),
    },
    {
      head: head.passed,
      cell: (row) => (row.completed_at === null ? said.running : row.passed_ids.length),
      numeric: true,
    },
    { head: head.failed, cell: (row) => row.failed_ids.length, numeric: true },
    { head: head.score, cell: (row) => score(row.avg_score), numeric: true, from: 'medium' },
    { head: head.held, cell: (row) => heldOut(row.held_out), from: 'medium' },
    { head: head.plan, cell: (row) => plannedThen(row), grows: true, from: 'medium' },
  ];
  return (
    <section aria-labelledby="iterations-title">
      <h2 id="iterations-title">{said.title}</h2>
      <Table name={said.title} rows={iterations} columns={columns} keyOf={(row) => String(row.iteration)} />
    </section>
  );
}

function plannedThen({ fix_plan }: Iteration): string {
  if (!fix_plan) return '–';
  const of = (status: string) => fix_plan.fixes.filter((fix) => fix.status === status).length;
  return words.iterations.plan(of('applied'), of('reverted'), of('skipped'));
}
