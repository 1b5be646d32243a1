/** One run: the conversation as it is held, the verdicts with their reasons, and beside another run. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { readStream } from '../../api/stream.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { shortTime } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { Facts, NotRead, ProblemNote, Screen, Time } from '../../parts/pieces.tsx';
import { seldom, usual } from '../../parts/renewal.ts';
import { ActButton } from '../../parts/submit.tsx';
import { useTitle } from '../../parts/title.ts';
import { navigate, pathTo, query, withQuery } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import { useNodeNames } from '../graph/node-names.ts';
import { Analysis } from './analysis.tsx';
import { Compared } from './compare.tsx';
import { Conversation } from './conversation.tsx';
import { Altered, isOver, type Run, type RunRow, RunStatus, score, took } from './pieces.tsx';
import { RunRecording } from './recording.tsx';
import { Requests, Tone, Variables } from './run-record.tsx';
import { Verdicts } from './verdicts.tsx';
import { Voice } from './voice.tsx';

/** Runs of the scenario to compare with: the newest. */
const offeredRuns = 30;

const words = tests.run;

async function read(id: string, other: string, signal: AbortSignal) {
  const [run, beside] = await Promise.all([
    request('GET /v1/agent-testing/runs/{id}', { path: { id }, signal }),
    other === '' ? null : request('GET /v1/agent-testing/runs/{id}', { path: { id: other }, signal }),
  ]);
  const { runs } = await request('GET /v1/agent-testing/runs', {
    query: { scenario_id: run.scenario_id, limit: offeredRuns },
    signal,
  });
  return { run, beside, others: runs.filter((one) => one.id !== id) };
}

/** Reads a running run again with each line and change. */
function useWhileRunning(run: Run | null | undefined, changed: () => void): void {
  const id = run && !isOver(run.status) ? run.id : null;
  useEffect(() => {
    if (id === null) return;
    return readStream(
      { name: 'GET /v1/agent-testing/runs/{id}/events', path: { id } },
      {
        onBlock: ({ type }) => {
          if (type === 'turn' || type === 'state' || type === 'end') changed();
          return type === 'end' ? 'over' : undefined;
        },
        onLost: () => undefined,
      },
    );
  }, [id]);
}

export function RunScreen({ id }: { id: string }) {
  const other = query.value.get('with') ?? '';
  const loaded = useLoaded(
    `run ${id} ${other}`,
    (signal) => read(id, other, signal),
    ({ run, beside }) => (isOver(run.status) && isOver(beside?.status ?? run.status) ? seldom : usual),
  );
  const { data } = loaded;
  useWhileRunning(data?.run, loaded.changed);
  useWhileRunning(data?.beside, loaded.changed);
  const nodeName = useNodeNames(data?.run);
  useTitle(data ? words.title(data.run.scenario.name) : tests.runs.title);
  if (!data) return <NotRead title={tests.runs.title} of={loaded} />;
  const { run, beside } = data;
  return (
    <Screen
      title={
        <>
          {words.title(run.scenario.name)} <RunStatus status={run.status} /> <Altered run={run} />
        </>
      }
      actions={mayChange.value && <Actions run={run} reload={loaded.reload} />}
    >
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      {run.error_message !== null && <p class="note bad">{run.error_message}</p>}
      {run.reasoning !== null && <p class="why">{run.reasoning}</p>}
      <RunFacts run={run} />
      {run.status === 'FAILED' && <Analysis key={run.id} id={run.id} />}
      <OtherRuns run={run} others={data.others} chosen={other} />
      {beside ? (
        <Compared left={run} right={beside} />
      ) : (
        <div class="columns">
          <section aria-labelledby="conversation-title">
            <h2 id="conversation-title">{words.conversation}</h2>
            <Conversation run={run} side="only" nodeName={nodeName} />
          </section>
          <section aria-labelledby="verdicts-title">
            <h2 id="verdicts-title">{words.verdicts}</h2>
            <Verdicts run={run} side="only" />
          </section>
        </div>
      )}
      {run.voice && run.trigger_source !== 'load' && <RunRecording run={run} />}
      {run.voice && <Voice voice={run.voice} />}
      <Tone run={run} />
      <Variables run={run} />
      <Requests run={run} nodeName={nodeName} />
    </Screen>
  );
}

/** Nothing for a run that asked no model. */
function usageRows({ usage }: Run): [string, ComponentChildren][] {
  if (usage === null || (usage.models.length === 0 && usage.unknown.length === 0)) return [];
  const { cost, currency, input_tokens, output_tokens, unknown } = usage;
  const why = unknown.join(' ');
  return [
    [
      words.facts.tokens,
      <span key="tokens" title={why}>
        {words.tokens(input_tokens, output_tokens)}
      </span>,
    ],
    [
      words.facts.cost,
      cost === null ? (
        <span key="cost" title={why}>
          –
        </span>
      ) : (
        `${cost} ${currency ?? ''}`
      ),
    ],
  ];
}

function RunFacts({ run }: { run: Run }) {
  const { facts } = words;
  const by = ({ provider, model }: Run['evaluator']['caller']) =>
    provider === 'embedded' ? model : `${provider} ${model}`;
  return (
    <Facts
      rows={[
        [
          facts.scenario,
          <a key="scenario" href={pathTo('test', run.scenario_id)}>
            {run.scenario.name}
          </a>,
        ],
        [facts.version, tests.version(run.version_number)],
        [
          facts.score,
          <span key="score" title={words.scoreMeans}>
            {score(run.overall_score)}
          </span>,
        ],
        [facts.turns, run.turn_count],
        [facts.took, took(run.duration_ms)],
        [facts.seed, String(run.seed)],
        [facts.caller, by(run.evaluator.caller)],
        [facts.agent, by(run.evaluator.agent)],
        [facts.judge, by(run.evaluator.judge)],
        ...usageRows(run),
        [facts.at, <Time key="at" at={run.started_at ?? run.created_at} />],
        ...(run.simulation_set_id === null
          ? []
          : [
              [
                facts.group,
                <a key="set" href={pathTo('set', run.simulation_set_id)}>
                  {words.set}
                </a>,
              ] as const,
            ]),
      ]}
    />
  );
}

function Actions({ run, reload }: { run: Run; reload: () => void }) {
  const again = async () => {
    const { run_id } = await request('POST /v1/agent-testing/scenarios/{id}/run', {
      path: { id: run.scenario_id },
      body: { version_number: run.version_number, seed: run.seed },
    });
    navigate(pathTo('run', run_id));
  };
  const cancel = async () => {
    await request('POST /v1/agent-testing/runs/{id}/cancel', { path: { id: run.id } });
    reload();
  };
  if (!isOver(run.status)) return <AskedButton words={words.cancel} name={run.scenario.name} run={cancel} />;
  // With other data, or as a variant, it would be another run.
  return run.transport === 'text' && run.as_is ? <ActButton run={again}>{words.again}</ActButton> : null;
}

function OtherRuns({ run, others, chosen }: { run: Run; others: readonly RunRow[]; chosen: string }) {
  if (others.length === 0) return null;
  const { compare } = words;
  return (
    <div class="filters">
      <label>
        {compare.label}
        <select
          value={chosen}
          onChange={({ currentTarget: { value } }) =>
            navigate(withQuery(pathTo('run', run.id), { with: value }), { replace: true })
          }
        >
          <option value="">{compare.none}</option>
          {others.map((one) => (
            <option key={one.id} value={one.id}>
              {compare.option(
                tests.statuses[one.status],
                shortTime(one.created_at),
                score(one.overall_score),
              )}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
