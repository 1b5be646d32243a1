/** The numbers that a persona answers, and what the edges get for them. */
import { describe, expect, it } from 'vitest';
import { connectEdge } from '../../test/kit/control/edge-client.ts';
import { personaNumber as number, personaRequests } from '../../test/kit/control/personas.ts';
import { numbersOfEachTest, routesOfFile } from '../../test/kit/control/routes-of-file.ts';

const test = routesOfFile();
numbersOfEachTest(test);

const unknown = '00000000-0000-4000-8000-000000000000';
const { create, createId, read, patch, promote, attach, holdNumbers, createPathway, numberOf } =
  personaRequests(() => test);

describe('the numbers of a persona', () => {
  it('are attached and detached, all or none', async () => {
    await holdNumbers(number, '+14155550101');
    await test.call('POST', '/v1/inbound/14155550100', { body: { prompt: 'Hi', label: 'Desk' } });
    const id = await createId();
    const refused = await attach(id, [number, '+14155550199', '14155550198']);
    expect([refused.status, refused.codes]).toEqual([400, ['INVALID_INBOUND_NUMBERS']]);
    expect(refused.body.errors).toMatchObject([
      { details: { phone_numbers: ['+14155550199', '+14155550198'] } },
    ]);
    expect((await numberOf()).persona_id).toBe(null);
    const { body } = await attach(id, ['14155550100', number, '+14155550101']);
    expect(body.data?.inbound_numbers).toEqual([
      { phone_number: number, label: 'Desk', persona_id: id },
      { phone_number: '+14155550101', label: null, persona_id: id },
    ]);
    expect(await numberOf()).toMatchObject({ persona_id: id, prompt: null });
    const other = await createId();
    await attach(other, [number], 'detach');
    expect((await numberOf()).persona_id).toBe(id);
    expect((await attach(id, [number], 'detach')).body.data?.inbound_numbers).toMatchObject([
      { phone_number: '+14155550101' },
    ]);
    expect((await attach(id, ['+14155550199'], 'detach')).codes).toEqual(['INVALID_INBOUND_NUMBERS']);
  });

  it.each([[[]], ['+14155550100'], [Array(101).fill('+14155550100')], [['abc']], [[5]]])(
    'are rejected as %j',
    async (inbound_numbers) => {
      expect((await attach(await createId(), inbound_numbers)).codes[0]).toBe('INVALID_PARAMETER');
    },
  );

  it('are not found when another organization holds them', async () => {
    await test.call('POST', '/v1/sip/attach', {
      body: { phone_number: number, directions: ['inbound'] },
      key: test.foreignKey,
    });
    expect((await attach(await createId(), [number])).codes).toEqual(['INVALID_INBOUND_NUMBERS']);
  });

  it('may be set by the number’s own settings, which null its other agent', async () => {
    await holdNumbers(number);
    const pathway_id = await createPathway();
    const update = (body: object) => test.call('POST', '/v1/inbound/14155550100', { body });
    await update({ pathway_id });
    const persona_id = await createId();
    expect((await update({ persona_id })).body.updates).toMatchObject({ persona_id, pathway_id: null });
    expect(await numberOf()).toMatchObject({ persona_id, pathway_id: null });
    await update({ pathway_id });
    expect(await numberOf()).toMatchObject({ persona_id: null, pathway_id });
    const foreign = await create({ name: 'x' }, { key: test.foreignKey });
    for (const id of [unknown, foreign.body.data?.id]) {
      expect((await update({ persona_id: id })).codes).toEqual(['PERSONA_NOT_FOUND']);
    }
    expect((await update({ persona_id, pathway_id })).codes).toEqual(['AGENT_SOURCE_CONFLICT']);
  });
});

describe("an edge's configuration of a number with a persona", () => {
  it('has its production version, overridden by the number’s own settings', async () => {
    await holdNumbers(number);
    const pathway_id = await createPathway();
    const id = await createId({
      name: 'Ann',
      role: 'Host',
      orchestration_prompt: 'Book.',
      personality_prompt: 'Calm.',
      call_config: { voice: 'kal', language: 'de-DE', max_duration: 5, interruption_threshold: 90 },
      pathway_conditions: [{ name: 'Menu', prompt: 'When asked', pathway_id }],
    });
    await attach(id, [number]);
    await test.call('POST', '/v1/inbound/14155550100', {
      body: { language: 'fr-FR', first_sentence: 'Oui' },
    });
    const edge = await connectEdge(test);
    const { config } = await edge.next('config');
    expect(config.numbers[0]?.agent).toMatchObject({
      kind: 'persona',
      persona_id: id,
      persona_version: 1,
      name: 'Ann',
      role: 'Host',
      orchestration_prompt: 'Book.',
      personality_prompt: 'Calm.',
      pathway_conditions: [
        { name: 'Menu', prompt: 'When asked', pathway_id, pathway_version: 0, start_node_id: null },
      ],
      voice: 'kal',
      language: 'fr-FR',
      max_duration: 5,
      interruption_threshold: 90,
      wait_for_greeting: false,
      first_sentence: 'Oui',
    });
    await patch(id, { personality_prompt: 'Loud.' });
    await promote(id);
    expect((await edge.next('change')).change.numbers).toMatchObject([
      { agent: { personality_prompt: 'Loud.', persona_version: 2 } },
    ]);
    const nodes = [{ id: 'a', type: 'End Call', data: { isStart: true, text: 'Bye' } }];
    await test.call('POST', `/v1/pathway/${pathway_id}/version`, { body: { name: 'v', nodes, edges: [] } });
    await test.call('POST', `/v1/pathway/${pathway_id}/publish`, { body: { version_id: 1 } });
    const { change } = await edge.next('change');
    expect(change.numbers).toMatchObject([{ agent: { pathway_conditions: [{ pathway_version: 1 }] } }]);
    expect(change.pathways).toMatchObject([{ pathway_id, version: 1 }]);
    await edge.kill();
  });
});

describe('the tools of a persona', () => {
  const tool = { description: 'Says the time', integration: 'rest_api', action: 'request' };

  it('reach the edges, after those of the number', async () => {
    await holdNumbers(number);
    const created: unknown[] = [];
    for (const name of ['clock', 'calendar']) {
      const answer = await test.call('POST', '/v2/tools', {
        body: { name, ...tool, body: { url: 'https://a.example.com/', method: 'GET' } },
      });
      created.push(answer.body.data?.id);
    }
    const [clock, calendar] = created.map(String);
    const id = await createId({ name: 'Ann', default_tools: [clock?.replace('TL-', '')] });
    expect((await read(id)).current_production_version?.default_tools).toEqual([clock]);
    await attach(id, [number]);
    await test.call('POST', '/v1/inbound/14155550100', { body: { tools: [calendar] } });
    const { numbers } = await test.control.services.edgeConfig.snapshot();
    expect(numbers[0]?.agent?.tools).toMatchObject([
      { tool_id: calendar, name: 'calendar' },
      { tool_id: clock, name: 'clock' },
    ]);
  });
});
