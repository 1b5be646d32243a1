import { describe, expect, it } from 'vitest';
import { AuditPage } from '#shared/api/audit.ts';
import { PersonaList } from '#shared/api/personas.ts';
import { personaNumber as number, personaRequests } from '../../test/kit/control/personas.ts';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';

const test = routesOfFile();

const unknown = '00000000-0000-4000-8000-000000000000';
const { create, createId, read, patch, promote, attach, holdNumbers, createPathway } = personaRequests(
  () => test,
);

describe('a new persona', () => {
  it('has a production version 1 and a draft 2 with the same content', async () => {
    const pathway_id = await createPathway();
    const content = {
      orchestration_prompt: 'Book a table.',
      personality_prompt: 'Calm.',
      call_config: { voice: 'kal', language: 'de-DE', max_duration: 5, wait_for_greeting: 'true' },
      pathway_conditions: [{ name: 'Menu', prompt: 'When asked', pathway_id, pathway_version: 'staging' }],
    };
    const { status, body } = await create({ name: 'Ann', role: 'Host', tags: ['a', 'b'], ...content });
    expect(status).toBe(200);
    const persona = body.data ?? {};
    const stored = {
      orchestration_prompt: 'Book a table.',
      personality_prompt: 'Calm.',
      call_config: { voice: 'kal', language: 'de-DE', max_duration: 5, wait_for_greeting: true },
      pathway_conditions: [
        {
          name: 'Menu',
          prompt: 'When asked',
          pathway_id,
          pathway_version: 'staging',
          start_node_id: null,
        },
      ],
      default_tools: [],
      persona_id: persona.id,
    };
    expect(persona).toMatchObject({
      name: 'Ann',
      role: 'Host',
      description: null,
      tags: ['a', 'b'],
      deleted_at: null,
      inbound_numbers: [],
      current_production_version: {
        id: persona.current_production_version_id,
        version_type: 'production',
        version_number: 1,
        promoted_from_version_id: null,
        ...stored,
      },
      current_draft_version: {
        id: persona.current_draft_version_id,
        version_type: 'draft',
        version_number: 2,
        promoted_at: null,
        ...stored,
      },
    });
    expect(persona.current_production_version?.content_hash).toEqual(
      persona.current_draft_version?.content_hash,
    );
    expect(await read(String(persona.id))).toEqual(persona);
  });

  it.each([
    {},
    { name: '' },
    { name: null },
    { name: 'x'.repeat(201) },
    { name: 'a', other: 1 },
    { name: 'a', tags: 'b' },
    { name: 'a', tags: Array(21).fill('b') },
    { name: 'a', call_config: { voice: 'a', speed: 1 } },
    { name: 'a', call_config: { max_duration: 0 } },
    { name: 'a', pathway_conditions: [{ name: 'a', prompt: 'b' }] },
    { name: 'a', pathway_conditions: [{ name: 'a', prompt: 'b', pathway_id: 'c' }] },
    { name: 'a', pathway_conditions: [{ name: 'a', prompt: 'b', pathway_id: unknown, pathway_version: 1 }] },
    { name: 'a', default_tools: ['x'] },
  ])('is rejected as %j', async (body) => {
    expect((await create(body)).status).toBe(400);
  });

  it('may reference existing pathways and tools only', async () => {
    const pathway_id = await createPathway();
    const condition = (more: object) => ({
      name: 'a',
      pathway_conditions: [{ name: 'a', prompt: 'b', pathway_id, ...more }],
    });
    const foreign = await test.call('POST', '/v1/pathway/create', {
      body: { name: 'Foreign' },
      key: test.foreignKey,
    });
    for (const id of [unknown, foreign.body.pathway_id]) {
      const answer = await create(condition({ pathway_id: id }));
      expect([answer.status, answer.codes]).toEqual([404, ['PATHWAY_NOT_FOUND']]);
    }
    for (const more of [{ pathway_version: '7' }, { start_node_id: 'nowhere' }]) {
      expect((await create(condition(more))).codes).toEqual(['INVALID_PARAMETER']);
    }
    expect((await create({ name: 'a', default_tools: [`TL-${unknown}`] })).codes).toEqual(['TOOL_NOT_FOUND']);
  });
});

