/** One scenario: the caller, what must come of the call, and its runs. */
import { request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { valueText } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Empty, Facts, NotRead, ProblemNote, Screen, Time } from '../../parts/pieces.tsx';
import { testRuns, usual } from '../../parts/renewal.ts';
import { Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { TalkButton } from '../../phone/talk-button.tsx';
import { tests } from '../../text/tests.ts';
import { useNodeNames } from '../graph/node-names.ts';
import { agentNames, agentOf, type RunRow, runColumns, type Scenario } from './pieces.tsx';
import { StartRun } from './start-run.tsx';

/** Runs that are shown: the newest. */
const shownRuns = 20;

const words = tests.scenario;

async function read(id: string, signal: AbortSignal) {
  const [scenario, names, { runs }] = await Promise.all([
    request('GET /v1/agent-testing/scenarios/{id}', { path: { id }, signal }),
    agentNames(signal),
    request('GET /v1/agent-testing/runs', { query: { scenario_id: id, limit: shownRuns }, signal }),
  ]);
  const versions =
    scenario.pathway_id === null
      ? []
      : await request('GET /v1/pathway/{id}/versions', { path: { id: scenario.pathway_id }, signal });
  return { scenario, names, runs, versions };
}

export function ScenarioScreen({ id }: { id: string }) {
  const loaded = useLoaded(`scenario ${id}`, (signal) => read(id, signal), { ...testRuns, ...usual });
  const { data } = loaded;
  useTitle(data?.scenario.name ?? words.title);
  if (!data) return <NotRead title={words.title} of={loaded} />;
  const { scenario } = data;
  return (
    <Screen
      title={
        <>
          {scenario.name}{' '}
          {scenario.is_required_for_promotion && <Badge tone="live">{tests.scenarios.required}</Badge>}
        </>
      }
      actions={<Talk scenario={scenario} name={agentOf(scenario, data.names)} />}
    >
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      {scenario.description && <p>{scenario.description}</p>}
      <ScenarioFacts scenario={scenario} agent={agentOf(scenario, data.names)} />
      {mayChange.value && <StartRun scenario={scenario} versions={data.versions} />}
      <section aria-labelledby="runs-title">
        <h2 id="runs-title">{words.runs}</h2>
        {data.runs.length === 0 ? (
          <Empty title={words.noRuns}>{words.noRunsNext}</Empty>
        ) : (
          <Table name={words.runs} rows={data.runs} columns={runColumns} keyOf={(run: RunRow) => run.id} />
        )}
      </section>
      <div class="columns">
        <Caller scenario={scenario} />
        <Assertions scenario={scenario} />
      </div>
    </Screen>
  );
}

function Talk({ scenario: { pathway_id, persona_id }, name }: { scenario: Scenario; name: string }) {
  if (pathway_id !== null) return <TalkButton name={name} session={{ pathway_id }} />;
  return persona_id === null ? null : <TalkButton name={name} session={{ persona_id }} />;
}

function ScenarioFacts({ scenario, agent }: { scenario: Scenario; agent: string }) {
  const nodeName = useNodeNames(
    scenario.start_node_id === null ? null : { pathway_id: scenario.pathway_id, version_number: 0 },
  );
  const { facts } = words;
  return (
    <Facts
      rows={[
        [facts.agent, agent],
        [facts.category, <code key="category">{scenario.category}</code>],
        [facts.type, words.types[scenario.scenario_type]],
        [facts.turns, scenario.max_turns],
        [facts.gate, scenario.is_required_for_promotion ? words.yes : words.no],
        [facts.tone, scenario.service_tone_enabled ? words.yes : words.no],
        ...(scenario.start_node_id === null
          ? []
          : [[facts.start, nodeName(scenario.start_node_id)] as const]),
        [facts.changed, <Time key="changed" at={scenario.updated_at} />],
      ]}
    />
  );
}

function Caller({ scenario }: { scenario: Scenario }) {
  const lines = scenario.input_messages ?? [];
  return (
    <section aria-labelledby="caller-title">
      <h2 id="caller-title">{words.caller}</h2>
      {scenario.scenario_type === 'AGENT' && (
        <p class="prose">{scenario.tester_persona_prompt ?? words.noCaller}</p>
      )}
      {lines.length > 0 && (
        <ol class="lines">
          {lines.map((line, index) => (
            <li key={index} class={line.role}>
              <span class="who">{tests.run.who[line.role]}</span>
              <span class="said">{line.content}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Assertions({ scenario }: { scenario: Scenario }) {
  const { head } = words;
  return (
    <section aria-labelledby="assertions-title">
      <h2 id="assertions-title">{words.assertions}</h2>
      {scenario.assertions.length === 0 ? (
        <p class="note warn">{words.noAssertions}</p>
      ) : (
        <ul class="verdicts">
          {scenario.assertions.map((one) => (
            <li key={one.id}>
              <p class="row">
                <strong>{one.name ?? one.type}</strong> <code class="quiet">{one.type}</code>
                {one.is_required && <Badge tone="live">{head.required}</Badge>}
                <small class="quiet">{tests.run.weight(one.weight)}</small>
              </p>
              <dl class="config">
                {Object.entries(one.config).map(([name, value]) => (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{valueText(value)}</dd>
                  </div>
                ))}
              </dl>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
