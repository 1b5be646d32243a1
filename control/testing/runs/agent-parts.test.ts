import { expect, it } from 'vitest';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { bookingGraph, bookingPersona, TestingClient } from '../../../test/kit/control/test-runs.ts';

const test = emptiedForEach(startControl);

it('a run decides what must not happen by names that the agent or the organization has', async () => {
  const settings = {
    integration: 'rest_api',
    action: 'request',
    body: { method: 'GET', url: 'https://a.example/' },
  };
  const tool = { name: 'refund', description: 'Pays back', ...settings };
  expect((await test.call('POST', '/v2/tools', { body: tool })).status).toBe(200);
  const forbidden = [
    ['NODE_REACHED', { node_id: 'sorry' }, 'PASSED'],
    ['NODE_REACHED', { node_id: 'sory' }, 'INCONCLUSIVE'],
    ['TOOL_CALLED', { name: 'refund' }, 'PASSED'],
    ['TOOL_CALLED', { name: 'refnud' }, 'INCONCLUSIVE'],
    ['VARIABLE_EXTRACTED', { variable_name: 'card' }, 'PASSED'],
    ['VARIABLE_EXTRACTED', { variable_name: 'patient' }, 'INCONCLUSIVE'],
  ] as const;
  const assertions = forbidden.map(([type, config]) => ({ type, config: { ...config, not: true } }));
  const client = new TestingClient(test);
  const pathway_id = await client.pathway(bookingGraph);
  const asked = { pathway_id, tester_persona_prompt: bookingPersona, assertions, request_data: { card: '' } };
  const run = await client.run(await client.scenario(asked));
  expect(run.assertion_results?.map(({ status }) => status)).toEqual(forbidden.map(([, , status]) => status));
});

it('a run whose mock names a node that is not there ends with an error that says so', async () => {
  const client = new TestingClient(test);
  const pathway_id = await client.pathway(bookingGraph);
  const metadata = { mocks: [{ node_id: 'bok', status: 503 }] };
  const scenario = await client.scenario({ pathway_id, tester_persona_prompt: bookingPersona, metadata });
  expect(await client.run(scenario)).toMatchObject({
    status: 'ERROR',
    error_message: 'The scenario mocks a node that is not there: bok.',
  });
});
