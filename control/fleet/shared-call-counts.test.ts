/** Call limits of edges that are linked to two control planes, in the frames of their links. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectEdge, type EdgeClient } from '../../test/kit/control/edge-client.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { onSqlite, type TestDatabase, takeDatabase } from '../../test/kit/db/test-database.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';

const limit = { scope: 'organization o', concurrent: 2, per_minute: null };
/** More starts than fit into one message between control planes. */
const starts = Array.from({ length: 3_000 }, (_, index) => index * 10);

describe.skipIf(onSqlite)('edges of two control planes', () => {
  let taken: TestDatabase;
  let controls: TestControl[];
  let edges: EdgeClient[];

  beforeEach(async () => {
    taken = await takeDatabase();
    controls = [
      await startControl({ DATABASE_URL: taken.address }),
      await startControl({ DATABASE_URL: taken.address }),
    ];
    edges = [];
    for (const [index, control] of controls.entries())
      edges.push(
        await connectEdge(control, { edge_id: `edge-${index}`, outbox_id: `o-${index}`, fleet: true }),
      );
    await expect
      .poll(() => {
        for (const { clock } of controls) clock.advance(100);
        return controls.map(({ control }) => control.services.fleet.members.length);
      })
      .toEqual([2, 2]);
  });
  afterEach(() =>
    releaseAll(
      ...edges.map((edge) => () => edge.kill()),
      ...controls.map((control) => () => control.close()),
      () => taken.release(),
    ),
  );

  const ask = async (edge: EdgeClient | undefined, id: string) => {
    edge?.send({ type: 'call_ask', id, scopes: [limit] });
    const { answer, reason } = (await edge?.next('call_answer')) ?? {};
    return reason ?? answer;
  };

  it('have one count, and what is over at one is free at the other', async () => {
    const [one, other] = edges;
    expect(await ask(one, '0')).toBe('unknown');
    one?.send({ type: 'calls_held', held: [] });
    other?.send({ type: 'calls_held', held: [{ scope: limit.scope, live: 1, started_ms_ago: starts }] });
    await expect.poll(() => ask(one, '1')).toBe('counted');
    expect(await ask(other, '2')).toBe('concurrent');
    expect(await ask(one, '3')).toBe('concurrent');
    other?.send({ type: 'call_over', scopes: [limit.scope], sent: true });
    expect(await ask(other, '4')).toBe('counted');
    expect(await ask(one, '5')).toBe('concurrent');
  });
});