describe('the list', () => {
  it('is newest first, paged, without deleted and foreign ones', async () => {
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      test.clock.advance(1);
      ids.push(await createId({ name }));
    }
    await test.call('DELETE', `/v1/personas/${ids[3]}`);
    const names = async (query = '') => {
      const { data } = (await test.call('GET', `/v1/personas${query}`)).read(PersonaList);
      return data.map(({ name }) => name);
    };
    expect(await names()).toEqual(['c', 'b', 'a']);
    expect(await names('?limit=2')).toEqual(['c', 'b']);
    expect(await names('?limit=2&page=2')).toEqual(['a']);
    expect(await names('?page=9')).toEqual([]);
    expect((await test.call('GET', '/v1/personas', { key: test.foreignKey })).body).toEqual({
      data: [],
      errors: null,
    });
    for (const query of ['?page=0', '?limit=0', '?limit=101', '?page=x']) {
      expect((await test.call('GET', `/v1/personas${query}`)).codes).toEqual(['INVALID_PARAMETER']);
    }
  });
});

describe('PATCH', () => {
  it('changes the draft, and name, role, description and tags at once', async () => {
    const id = await createId({ name: 'Ann', personality_prompt: 'Calm.', tags: ['a'] });
    const before = await read(id);
    test.clock.advance(1000);
    const { body } = await patch(id, { name: 'Bea', tags: null, personality_prompt: 'Loud.' });
    expect(body.data).toMatchObject({
      name: 'Bea',
      tags: [],
      current_production_version: { personality_prompt: 'Calm.' },
      current_draft_version: { personality_prompt: 'Loud.' },
    });
    expect(body.data?.current_draft_version?.content_hash).not.toEqual(
      before.current_draft_version?.content_hash,
    );
    expect(body.data?.updated_at).not.toEqual(before.updated_at);
    const cleared = await patch(id, { personality_prompt: null, call_config: null });
    expect(cleared.body.data?.current_draft_version).toMatchObject({
      personality_prompt: null,
      call_config: {},
    });
  });

  it('without fields changes nothing', async () => {
    const id = await createId();
    const before = await read(id);
    test.clock.advance(1000);
    expect((await patch(id, {})).body.data).toEqual(before);
  });

  it.each([{ name: null }, { name: '' }, { role: 5 }, { id: 'x' }])('is rejected as %j', async (body) => {
    expect((await patch(await createId(), body)).status).toBe(400);
  });

  it('is rejected for unknown pathways and tools', async () => {
    const id = await createId();
    const pathway_conditions = [{ name: 'a', prompt: 'b', pathway_id: unknown }];
    expect((await patch(id, { pathway_conditions })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await patch(id, { default_tools: [unknown] })).codes).toEqual(['TOOL_NOT_FOUND']);
  });
});

describe('promoting', () => {
  it('makes the draft the production version, and creates a new draft from it', async () => {
    const id = await createId({ name: 'Ann', personality_prompt: 'Calm.' });
    await patch(id, { personality_prompt: 'Loud.' });
    const before = await read(id);
    test.clock.advance(1000);
    const { status, body } = await promote(id);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      current_production_version: {
        id: before.current_draft_version_id,
        version_type: 'production',
        version_number: 2,
        personality_prompt: 'Loud.',
        promoted_from_version_id: before.current_draft_version_id,
        promoted_at: new Date(test.clock.now()).toISOString(),
      },
      current_draft_version: {
        version_type: 'draft',
        version_number: 3,
        personality_prompt: 'Loud.',
        promoted_at: null,
      },
    });
    const versions = await test.call('GET', `/v1/personas/${id}/versions`);
    expect(versions.body.data).toMatchObject([
      { version_number: 3, version_type: 'draft' },
      { version_number: 2, version_type: 'production' },
      { version_number: 1, version_type: 'production', personality_prompt: 'Calm.' },
    ]);
  });

  it('is rejected with unknown properties', async () => {
    const url = `/v1/personas/${await createId()}/versions/promote`;
    expect((await test.call('POST', url, { body: { publish_on_pass: 'yes' } })).status).toBe(400);
    expect((await test.call('POST', url, { body: { now: true } })).codes).toEqual(['UNKNOWN_PROPERTY']);
  });
});

