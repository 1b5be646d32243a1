import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TemplateCloned, TemplateList } from '#shared/api/agent-testing/templates.ts';
import { callRecord } from '../../../test/kit/control/edge-client.ts';
import { startRoutes, type TestControl } from '../../../test/kit/control/harness.ts';
import { base, createPathway, Scenarios, unknownId } from '../../../test/kit/control/scenarios.ts';
import type { Answer } from '../../../test/kit/http/answer.ts';
import { toJson } from '../../db/index.ts';

let test: TestControl;
let scenarios: Scenarios;
let pathwayId: string;
beforeAll(async () => {
  test = await startRoutes();
  scenarios = await Scenarios.of(test);
  ({ pathwayId } = scenarios);
});
afterAll(() => test.close());

describe('templates', () => {
  it('are nine, in order, filtered by category', async () => {
    const { templates } = (await test.call('GET', `${base}/templates`)).read(TemplateList);
    expect(templates.map(({ id, category, max_turns }) => [id, category, max_turns])).toEqual([
      ['tmpl_voicemail_basic', 'VOICEMAIL', 4],
      ['tmpl_call_screener', 'CALL_SCREENER', 6],
      ['tmpl_gatekeeper', 'CALL_SCREENER', 10],
      ['tmpl_angry_caller', 'ANGRY_CALLER', 12],
      ['tmpl_abusive_caller', 'BELLIGERENT_CALLER', 10],
      ['tmpl_rambling_caller', 'CONFUSED_CALLER', 15],
      ['tmpl_happy_path', 'HAPPY_PATH', 12],
      ['tmpl_edge_interruptions', 'EDGE_CASE', 15],
      ['tmpl_custom_blank', 'CUSTOM', 20],
    ]);
    const screeners = await test.call('GET', `${base}/templates?category=VOICEMAIL_SCREENER`);
    expect(screeners.read(TemplateList).templates).toHaveLength(2);
    expect((await test.call('GET', `${base}/templates?category=x`)).status).toBe(400);
  });

  it('become scenarios, with a numbered name if it is taken and none is given', async () => {
    const own = await createPathway(test);
    const clone = (body: object, id = 'tmpl_angry_caller') =>
      test.call('POST', `${base}/templates/${id}/clone`, { body: { pathway_id: own, ...body } });
    const scenario = (answer: Answer) => answer.read(TemplateCloned).scenario;
    const first = await clone({ max_turns: 3, request_data: { order: 7 } });
    expect(scenario(first)).toMatchObject({
      name: 'Angry customer',
      category: 'ANGRY_CALLER',
      pathway_id: own,
      max_turns: 3,
      request_data: { order: 7 },
      tester_persona_name: 'Sam',
    });
    const types = scenario(first).assertions.map(({ type, is_required }) => [type, is_required]);
    expect(types).toEqual([
      ['LLM_JUDGE', true],
      ['LLM_JUDGE', true],
      ['SERVICE_TONE', false],
    ]);
    expect(scenario(await clone({})).name).toBe('Angry customer (2)');
    expect(scenario(await clone({})).name).toBe('Angry customer (3)');
    expect((await clone({ name: 'Angry customer' })).codes).toEqual(['SCENARIO_NAME_TAKEN']);
    expect((await clone({}, 'tmpl_none')).codes).toEqual(['TEMPLATE_NOT_FOUND']);
    expect((await clone({ pathway_id: unknownId })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await clone({ pathway_id: undefined, persona_id: unknownId })).codes).toEqual([
      'PERSONA_NOT_FOUND',
    ]);
    const agent_id = unknownId;
    expect((await clone({ pathway_id: undefined, agent_id })).codes).toEqual(['TEST_AGENT_NOT_FOUND']);
    expect((await clone({ agent_id })).codes).toEqual(['INVALID_PARAMETER']);
    expect((await clone({ category: 'CUSTOM' })).codes).toEqual(['UNKNOWN_PROPERTY']);
    expect((await clone({ persona_id: unknownId })).status).toBe(400);
  });

  it('all become scenarios', async () => {
    const own = await createPathway(test);
    const { templates } = (await test.call('GET', `${base}/templates`)).read(TemplateList);
    for (const { id } of templates) {
      const answer = await test.call('POST', `${base}/templates/${id}/clone`, { body: { pathway_id: own } });
      expect([id, answer.status, answer.codes]).toEqual([id, 200, []]);
    }
  });
});

