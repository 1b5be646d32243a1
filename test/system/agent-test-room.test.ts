/** Test runs over a call on an edge that has room for one of them: the others wait, and all have a result. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { InboundNumber } from '#shared/api/inbound.ts';
import { AgentTestRuns } from '../kit/programs/agent-test-runs.ts';
import { TestSystem } from '../kit/programs/harness.ts';

const demoNumber = '+14155550100';

let system: TestSystem;
beforeAll(async () => {
  // Each run takes two calls.
  system = await TestSystem.start({ SIP_PUBLIC_HOST: '', MAX_CALLS: '3' });
});
afterAll(() => system?.stop());

test('runs for which an edge has no room wait for those before them', async () => {
  const runs = new AgentTestRuns(system);
  const path = `/v1/inbound/${encodeURIComponent(demoNumber)}`;
  const { pathway_id } = await system.api.read(InboundNumber, 'GET', path);
  const scenario = await runs.scenario({
    pathway_id,
    name: 'Sales by key',
    tester_persona_prompt: 'You want to talk to sales.',
    assertions: [{ type: 'STRING_CHECK', config: { value: 'You have reached sales' } }],
  });
  const started = await Promise.all([1, 2, 3].map(() => runs.start(scenario, demoNumber)));
  const ended = await Promise.all(started.map((id) => runs.ended(id)));
  expect(ended.map(({ status, error_message }) => [status, error_message])).toEqual(
    Array.from({ length: 3 }, () => ['PASSED', null]),
  );
});
