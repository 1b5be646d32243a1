import { beforeEach, describe, expect, it } from 'vitest';
import { PersonaAnswer } from '#shared/api/personas.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { bookingGraph, TestingClient } from '../../../test/kit/control/test-runs.ts';

const number = '+14155550100';
const testable = { status: 503, code: 'SERVICE_UNAVAILABLE', reason: undefined };

const test = emptiedForEach(startControl);
let client: TestingClient;
let pathway_id: string;

beforeEach(async () => {
  client = new TestingClient(test);
  pathway_id = await client.pathway(bookingGraph);
  await attach('inbound');
  await answeredBy({ pathway_id });
});

async function attach(direction: 'inbound' | 'outbound', to = number): Promise<void> {
  const type = direction === 'inbound' ? direction : { type: direction, sip_endpoint: 'a.example' };
  const body = { phone_number: to, directions: [type] };
  expect((await test.call('POST', '/v1/sip/attach', { body })).status).toBe(200);
}

async function answeredBy(agent: object): Promise<void> {
  expect((await test.call('POST', `/v1/inbound/${number}`, { body: agent })).status).toBe(200);
}

const scenario = (more: object = {}) => client.scenario({ pathway_id, ...more });

/** The response to a start over a call. No edge is connected, so a valid number is answered with 503. */
async function started(scenarioId: string, body: object = {}, asked = client) {
  const path = `/scenarios/${scenarioId}/run`;
  const answer = await asked.call('POST', path, { transport: 'sip', phone_number: number, ...body });
  const [error] = answer.errors;
  return { status: answer.status, code: error?.code, reason: error?.details?.reason };
}
const refused = (reason: string) => ({ status: 400, code: 'NUMBER_NOT_TESTABLE', reason });

describe('the number of a run over a call', () => {
  it('may be called when it answers with the tested version', async () => {
    const id = await scenario();
    expect(await started(id)).toEqual(testable);
    expect(await started(id, { version_number: 0 })).toEqual(testable);
    await answeredBy({ pathway_id, pathway_version: 1 });
    expect(await started(id, { version_number: 1 })).toEqual(testable);
  });

  it('is rejected with both versions when it answers with another', async () => {
    const id = await scenario();
    expect(await started(id, { version_number: 1 })).toEqual(
      refused(`${number} is answered by version 0, not 1.`),
    );
    await answeredBy({ pathway_id, pathway_version: 1 });
    expect(await started(id)).toEqual(refused(`${number} is answered by version 1, not 0.`));
  });

  it('follows what is published', async () => {
    const id = await scenario();
    await answeredBy({ pathway_id, pathway_version: 'production' });
    const body = { version_id: 1, environment: 'production' };
    const published = await test.call('POST', `/v1/pathway/${pathway_id}/publish`, { body });
    expect(published.status).toBe(200);
    expect(await started(id)).toEqual(testable);
    expect(await started(id, { version_number: 0 })).toEqual(
      refused(`${number} is answered by version 1, not 0.`),
    );
  });

  it('is rejected when another agent answers it', async () => {
    const other = await client.pathway(bookingGraph);
    expect(await started(await scenario({ pathway_id: other }))).toEqual(
      refused(`${number} is not answered by the tested pathway.`),
    );
    await answeredBy({ pathway_id: '', prompt: 'Be kind.' });
    expect(await started(await scenario())).toEqual(
      refused(`${number} is not answered by the tested pathway.`),
    );
  });

  it('of a persona must answer with its version in production', async () => {
    const made = await test.call('POST', '/v1/personas', {
      body: { name: 'Ada', personality_prompt: 'Be kind.' },
    });
    const persona_id = made.read(PersonaAnswer).data.id;
    const id = await client.scenario({ persona_id });
    expect(await started(id)).toEqual(refused(`${number} is not answered by the tested persona.`));
    await answeredBy({ pathway_id: '', persona_id });
    expect(await started(id)).toEqual(testable);
  });

  it('is rejected when it cannot be called, or is not ours', async () => {
    const id = await scenario();
    const outbound = '+14155550101';
    await attach('outbound', outbound);
    for (const phone_number of [outbound, '+14155550199']) {
      expect(await started(id, { phone_number })).toEqual(
        refused(`${phone_number} is not an inbound number.`),
      );
    }
    const foreign = new TestingClient(test, test.foreignKey);
    const own = await foreign.scenario({ pathway_id: await foreign.pathway(bookingGraph) });
    expect(await started(own, {}, foreign)).toEqual(refused(`${number} is not an inbound number.`));
  });

  it('must be a number', async () => {
    const id = await scenario();
    for (const phone_number of ['nonsense', '1', undefined]) {
      const answer = await started(id, { phone_number });
      expect([answer.status, answer.code]).toEqual([400, 'INVALID_PARAMETER']);
    }
  });
});

describe('a HISTORICAL scenario', () => {
  it('is rejected over a call, because nobody would speak, and runs in text', async () => {
    const id = await scenario({
      scenario_type: 'HISTORICAL',
      input_messages: [{ role: 'user', content: 'Hello' }],
      assertions: [{ type: 'STRING_CHECK', config: { value: 'Hello' } }],
    });
    const answer = await client.call('POST', `/scenarios/${id}/run`, {
      transport: 'sip',
      phone_number: number,
    });
    expect([answer.status, answer.codes]).toEqual([400, ['INVALID_PARAMETER']]);
    expect(JSON.stringify(answer.body.errors)).toContain('/transport');
    expect(await client.run(id)).toMatchObject({ status: 'PASSED', transport: 'text', voice: null });
  });
});