describe('deleting', () => {
  it('is rejected while it answers a number, and then hides the persona', async () => {
    await holdNumbers(number);
    const id = await createId();
    await attach(id, [number]);
    const refused = await test.call('DELETE', `/v1/personas/${id}`);
    expect([refused.status, refused.codes]).toEqual([409, ['PERSONA_IN_USE']]);
    expect(refused.body.errors).toMatchObject([{ details: { phone_numbers: [number], widget_ids: [] } }]);
    await attach(id, [number], 'detach');
    expect((await test.call('DELETE', `/v1/personas/${id}`)).body).toEqual({
      data: { deleted: true },
      errors: null,
    });
    expect((await test.call('GET', `/v1/personas/${id}`)).codes).toEqual(['PERSONA_NOT_FOUND']);
    expect((await test.call('DELETE', `/v1/personas/${id}`)).codes).toEqual(['PERSONA_NOT_FOUND']);
  });

  it('is rejected while a widget uses it', async () => {
    const id = await createId();
    const widget = await test.call('POST', '/v1/widget', { body: { name: 'Chat', persona_id: id } });
    const refused = await test.call('DELETE', `/v1/personas/${id}`);
    expect(refused.body.errors).toMatchObject([
      {
        code: 'PERSONA_IN_USE',
        details: { phone_numbers: [], widget_ids: [widget.body.data?.widget?.id] },
      },
    ]);
  });
});

describe('changes of personas', () => {
  it('are in the audit log, with the numbers that they answer', async () => {
    const own = '+14155550177';
    await holdNumbers(own);
    const id = await createId();
    await patch(id, { role: 'Host' });
    await promote(id);
    await attach(id, [own]);
    await attach(id, [own], 'detach');
    await test.call('DELETE', `/v1/personas/${id}`);
    const actions = async (query: string) => {
      const { data } = (await test.call('GET', `/v1/org/audit?${query}`)).read(AuditPage);
      return data.entries.map((entry) => `${entry.action} ${entry.changed_fields.join()}`.trim()).sort();
    };
    expect(await actions(`area=personas&subject_id=${id}`)).toEqual([
      'create',
      'delete',
      'promote',
      'update role',
    ]);
    expect(await actions('area=numbers')).toEqual([
      'update pathway_id,persona_id,prompt,realtime,stream_url',
      'update persona_id',
    ]);
  });
});

describe('every persona endpoint', () => {
  it('is 404 for unknown, malformed and foreign ids, and requires a key', async () => {
    const requests = (id: string) =>
      [
        ['GET', `/v1/personas/${id}`, undefined],
        ['PATCH', `/v1/personas/${id}`, { name: 'x' }],
        ['DELETE', `/v1/personas/${id}`, undefined],
        ['GET', `/v1/personas/${id}/versions`, undefined],
        ['POST', `/v1/personas/${id}/versions/promote`, {}],
        ['POST', `/v1/personas/${id}/inbound/attach`, { inbound_numbers: [number] }],
        ['POST', `/v1/personas/${id}/inbound/detach`, { inbound_numbers: [number] }],
      ] as const;
    for (const id of [unknown, 'none']) {
      for (const [method, url, body] of requests(id)) {
        expect((await test.call(method, url, { body })).codes).toEqual(['PERSONA_NOT_FOUND']);
      }
    }
    const id = await createId();
    for (const [method, url, body] of requests(id)) {
      const foreign = await test.call(method, url, { body, key: test.foreignKey });
      expect(foreign.codes).toEqual(['PERSONA_NOT_FOUND']);
      expect((await test.call(method, url, { body, key: null })).status).toBe(401);
    }
    for (const method of ['GET', 'POST'] as const) {
      const body = method === 'POST' ? { name: 'x' } : undefined;
      const answer = await test.call(method, '/v1/personas', { body, key: null });
      expect([answer.status, answer.body.data]).toEqual([401, null]);
    }
  });
});