describe('a scenario from a call', () => {
  const generate = (body: object, key = test.key) =>
    test.call('POST', `${base}/scenarios/generate-from-call`, { body, key });
  const transcript = [
    { role: 'assistant', content: 'Clinic, how can I help?' },
    { role: 'user', content: 'My name is Jane Doe. This is unacceptable, nobody called me back!' },
    { role: 'assistant', content: 'I am sorry, Jane. What is your number?' },
    { role: 'user', content: '+1 415 555 0100, or write to jane@example.com.' },
  ];

  it('can be created as is, without numbers, addresses and names', async () => {
    const answer = await generate({ pathway_id: pathwayId, transcript });
    expect(answer.status).toBe(200);
    const { data, errors: _, ...bareAnswer } = answer.body;
    expect(data).toEqual(bareAnswer);
    expect(bareAnswer).toMatchObject({ category: 'ANGRY_CALLER', persona_id: null, start_node_id: null });
    expect(answer.text).not.toMatch(/Jane|Doe|555|example\.com/);
    expect(bareAnswer.metadata).toEqual({
      generated_by: 'rules',
      removed: [
        { kind: 'name', placeholder: '[name]', hint: 'J…e', count: 2 },
        { kind: 'name', placeholder: '[name]', hint: 'D…e', count: 1 },
        { kind: 'email', placeholder: '[email]', hint: 'j…m', count: 1 },
        { kind: 'phone_number', placeholder: '[phone number]', hint: '+…0', count: 1 },
      ],
    });
    const { persona_id: _persona, ...ready } = bareAnswer;
    expect((await scenarios.create(ready)).status).toBe(200);
    const again = await generate({ pathway_id: pathwayId, transcript });
    expect(again.body).toEqual(answer.body);
  });

  it('reads a call of the organization by its id, its request data redacted at every depth', async () => {
    const { db } = test.control.services.database;
    const record = callRecord(test.orgId);
    await db
      .insertInto('calls')
      .values({
        id: 'call-1',
        org_id: test.orgId,
        edge_id: 'edge',
        sip_call_id: 'sip-1@pbx',
        parent_id: null,
        direction: 'inbound',
        from_number: '+14155550100',
        to_number: '+14155550101',
        number: '+14155550101',
        trunk_id: null,
        source_ip: null,
        started_at: record.started_at,
        answered_at: null,
        ended_at: null,
        status: 'completed',
        outcome: 'completed',
        sip_code: null,
        sip_reason: null,
        termination: null,
        termination_detail: null,
        hangup_by: null,
        codec: null,
        media: null,
        agent_kind: null,
        pathway_id: null,
        pathway_version: null,
        persona_id: null,
        max_duration: null,
        request_data: toJson({
          plan: 'gold',
          deep: [{ customerName: 'Ada', url: 'https://a.example/x' }],
        }),
        variables: toJson({ first_name: 'Grace' }),
        failover_attempts: null,
        metadata: toJson({}),
        webhook: null,
        transferred_to: null,
        answered_by: null,
      })
      .execute();
    const body = { pathway_id: pathwayId, call_id: 'call-1' };
    expect((await generate(body)).codes).toEqual(['EMPTY_TRANSCRIPT']);
    const entry = { id: 'e', at: record.started_at, node_id: null, node_name: null };
    await db
      .insertInto('transcript_parts')
      .values({
        call_id: 'call-1',
        entries: toJson([
          { ...entry, user: 'agent-action', text: 'went to node 77777' },
          { ...entry, user: 'user', text: 'Grace here, for Ada.' },
        ]),
        received_at: record.started_at,
      })
      .execute();
    const answer = await generate(body);
    expect(answer.status).toBe(200);
    expect(answer.body.request_data).toEqual({
      plan: 'gold',
      deep: [{ customerName: '[name]', url: '[url]' }],
    });
    expect(answer.text).not.toMatch(/Grace|Ada|a\.example|77777/);
    expect((await generate({ ...body, call_id: 'sip-1@pbx' })).body).toEqual(answer.body);
    const foreign = await createPathway(test, test.foreignKey);
    expect((await generate({ pathway_id: foreign, call_id: 'call-1' }, test.foreignKey)).codes).toEqual([
      'CALL_NOT_FOUND',
    ]);
  });

  it('is rejected without a source, without words of the caller, or for an unknown pathway', async () => {
    test.clock.advance(60_000);
    expect((await generate({ pathway_id: pathwayId })).status).toBe(400);
    expect((await generate({ pathway_id: pathwayId, transcript, call_id: 'x' })).status).toBe(400);
    const silent = [{ role: 'user', content: ' ' }];
    expect((await generate({ pathway_id: pathwayId, transcript: silent })).codes).toEqual([
      'EMPTY_TRANSCRIPT',
    ]);
    expect((await generate({ pathway_id: pathwayId, transcript: [] })).codes).toEqual(['EMPTY_TRANSCRIPT']);
    expect((await generate({ pathway_id: unknownId, transcript })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await generate({ persona_id: unknownId, transcript })).codes).toEqual(['PERSONA_NOT_FOUND']);
    expect((await generate({ pathway_id: pathwayId, call_id: 'none' })).codes).toEqual(['CALL_NOT_FOUND']);
  });

  it('is drafted at most ten times a minute', async () => {
    test.clock.advance(60_000);
    for (let i = 0; i < 10; i++) {
      expect((await generate({ pathway_id: pathwayId, transcript })).status).toBe(200);
    }
    const refused = await generate({ pathway_id: pathwayId, transcript });
    expect([refused.status, refused.codes]).toEqual([429, ['RATE_LIMITED']]);
  });
});
