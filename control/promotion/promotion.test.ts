import { beforeEach, describe, expect, it } from 'vitest';
import { startControl } from '../../test/kit/control/harness.ts';
import { blocking, FakeGate } from '../../test/kit/control/promotion.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { demoEdges, demoNodes } from '../demo-pathway.ts';
import { settlePromotions } from '../testing/gate/apply.ts';

const gate = new FakeGate();
const test = emptiedForEach(() => startControl({}, {}, {}, { promotionGate: gate }));
let pathway = '';
beforeEach(async () => {
  gate.open = false;
  gate.asked.length = 0;
  gate.meanwhile = async () => undefined;
  const { body } = await test.call('POST', '/v1/pathway/create', { body: { name: 'Menu' } });
  pathway = `/v1/pathway/${String(body.pathway_id)}`;
  await keep();
  await keep();
});

const keep = () => test.call('POST', `${pathway}/version`, { body: { name: 'v', ...graph } });
const graph = { nodes: demoNodes, edges: demoEdges };
const publish = (version_id: number, more: object = {}) =>
  test.call('POST', `${pathway}/publish`, { body: { version_id, ...more } });
const production = async () => (await test.call('GET', pathway)).body.production_version;
const settle = () => settlePromotions(test.control.services, gate.batchId);

describe('a closed gate', () => {
  it('blocks production and reports what is missing', async () => {
    const answer = await publish(1);
    expect([answer.status, answer.codes]).toEqual([409, ['PROMOTION_BLOCKED']]);
    expect(answer.body.errors).toMatchObject([
      {
        details: {
          pathway_id: pathway.split('/').at(-1),
          version_id: 1,
          environment: 'production',
          batch_id: gate.batchId,
          scenarios: [blocking],
        },
      },
    ]);
    const [asked] = gate.asked;
    expect(asked).toMatchObject({ orgId: test.orgId, startBatch: true, subject: { version: 1 } });
    const { body } = await test.call('GET', `${pathway}/version/1`);
    expect(asked?.contentHash).toBe(body.content_hash);
    expect(await production()).toBe(null);
  });

  it('does not block staging', async () => {
    expect((await publish(1, { environment: 'staging' })).status).toBe(200);
    expect(gate.asked).toEqual([]);
  });
});

describe('publish_on_pass', () => {
  const wait = () => publish(1, { publish_on_pass: true });

  it('answers 202, and publishes once the batch has passed', async () => {
    const answer = await wait();
    expect([answer.status, answer.body]).toEqual([
      202,
      {
        status: 'pending',
        message: 'Published when its test scenarios pass',
        version_id: 1,
        environment: 'production',
        batch_id: gate.batchId,
      },
    ]);
    await wait();
    expect(await production()).toBe(null);
    gate.open = true;
    expect(await settle()).toMatchObject([{ orgId: test.orgId, published: true }]);
    expect(await production()).toBe(1);
    expect(await settle()).toEqual([]);
  });

  it('publishes nothing when the gate is closed after the batch, then or later', async () => {
    await wait();
    expect(await settle()).toMatchObject([{ published: false }]);
    expect(gate.asked.at(-1)?.startBatch).toBe(false);
    gate.open = true;
    expect(await settle()).toEqual([]);
    expect(await production()).toBe(null);
  });

  it('publishes nothing after another publication, even of the previous content', async () => {
    await wait();
    gate.open = true;
    await publish(2);
    expect(await settle()).toMatchObject([{ published: false }]);
    expect(await production()).toBe(2);
  });

  it('publishes nothing when the version was changed or deleted meanwhile', async () => {
    await wait();
    gate.open = true;
    const nodes = [{ id: 'a', type: 'End Call', data: { isStart: true, text: 'Bye' } }];
    await test.call('POST', `${pathway}/version/1`, { body: { name: 'v', nodes, edges: [] } });
    expect(await settle()).toMatchObject([{ published: false }]);
    await test.call('DELETE', pathway);
    expect(await settle()).toEqual([]);
  });
});

describe('a version changed while it is checked', () => {
  it('is checked again', async () => {
    gate.open = true;
    const nodes = [{ id: 'a', type: 'End Call', data: { isStart: true, text: 'Bye' } }];
    gate.meanwhile = () =>
      test.call('POST', `${pathway}/version/1`, { body: { name: 'v', nodes, edges: [] } });
    expect((await publish(1)).status).toBe(200);
    expect(gate.asked).toHaveLength(2);
    const { body } = await test.call('GET', `${pathway}/version/1`);
    expect(gate.asked[1]?.contentHash).toBe(body.content_hash);
  });
});

describe('the draft of a persona', () => {
  const create = async () =>
    (await test.call('POST', '/v1/personas', { body: { name: 'Ann', personality_prompt: 'Calm.' } })).body
      .data;
  const promote = (id: unknown, body: object = {}) =>
    test.call('POST', `/v1/personas/${String(id)}/versions/promote`, { body });

  it('is blocked like a version', async () => {
    const persona = await create();
    const answer = await promote(persona?.id);
    expect([answer.status, answer.codes]).toEqual([409, ['PROMOTION_BLOCKED']]);
    expect(answer.body.errors).toMatchObject([
      {
        details: {
          persona_id: persona?.id,
          version_id: persona?.current_draft_version_id,
          environment: 'production',
          batch_id: gate.batchId,
          scenarios: [blocking],
        },
      },
    ]);
  });

  it('waits for the batch, and is promoted unless it was changed', async () => {
    for (const altered of [false, true]) {
      gate.open = false;
      const persona = await create();
      const answer = await promote(persona?.id, { publish_on_pass: true });
      expect([answer.status, answer.body]).toEqual([
        202,
        { data: { status: 'pending', batch_id: gate.batchId }, errors: null },
      ]);
      const url = `/v1/personas/${String(persona?.id)}`;
      if (altered) await test.call('PATCH', url, { body: { personality_prompt: 'Loud.' } });
      gate.open = true;
      expect(await settle()).toMatchObject([{ published: !altered }]);
      const { current_production_version_id: present } = (await test.call('GET', url)).body.data ?? {};
      expect(present === persona?.current_draft_version_id).toBe(!altered);
    }
  });
});

it('accepts one gate only', () => {
  expect(() => test.control.services.promotionGates.register(gate)).toThrow('registered already');
});
