import { beforeEach, describe, expect, it } from 'vitest';
import { connectEdge } from '../../test/kit/control/edge-client.ts';
import type { CallOptions } from '../../test/kit/control/harness.ts';
import { numbersOfEachTest, routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { numbersOfPath } from '../numbers/rules.ts';

const test = routesOfFile();
numbersOfEachTest(test);
beforeEach(async () => {
  await test.call('POST', '/v1/sip/attach', {
    body: { phone_numbers: ['+14155550101', '+14155550100'], directions: ['inbound'] },
  });
});

const update = (body: object, options: CallOptions = {}) =>
  test.call('POST', '/v1/inbound/%2B14155550100', { body, ...options });
const read = async () => (await test.call('GET', '/v1/inbound/14155550100')).body;
const createPathway = async () =>
  String((await test.call('POST', '/v1/pathway/create', { body: { name: 'Menu' } })).body.pathway_id);

describe('GET /v1/inbound', () => {
  it('lists the numbers of the organization with the defaults', async () => {
    const { body } = await test.call('GET', '/v1/inbound');
    expect(body.inbound_numbers).toMatchObject([
      {
        phone_number: '+14155550100',
        source: 'sip',
        label: null,
        model: 'base',
        language: 'en-US',
        temperature: 0.7,
        interruption_threshold: 500,
        timezone: 'America/Los_Angeles',
        max_duration: 30,
        tools: [],
        request_data: {},
        wait_for_greeting: false,
      },
      { phone_number: '+14155550101' },
    ]);
    expect((await test.call('GET', '/v1/inbound', { key: test.foreignKey })).body).toEqual({
      inbound_numbers: [],
    });
    expect((await test.call('GET', '/v1/inbound', { key: null })).status).toBe(401);
  });

  it('finds one number in any notation, only for its organization', async () => {
    for (const text of ['+14155550100', '%2B14155550100', '14155550100', '4155550100', '(415)%20555-0100']) {
      expect((await test.call('GET', `/v1/inbound/${text}`)).body.phone_number).toBe('+14155550100');
    }
    expect(numbersOfPath('4155550100')).toEqual(['+4155550100', '+14155550100']);
    for (const text of ['14155550199', 'abc', '1']) {
      expect((await test.call('GET', `/v1/inbound/${text}`)).codes).toEqual(['NUMBER_NOT_FOUND']);
    }
    expect((await test.call('GET', '/v1/inbound/14155550100', { key: test.foreignKey })).status).toBe(404);
    expect((await test.call('GET', '/v1/inbound/14155550100', { key: null })).status).toBe(401);
  });
});

describe('POST /v1/inbound/{phone_number}', () => {
  it('takes the words that its callers are likely to say, and tells the edges', async () => {
    const edge = await connectEdge(test);
    await edge.next('config');
    await update({ prompt: 'Advise.', key_terms: ['Lisinopril'] });
    expect((await read()).key_terms).toEqual(['Lisinopril']);
    const { change } = await edge.next('change');
    expect(change.numbers).toMatchObject([{ agent: { kind: 'task', key_terms: ['Lisinopril'] } }]);
    await update({ key_terms: null });
    expect((await read()).key_terms).toEqual([]);
  });

  it('limits the outgoing calls of a number, and sends the edges the change at once', async () => {
    const edge = await connectEdge(test);
    await edge.next('config');
    const call_limits = { per_minute: 2, allowed_prefixes: ['+1'] };
    expect((await update({ call_limits })).body).toMatchObject({ updates: { call_limits } });
    expect((await read()).call_limits).toEqual({
      concurrent: null,
      per_minute: 2,
      allowed_prefixes: ['+1'],
      blocked_prefixes: [],
    });
    const { change } = await edge.next('change');
    expect(change.numbers).toMatchObject([{ number: '+14155550100', call_limits }]);
    await update({ call_limits: null });
    expect((await read()).call_limits).toBeNull();
    expect((await edge.next('change')).change.numbers[0]).not.toHaveProperty('call_limits');
    expect((await update({ call_limits: { allowed_prefixes: ['1'] } })).codes).toEqual(['INVALID_PARAMETER']);
    await edge.kill();
  });

  it('sets fields, reports what changed, and clears with null', async () => {
    test.clock.advance(1000);
    const answer = await update({
      label: 'Desk',
      wait_for_greeting: 'true',
      voice_id: 'nova',
      max_duration: 5,
      request_data: { a: [1] },
    });
    expect(answer.body).toEqual({
      status: 'success',
      message: 'Inbound number updated',
      updates: {
        label: 'Desk',
        wait_for_greeting: true,
        voice: 'nova',
        max_duration: 5,
        request_data: { a: [1] },
      },
    });
    expect(await read()).toMatchObject({
      label: 'Desk',
      voice: 'nova',
      max_duration: 5,
      request_data: { a: [1] },
      updated_at: '2030-01-01T00:00:01.000Z',
    });
    expect((await update({ label: null, max_duration: null })).body.updates).toEqual({
      label: null,
      max_duration: null,
    });
    expect(await read()).toMatchObject({ label: null, max_duration: 30, voice: 'nova' });
  });

  it('has one agent source: setting one clears the others', async () => {
    const pathwayId = await createPathway();
    await update({ prompt: 'You are kind.', first_sentence: 'Hi', tools: [] });
    const answer = await update({ pathway_id: pathwayId });
    expect(answer.body.updates).toEqual({
      pathway_id: pathwayId,
      prompt: null,
      persona_id: null,
      stream_url: null,
      realtime: null,
      first_sentence: null,
      model: null,
      tools: null,
      transfer_list: null,
    });
    expect(await read()).toMatchObject({ prompt: null, pathway_id: pathwayId, first_sentence: null });
    await update({ stream_url: 'wss://bot.example.com/call' });
    expect(await read()).toMatchObject({ pathway_id: null, stream_url: 'wss://bot.example.com/call' });
    const realtime = { connection: 'main', instructions: 'Sell flowers.' };
    expect((await update({ realtime })).codes).toEqual(['INVALID_PARAMETER']);
    const connection = { name: 'main', protocol: 'gemini', url: 'wss://models.example.com/', model: 'm' };
    await test.call('PATCH', '/v1/org/settings', { body: { realtime: [connection] } });
    await update({ realtime });
    expect(await read()).toMatchObject({ stream_url: null, realtime });
    expect((await update({ pathway_id: pathwayId, prompt: 'x' })).codes).toEqual(['AGENT_SOURCE_CONFLICT']);
    expect((await update({ pathway_id: '', prompt: 'x' })).status).toBe(200);
  });

  it('is validated before the number is looked up', async () => {
    const refused = (body: object) => test.call('POST', '/v1/inbound/19998887777', { body });
    expect((await refused({ prompt: 'x', stream_url: 'wss://bot.example.com/' })).codes).toEqual([
      'AGENT_SOURCE_CONFLICT',
    ]);
    expect((await refused({ webhook: 'http://hook.example.com/' })).codes).toEqual(['INVALID_PARAMETER']);
    expect((await refused({ prompt: 'x' })).codes).toEqual(['NUMBER_NOT_FOUND']);
  });

  it('accepts only versions and start nodes that the pathway has', async () => {
    const pathwayId = await createPathway();
    expect((await update({ pathway_id: pathwayId, pathway_version: 3 })).codes).toEqual([
      'VERSION_NOT_FOUND',
    ]);
    expect((await update({ pathway_id: pathwayId, start_node_id: 'none' })).codes).toEqual([
      'INVALID_PARAMETER',
    ]);
    const nodes = [{ id: 'only', type: 'Default', data: { name: 'Only', text: 'Hi', isStart: true } }];
    await test.call('POST', `/v1/pathway/${pathwayId}/version`, { body: { name: 'v1', nodes, edges: [] } });
    expect((await update({ pathway_id: pathwayId, pathway_version: 1, start_node_id: 'only' })).status).toBe(
      200,
    );
    expect(await read()).toMatchObject({ pathway_version: 1, start_node_id: 'only' });
    expect((await update({ pathway_version: 'staging' })).status).toBe(400);
    expect((await update({ pathway_version: 'staging', start_node_id: null })).status).toBe(200);
    await update({ pathway_version: 1, start_node_id: 'only' });
    expect((await update({ pathway_id: await createPathway() })).body.updates).toMatchObject({
      pathway_version: null,
      start_node_id: null,
    });
  });

  const id = '00000000-0000-4000-8000-000000000000';
  it.each([
    [404, 'PATHWAY_NOT_FOUND', { pathway_id: id }],
    [404, 'PERSONA_NOT_FOUND', { persona_id: id }],
    [404, 'TOOL_NOT_FOUND', { tools: [`TL-${id}`] }],
    [400, 'TARGET_NOT_ALLOWED', { stream_url: 'wss://127.0.0.1/x' }],
    [400, 'TARGET_NOT_ALLOWED', { webhook: 'https://[::1]/x' }],
    [400, 'INVALID_PARAMETER', { stream_url: 'ws://bot.example.com' }],
    [400, 'INVALID_PARAMETER', { webhook: 'https://user:pw@example.com/' }],
    [400, 'INVALID_PARAMETER', { pathway_id: 'x' }],
    [400, 'INVALID_PARAMETER', { timezone: 'Moon/Base' }],
    [400, 'INVALID_PARAMETER', { max_duration: '5' }],
    [400, 'INVALID_PARAMETER', { wait_for_greeting: 'yes' }],
    [400, 'INVALID_PARAMETER', { request_data: { text: 'x'.repeat(65_536) } }],
    [400, 'UNKNOWN_PROPERTY', { colour: 'red' }],
  ])('answers %i %s to %j', async (status, code, body) => {
    const answer = await update(body);
    expect([answer.status, answer.codes[0]]).toEqual([status, code]);
  });

  it('rejects pathways and numbers of another organization, and requires a key', async () => {
    const foreign = await test.call('POST', '/v1/pathway/create', {
      body: { name: 'x' },
      key: test.foreignKey,
    });
    expect((await update({ pathway_id: foreign.body.pathway_id })).codes).toEqual(['PATHWAY_NOT_FOUND']);
    expect((await update({ label: 'x' }, { key: test.foreignKey })).codes).toEqual(['NUMBER_NOT_FOUND']);
    expect((await update({ label: 'x' }, { key: null })).status).toBe(401);
  });
});
