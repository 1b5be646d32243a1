/** The OpenAPI document and the search of /docs are made in turns, so that requests are answered meanwhile. */
import { expect, it } from 'vitest';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { ownOpenApiOf } from '../../test/kit/control/openapi.ts';
import { ApiDocument } from './api-document.ts';
import { pageFiles } from './docs/contents.ts';
import { describedIn } from './docs/groups.ts';
import { DocsSite } from './docs/site.ts';
import type { OpenApiDocument } from './openapi-document.ts';

/** Rounds of the event loop until a work is done. */
async function turnsOf<T>(work: Promise<T>): Promise<{ turns: number; made: T }> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const made = await work.finally(() => {
    isDone = true;
  });
  return { turns, made };
}

it('a turn has two routes of the generator; paths that two turns have in common are joined', async () => {
  const routes = ['/a get', '/a post', '/b get', '/c get', '/b put', '/d get', '/a delete'];
  const turns: string[][] = [];
  const document: ApiDocument = new ApiDocument(() => {
    const mine = routes.filter(() => document.isTurnOf());
    turns.push(mine);
    const paths: Record<string, Record<string, object>> = {};
    for (const route of mine) {
      const [path = '', method = ''] = route.split(' ');
      paths[path] = { ...paths[path], [method]: { summary: route } };
    }
    document.take({ openapi: '3.1.0', info: { title: 'T' }, paths });
  });
  const { turns: passed, made } = await turnsOf(document.made());
  expect(turns).toEqual([routes.slice(0, 2), routes.slice(2, 4), routes.slice(4, 6), routes.slice(6)]);
  expect(passed).toBeGreaterThanOrEqual(turns.length);
  expect(describedIn(made.paths).map(({ operation }) => operation.summary)).toEqual([
    '/a get',
    '/a post',
    '/a delete',
    '/b get',
    '/b put',
    '/c get',
    '/d get',
  ]);
  expect(JSON.parse(await document.text())).toEqual(JSON.parse(JSON.stringify(made)));
  expect(await document.made()).toBe(made);
  expect(turns).toHaveLength(4);
});

it('a generator that gives nothing is an error', async () => {
  await expect(new ApiDocument(() => {}).made()).rejects.toThrow('gave nothing');
});

it('the document and the search of a control plane have a turn for each endpoint and each page', async () => {
  const test = await startRoutes();
  try {
    const { turns, made: document } = await turnsOf<OpenApiDocument>(ownOpenApiOf(test));
    const operations = describedIn(document.paths).length;
    expect(operations).toBeGreaterThan(200);
    expect(turns).toBeGreaterThan(operations / 2);
    const site = new DocsSite(async () => document, '/docs/assets/hash');
    const search = await turnsOf(site.search());
    expect(search.turns).toBeGreaterThan(operations + (await pageFiles()).size);
  } finally {
    await test.close();
  }
});
