/** Agent tests: scenarios, and the verdicts of their runs. */
import { Type } from 'typebox';
import { closed, id, optionalId, skipped } from '../inputs.ts';
import { tool } from '../tool.ts';

/** Lines of a conversation that fit into an answer. */
const mostLines = 100;

const listScenarios = tool(
  {
    name: 'list_scenarios',
    description: 'Test scenarios of a pathway or persona, with the status of the last run of each.',
    input: Type.Object(
      {
        ...skipped(50, 20),
        pathway_id: optionalId('Scenarios of this pathway'),
        persona_id: optionalId('Scenarios of this persona'),
      },
      closed,
    ),
  },
  async (client, { limit = 20, offset = 0, ...subject }, signal) => {
    const query = { limit, offset, ...subject };
    const { scenarios } = await client.request('GET /v1/agent-testing/scenarios', { query }, { signal });
    return {
      scenarios: scenarios.map((scenario) => ({
        id: scenario.id,
        name: scenario.name,
        category: scenario.category,
        enabled: scenario.enabled,
        is_required_for_promotion: scenario.is_required_for_promotion,
        most_recent_run: scenario.most_recent_run,
      })),
      next_offset: scenarios.length < limit ? null : offset + limit,
    };
  },
);

const getTestRun = tool(
  {
    name: 'get_test_run',
    description: 'One run of a scenario: verdict of each assertion with its evidence, and the conversation.',
    input: Type.Object({ run_id: id('Id of the run') }, closed),
  },
  async (client, { run_id }, signal) => {
    const run = await client.tests.getRun(run_id, { signal });
    return {
      id: run.id,
      scenario: run.scenario,
      status: run.status,
      overall_score: run.overall_score,
      reasoning: run.reasoning,
      error_message: run.error_message,
      version_number: run.version_number,
      as_is: run.as_is,
      nodes_visited: run.nodes_visited,
      assertion_results: run.assertion_results,
      conversation: run.chat_history.slice(0, mostLines),
      conversation_lines: run.chat_history.length,
    };
  },
);

const getTestBatch = tool(
  {
    name: 'get_test_batch',
    description:
      'A batch of runs: its status, and of each run the status, the score and the failed assertions.',
    input: Type.Object({ batch_id: id('Id of the batch') }, closed),
  },
  async (client, { batch_id }, signal) => {
    const { data: _, errors: __, runs, ...batch } = await client.tests.getBatch(batch_id, { signal });
    return {
      ...batch,
      runs: runs.map((run) => ({
        id: run.id,
        scenario: run.scenario,
        status: run.status,
        overall_score: run.overall_score,
        failed: run.assertion_results
          .filter(({ passed }) => !passed)
          .map(({ name, reasoning, type }) => ({ type, name, reasoning })),
      })),
    };
  },
);

const getSimulationSet = tool(
  {
    name: 'get_simulation_set',
    description:
      'Scenarios run many times: pass rate with its interval, flakiness and common failures of each.',
    input: Type.Object({ set_id: id('Id of the simulation set') }, closed),
  },
  async (client, { set_id }, signal) => {
    const { data } = await client.request(
      'GET /v1/agent-testing/simulation-sets/{id}',
      { path: { id: set_id } },
      { signal },
    );
    return data;
  },
);

const runScenarios = tool(
  {
    name: 'run_scenarios',
    description:
      'Starts a batch of test runs, which use models and cost money. Read the result with get_test_batch after a while.',
    writes: true,
    input: Type.Object(
      {
        scenario_ids: Type.Array(id('Id of a scenario'), { minItems: 1, maxItems: 50 }),
        version_number: Type.Optional(
          Type.Integer({ minimum: 0, description: 'Version of the pathway; 0: the live graph' }),
        ),
      },
      closed,
    ),
  },
  async (client, order, signal) => {
    const { batch_id, runs } = await client.tests.runBatch(order, { signal });
    return { batch_id, runs };
  },
);

export const testTools = [listScenarios, getTestRun, getTestBatch, getSimulationSet, runScenarios];
