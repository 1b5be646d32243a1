/** What all screens about tests share. */
import type { Answer } from '../../api/client.ts';
import { request } from '../../api/client.ts';
import { duration, figure } from '../../parts/format.ts';
import { Badge, Time, type Tone } from '../../parts/pieces.tsx';
import type { Column } from '../../parts/table.tsx';
import { pathTo } from '../../router.ts';
import { tests } from '../../text/tests.ts';

export type RunRow = Answer<'GET /v1/agent-testing/runs'>['runs'][number];
export type Scenario = Answer<'GET /v1/agent-testing/scenarios/{id}'>;
export type Run = Answer<'GET /v1/agent-testing/runs/{id}'>;
export type Verdict = Run['assertion_results'][number];

type Status = RunRow['status'];

const tones: Readonly<Record<Status, Tone>> = {
  PENDING: 'quiet',
  RUNNING: 'live',
  PASSED: 'good',
  FAILED: 'bad',
  ERROR: 'warn',
  CANCELLED: 'quiet',
};

export function RunStatus({ status }: { status: Status }) {
  return <Badge tone={tones[status]}>{tests.statuses[status]}</Badge>;
}

export function isOver(status: Status): boolean {
  return status !== 'PENDING' && status !== 'RUNNING';
}

export function score(value: number | null): string {
  return figure(value, 2);
}

/** Of a run that no rate counts, why. */
export function Altered({ run }: { run: Pick<RunRow, 'as_is'> }) {
  if (run.as_is) return null;
  return (
    <span title={tests.run.alteredMeans}>
      <Badge tone="quiet">{tests.run.altered}</Badge>
    </span>
  );
}

/** `34 ms`, `2.3 s`, and from a minute on as a clock. */
export function took(ms: number | null): string {
  if (ms === null || ms < 1000) return figure(ms, 0, 'ms');
  return ms < 60_000 ? figure(ms / 1000, 1, 's') : duration(ms / 1000);
}

/** What can be tested, by id, with its name. */
export interface AgentNames {
  readonly pathways: ReadonlyMap<string, string>;
  /** Agents of others, reached over HTTP. */
  readonly foreign: ReadonlyMap<string, string>;
}

export async function agentNames(signal: AbortSignal): Promise<AgentNames> {
  const [pathways, { agents }] = await Promise.all([
    request('GET /v1/pathway', { query: { graphs: false, limit: 500 }, signal }),
    request('GET /v1/agent-testing/agents', { query: { limit: 100 }, signal }),
  ]);
  return {
    pathways: new Map(pathways.map((one) => [one.pathway_id, one.name])),
    foreign: new Map(agents.map(({ id, name }) => [id, name])),
  };
}

export function agentOf(
  { agent_id, pathway_id }: Pick<Scenario, 'agent_id' | 'pathway_id'>,
  { foreign, pathways }: AgentNames,
): string {
  if (agent_id !== null) return foreign.get(agent_id) ?? agent_id.slice(0, 8);
  if (pathway_id === null) return tests.scenarios.persona;
  return pathways.get(pathway_id) ?? pathway_id.slice(0, 8);
}

const { head } = tests.runs;

export const runColumns: readonly Column<RunRow>[] = [
  { head: head.status, cell: ({ status }) => <RunStatus status={status} /> },
  {
    head: head.scenario,
    cell: (run) => (
      <>
        <a class="row-link" href={pathTo('run', run.id)}>
          {run.scenario.name}
        </a>{' '}
        <Altered run={run} />
      </>
    ),
    grows: true,
  },
  { head: head.score, cell: (run) => score(run.overall_score), numeric: true },
  { head: head.turns, cell: (run) => run.turn_count, numeric: true, from: 'medium' },
  { head: head.took, cell: (run) => took(run.duration_ms), numeric: true, from: 'medium' },
  { head: head.at, cell: (run) => <Time at={run.created_at} />, from: 'medium' },
  {
    head: head.failed,
    cell: ({ assertion_results }) => {
      const failed = assertion_results.find((one) => !one.passed);
      return failed ? (failed.name ?? failed.type) : '';
    },
    from: 'wide',
    grows: true,
  },
];
