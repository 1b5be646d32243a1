/** The orderly end of a control plane: at once when it is alone, and after a hand-over when others serve. */
import { afterEach, describe, expect, it } from 'vitest';
import { connectEdge, type EdgeClient } from '../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../test/kit/control/harness.ts';
import { onSqlite, type TestDatabase, takeDatabase } from '../test/kit/db/test-database.ts';
import { releaseAll } from '../test/kit/fakes/release.ts';

const controls: TestControl[] = [];
let edge: EdgeClient | null = null;
let taken: TestDatabase | null = null;

afterEach(async () => {
  await releaseAll(
    () => edge?.kill(),
    ...controls.splice(0).map((control) => () => control.close()),
    () => taken?.release(),
  );
  edge = null;
  taken = null;
});

async function start(settings: Record<string, string> = {}): Promise<TestControl> {
  const control = await startControl(settings);
  controls.push(control);
  return control;
}

it('is over at once for the only control plane', async () => {
  const control = await start();
  edge = await connectEdge(control);
  await control.control.leave();
  expect((await control.call('GET', '/health/ready', { key: null })).status).toBe(200);
  expect(control.control.services.edges.count).toBe(1);
});

describe.skipIf(onSqlite)('beside another one', () => {
  async function pair(): Promise<[leaving: TestControl, staying: TestControl]> {
    taken = await takeDatabase();
    const settings = { DATABASE_URL: taken.address };
    return [await start(settings), await start(settings)];
  }

  /** Lets its clock go until `done`. */
  async function leave({ clock, control }: TestControl): Promise<void> {
    let isOver = false;
    const left = control.leave().then(() => {
      isOver = true;
    });
    await expect
      .poll(() => {
        clock.advance(100);
        return isOver;
      })
      .toBe(true);
    await left;
  }

  it('is not ready, and answers requests, until its edges have moved', async () => {
    const [leaving, staying] = await pair();
    edge = await connectEdge(leaving, { moves: true });
    await edge.next('config');
    const left = leaving.control.leave();
    await expect
      .poll(async () => (await leaving.call('GET', '/health/ready', { key: null })).body)
      .toEqual({ status: 'unavailable', checks: { database: 'ok' }, leaving: true });
    const answer = await leaving.call('GET', '/v1/pathway');
    expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
    const { untaken } = edge;
    await expect
      .poll(() => {
        leaving.clock.advance(100);
        return untaken.some(({ type }) => type === 'move');
      })
      .toBe(true);
    // It takes no more edges.
    await expect(connectEdge(leaving)).rejects.toThrow('503');
    const former = edge;
    edge = await connectEdge(staying, { moves: true });
    expect(await former.closed).toMatchObject({ code: 4001 });
    await left;
    await edge.next('config');
  });

  it('closes the link of an edge that cannot move', async () => {
    const [leaving] = await pair();
    edge = await connectEdge(leaving);
    await edge.next('config');
    await leave(leaving);
    expect(await edge.closed).toMatchObject({ code: 1012 });
  });

  it('waits no longer for an edge that does not move', async () => {
    const [leaving] = await pair();
    edge = await connectEdge(leaving, { moves: true });
    await edge.next('config');
    await leave(leaving);
    expect(edge.untaken.map(({ type }) => type)).toContain('move');
  });

  it('frees its leases, which the other one takes', async () => {
    const [leaving, staying] = await pair();
    await leaving.control.begin();
    await staying.control.begin();
    const { replica } = leaving.control.services;
    expect(replica.held.length).toBeGreaterThan(0);
    const held = new Set([...replica.held, ...staying.control.services.replica.held]);
    await leave(leaving);
    await staying.control.services.replica.settled();
    expect(replica.held).toEqual([]);
    expect(new Set(staying.control.services.replica.held)).toEqual(held);
  });
});
