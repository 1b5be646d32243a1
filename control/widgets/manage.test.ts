import { beforeEach, describe, expect, it } from 'vitest';
import { routesOfFile } from '../../test/kit/control/routes-of-file.ts';
import { makePathway, makeThread, makeWidget, origin, unknownId } from '../../test/kit/control/widgets.ts';

const test = routesOfFile({ QUOTAS: 'widgets=3' });
let pathway: string;
let widget: string;
beforeEach(async () => {
  pathway = await makePathway(test);
  widget = await makeWidget(test, { greeting: 'Hello' }, pathway);
});

const read = async () => (await test.call('GET', widget)).body.data?.widget;
const patch = (body: object) => test.call('PATCH', widget, { body });

describe('widgets', () => {
  it('are listed in pages, newest first, without their config', async () => {
    test.clock.advance(1000);
    const second = await makeWidget(test, {}, pathway);
    const page = async (query: string) => (await test.call('GET', `/v1/widget?${query}`)).body.data;
    expect(await page('limit=1')).toEqual({
      total: 2,
      widgets: [
        {
          id: second.split('/').at(-1),
          name: 'Shop',
          pathway_id: pathway,
          persona_id: null,
          pathway_version: 'production',
          created_at: expect.any(String),
          updated_at: expect.any(String),
        },
      ],
    });
    expect(await page('limit=1&page=2')).toMatchObject({ widgets: [{ id: widget.split('/').at(-1) }] });
    expect(await page('page=9')).toEqual({ total: 2, widgets: [] });
    const foreign = await test.call('GET', '/v1/widget', { key: test.foreignKey });
    expect(foreign.body.data).toEqual({ total: 0, widgets: [] });
  });

  it('are changed: omitted members stay, and config is merged by key', async () => {
    const changed = await patch({ name: 'Other', config: { timeoutSeconds: 60 } });
    expect(changed.status).toBe(200);
    expect(await read()).toMatchObject({
      name: 'Other',
      pathway_id: pathway,
      config: { timeoutSeconds: 60, greeting: 'Hello', allowedOrigins: [origin] },
    });
    expect(changed.body.data?.widget).toEqual(await read());
  });

  it('can switch from a pathway to a persona, and back', async () => {
    const persona = await test.call('POST', '/v1/personas', { body: { name: 'Ada' } });
    const persona_id = String(persona.body.data?.id);
    expect((await patch({ persona_id })).status).toBe(200);
    expect(await read()).toMatchObject({ persona_id, pathway_id: null, pathway_version: null });
    expect((await test.call('DELETE', `/v1/pathway/${pathway}`)).status).toBe(200);
    expect((await patch({ pathway_version: 'staging' })).codes).toEqual(['INVALID_PARAMETER']);
    const other = await makePathway(test);
    expect((await patch({ pathway_id: other, pathway_version: 'staging' })).status).toBe(200);
    expect(await read()).toMatchObject({ persona_id: null, pathway_id: other, pathway_version: 'staging' });
  });

  it.each([
    [{ pathway_id: unknownId }, 'PATHWAY_NOT_FOUND'],
    [{ persona_id: unknownId }, 'PERSONA_NOT_FOUND'],
    [{ pathway_version: 7 }, 'VERSION_NOT_FOUND'],
    [{ pathway_id: unknownId, persona_id: unknownId }, 'INVALID_PARAMETER'],
    [{ config: { allowedOrigins: ['x'] } }, 'INVALID_PARAMETER'],
    [{ name: '' }, 'INVALID_PARAMETER'],
  ])('are not changed by %j: %s', async (body, code) => {
    const before = await read();
    expect((await patch(body)).codes).toEqual([code]);
    expect(await read()).toEqual(before);
  });

  it('are deleted with their threads; streams end, tokens stop working, and the quota is freed', async () => {
    const thread = await makeThread(test, widget);
    for (let count = 0; count < 60; count++) await makeThread(test, widget);
    const session = await test.call('POST', `${widget}/session`, {
      key: null,
      headers: { origin },
      body: {},
    });
    const token = String(session.body.data?.token);
    const stream = test.call('GET', `${thread}/events`);
    await makeWidget(test, {}, pathway);
    await makeWidget(test, {}, pathway);
    const full = await test.call('POST', '/v1/widget', { body: { name: 'w', pathway_id: pathway } });
    expect(full.codes).toEqual(['QUOTA_EXCEEDED']);
    const inUse = await test.call('DELETE', `/v1/pathway/${pathway}`);
    expect(inUse.body.errors).toMatchObject([
      {
        code: 'PATHWAY_IN_USE',
        details: { widget_ids: [expect.anything(), expect.anything(), expect.anything()] },
      },
    ]);
    const foreign = await test.call('DELETE', widget, { key: test.foreignKey });
    expect(foreign.codes).toEqual(['WIDGET_NOT_FOUND']);
    const { body } = await test.call('DELETE', widget);
    expect(body.data).toEqual({ id: widget.split('/').at(-1), deleted: true });
    expect((await stream).status).toBe(200);
    expect((await test.call('GET', `${widget}/threads`, { key: token, headers: { origin } })).status).toBe(
      401,
    );
    expect((await test.call('GET', widget)).codes).toEqual(['WIDGET_NOT_FOUND']);
    expect((await test.call('DELETE', widget)).codes).toEqual(['WIDGET_NOT_FOUND']);
    const { db } = test.control.services.database;
    for (const table of ['widget_threads', 'widget_messages', 'widget_sessions'] as const) {
      expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
    }
    await makeWidget(test, {}, pathway);
  });

  it('no longer block deleting their pathway once they are deleted', async () => {
    expect((await test.call('DELETE', `/v1/pathway/${pathway}`)).codes).toEqual(['PATHWAY_IN_USE']);
    await test.call('DELETE', widget);
    expect((await test.call('DELETE', `/v1/pathway/${pathway}`)).status).toBe(200);
  });
});
