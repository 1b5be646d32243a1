/** A version of a pathway that tests name is deleted only when they have ended. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { WebhookResult } from '#shared/agent/conversation.ts';
import { replay } from '../../../test/kit/control/dental.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TornadoClient } from '../../../test/kit/control/tornado.ts';

const test = emptiedForEach(() => startControl({}, {}, { webhook: () => held.promise }));
let client: TornadoClient;
let pathway: string;
let scenario: string;
/** What a held run waits for. */
let held: PromiseWithResolvers<WebhookResult>;

beforeEach(async () => {
  held = Promise.withResolvers();
  client = new TornadoClient(test);
  pathway = await client.pathway({
    nodes: [
      {
        id: 'lookup',
        type: 'Webhook',
        data: { name: 'Lookup', isStart: true, method: 'GET', url: 'https://crm.example.com/caller' },
      },
      { id: 'hello', type: 'End Call', data: { name: 'Hello', text: 'Hello.' } },
    ],
    edges: [{ source: 'lookup', target: 'hello', data: { label: 'success' } }],
  });
  const caller = replay('Says hello', ['Hello'], [{ type: 'NODE_REACHED', config: { node_id: 'hello' } }]);
  scenario = await client.scenario({ pathway_id: pathway, ...caller });
});
afterEach(async () => {
  held.resolve({ status: 200, body: {}, error: null });
});

const remove = () => test.call('DELETE', `/v1/pathway/${pathway}/version/1`);
const post = async (path: string, body: object) => {
  const answer = await client.call('POST', path, body);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};

it.each([
  [
    'a run',
    'run_ids',
    async () => {
      const id = await client.start(scenario, { version_number: 1 });
      return { id, cancel: () => post(`/runs/${id}/cancel`, {}) };
    },
  ],
  [
    'a batch',
    'batch_ids',
    async () => {
      const id = String(
        (await post('/batch-run', { scenario_ids: [scenario], version_number: 1 })).data?.batch_id,
      );
      return { id, cancel: () => post(`/batches/${id}/cancel`, {}) };
    },
  ],
  [
    'a simulation set',
    'simulation_set_ids',
    async () => {
      const body = {
        pathway_id: pathway,
        scenario_ids: [scenario],
        simulations_per_scenario: 2,
        version_number: 1,
      };
      const { data } = await post('/simulation-sets', body);
      const id = String(data?.simulation_set_id ?? data?.id);
      return { id, cancel: () => post(`/simulation-sets/${id}/cancel`, {}) };
    },
  ],
  [
    'a tornado session',
    'tornado_session_ids',
    async () => {
      const id = await client.tornado(pathway, { version_number: 1 });
      return { id, cancel: () => post(`/tornado/${id}/cancel`, {}) };
    },
  ],
] as const)('%s that has not ended', async (_, name, begin) => {
  const { cancel, id } = await begin();
  const refused = await remove();
  expect([refused.status, refused.codes]).toEqual([409, ['VERSION_IN_PRODUCTION']]);
  const none = { run_ids: [], batch_ids: [], simulation_set_ids: [], tornado_session_ids: [] };
  const details = expect.objectContaining({ ...none, [name]: [id] });
  const withRuns = expect.objectContaining({ [name]: [id] });
  expect(refused.body.errors).toMatchObject([
    { details: name === 'tornado_session_ids' ? withRuns : details },
  ]);
  await cancel();
  expect((await remove()).status).toBe(200);
});
