import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookResult } from '#shared/agent/conversation.ts';
import { TemplateCloned } from '#shared/api/agent-testing/templates.ts';
import { AuditPage } from '#shared/api/audit.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { bookingGraph } from '../../../test/kit/control/test-runs.ts';
import { TornadoClient } from '../../../test/kit/control/tornado.ts';

const test = emptiedForEach(() => startControl({}, {}, { webhook: () => answered.promise }));
let client: TornadoClient;
let pathway_id: string;

/** A request that is answered after the test. */
const held = { url: 'https://crm.example.com/caller', method: 'GET' };
let answered: PromiseWithResolvers<WebhookResult>;

beforeEach(async () => {
  answered = Promise.withResolvers();
  client = new TornadoClient(test);
  pathway_id = await client.pathway(bookingGraph);
});
afterEach(async () => {
  answered.resolve({ status: 200, body: {}, error: null });
});

/** Newest first: action, subject, fields. */
async function entries(): Promise<[string, string, string][]> {
  const answer = await test.call('GET', '/v1/org/audit?area=agent_testing');
  expect(answer.status).toBe(200);
  const found = answer.read(AuditPage).data.entries;
  for (const { actor } of found) expect(actor).toEqual({ kind: 'api_key', key: test.key.slice(0, 9) });
  return found.map(({ action, subject_id, changed_fields }) => [action, subject_id, changed_fields.join()]);
}

const scenario = async (more: object = {}) => {
  const id = await client.scenario({ pathway_id, ...more });
  test.clock.advance(1000);
  return id;
};

describe('the audit log', () => {
  it("has scenarios as they are created, changed and deleted, including the gate's fields", async () => {
    const made = await scenario();
    const cloned = await client.call('POST', '/templates/tmpl_happy_path/clone', { pathway_id });
    const copy = cloned.read(TemplateCloned).scenario.id;
    test.clock.advance(1000);
    await client.call('PUT', `/scenarios/${made}`, { is_required_for_promotion: true, enabled: true });
    test.clock.advance(1000);
    await client.call('PUT', `/scenarios/${made}`, { enabled: false, assertions: [] });
    test.clock.advance(1000);
    await client.call('DELETE', `/scenarios/${made}`);
    expect(await entries()).toEqual([
      ['scenario_delete', made, ''],
      ['scenario_update', made, 'assertions,enabled'],
      ['scenario_update', made, 'is_required_for_promotion'],
      ['scenario_create', copy, ''],
      ['scenario_create', made, ''],
    ]);
  });

  it('has the starts of simulation sets', async () => {
    const id = await scenario();
    const body = { scenario_ids: [id], simulations_per_scenario: 1 };
    const { body: started } = await client.call('POST', '/simulation-sets', body);
    expect((await entries())[0]).toEqual(['simulation_set_start', String(started.simulation_set_id), '']);
  });

  it('has tornado sessions as they are started and canceled, but not ended ones', async () => {
    const node = { id: 'lookup', type: 'Webhook', data: { name: 'Lookup', isStart: true, ...held } };
    const pathway = await client.pathway({ nodes: [node], edges: [] });
    await client.scenario({ pathway_id: pathway });
    const id = await client.tornado(pathway);
    test.clock.advance(1000);
    expect((await client.call('POST', `/tornado/${id}/cancel`)).status).toBe(200);
    expect((await client.call('POST', `/tornado/${id}/cancel`)).codes).toEqual(['TORNADO_NOT_ACTIVE']);
    expect((await entries()).filter(([action]) => action.startsWith('tornado'))).toEqual([
      ['tornado_cancel', id, ''],
      ['tornado_start', id, ''],
    ]);
  });

  it('has no rejected changes', async () => {
    const made = await scenario({ name: 'One' });
    await scenario({ name: 'Two' });
    await client.call('PUT', `/scenarios/${made}`, { name: 'Two' });
    await client.call('POST', '/scenarios', { pathway_id, name: 'One' });
    await client.call('POST', '/simulation-sets', {
      scenario_ids: [made],
      simulations_per_scenario: 100,
      pathway_id: made,
    });
    await client.call('POST', '/tornado/start', { pathway_id, scenario_ids: [made, pathway_id] });
    expect((await entries()).map(([action]) => action)).toEqual(['scenario_create', 'scenario_create']);
  });
});
