/** A pathway with two scenarios, whose finished runs a test stores at chosen times. */
import { expect } from 'vitest';
import { toJson } from '../../../control/db/index.ts';
import type { FinalStatus } from '../../../control/testing/records/write.ts';
import { storeFinishedRun } from './agent-testing.ts';
import type { TestControl } from './harness.ts';

export const hourMs = 60 * 60 * 1000;
export const dayMs = 24 * hourMs;
const base = '/v1/agent-testing';

/** Call it in a hook. The clock of the test is moved. */
export async function startAnalytics(test: TestControl) {
  const db = test.control.services.database.db;
  // 2030-02-15T12:00Z, so that windows begin in the middle of a day
  test.clock.advance(45 * dayMs + 12 * hourMs);
  const now = test.clock.now();
  const pathwayId = String(
    (await test.call('POST', '/v1/pathway/create', { body: { name: 'P' } })).body.pathway_id,
  );
  const nodes = ['n1', 'n2', 'n3'].map((id, index) => ({
    id,
    type: index === 2 ? 'End Call' : 'Default',
    data: { name: ['Greet', 'Ask', 'Bye'][index], text: 'x', ...(index === 0 && { isStart: true }) },
  }));
  const edges = [
    { source: 'n1', target: 'n2', data: { label: 'on' } },
    { source: 'n2', target: 'n3', data: { label: 'on' } },
  ];
  const updated = await test.call('POST', `/v1/pathway/${pathwayId}`, { body: { nodes, edges } });
  expect(updated.codes).toEqual([]);
  const scenario = async (name: string): Promise<string> => {
    const answer = await test.call('POST', `${base}/scenarios`, { body: { pathway_id: pathwayId, name } });
    return String(answer.body.id);
  };
  const first = await scenario('First');
  const second = await scenario('Second');

  /** A run created this many ms ago. */
  function ran(
    agoMs: number,
    status: FinalStatus,
    score: number | null = null,
    nodesVisited: string[] = ['n1', 'n2', 'n3'],
    more: { scenarioId?: string; failedNodeId?: string; said?: string } = {},
  ): Promise<string> {
    return storeFinishedRun(db, {
      orgId: test.orgId,
      pathwayId,
      scenarioId: more.scenarioId ?? first,
      createdAt: new Date(now - agoMs).toISOString(),
      status,
      score,
      nodesVisited,
      ...(more.said !== undefined && { record: { chat_history: toJson(more.said) } }),
      failedNodeId: more.failedNodeId ?? nodesVisited.at(-1) ?? null,
    });
  }

  const get = (path: string, key = test.key) => test.call('GET', `${base}/analytics/${path}`, { key });

  return { db, pathwayId, first, second, now, ran, get };
}
