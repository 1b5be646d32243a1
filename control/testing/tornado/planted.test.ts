import { beforeEach, describe, expect, it } from 'vitest';
import { VersionGraph, VersionList } from '#shared/api/pathways.ts';
import {
  faultyGraph,
  harshPrompt,
  missingEdge,
  missingVariable,
  unreachableNode,
  wrongTransfer,
} from '../../../test/kit/control/dental.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TornadoClient } from '../../../test/kit/control/tornado.ts';
import { onceIsEnough } from '../../../test/kit/db/test-database.ts';

const test = emptiedForEach(startControl);
let client: TornadoClient;
let pathway = '';
beforeEach(async () => {
  client = new TornadoClient(test);
  pathway = await client.pathway(faultyGraph);
});

const version = async (number: unknown) =>
  (await test.call('GET', `/v1/pathway/${pathway}/version/${String(number)}`)).read(VersionGraph);
const versions = async () =>
  (await test.call('GET', `/v1/pathway/${pathway}/versions`))
    .read(VersionList)
    .map(({ version_number }) => version_number);

describe('the planted faults of a pathway', () => {
  const each = [
    ['a missing edge', missingEdge, 'flow_change', [['added', 'edges/greet-hours']]],
    ['an unreachable node', unreachableNode, 'flow_change', [['added', 'edges/pain-emergency']]],
    ['a missing variable', missingVariable, 'config_change', [['added', 'nodes/book/data/extractVars']]],
    [
      'a wrong transfer number',
      wrongTransfer,
      'config_change',
      [['changed', 'nodes/billing/data/transferNumber']],
    ],
    ['a harsh prompt', harshPrompt, 'prompt_edit', [['changed', 'nodes/complaint/data/prompt']]],
  ] as const;
  // What is found and tried is the same on both databases.
  it.each(onceIsEnough ? each : each.slice(0, 1))(
    '%s is fixed on a fork',
    async (_fault, scenario, type, diff) => {
      const before = await version(1);
      const id = await client.scenario({ pathway_id: pathway, ...scenario });
      const session = await client.endedSession(await client.tornado(pathway, { version_number: 1 }));
      expect(session).toMatchObject({
        status: 'COMPLETED_ALL_PASSED',
        base_version: 1,
        forked_version: 2,
        passed_scenarios: 1,
        failed_scenarios: 0,
        iterations: [
          {
            iteration: 1,
            version_number: 1,
            failed_ids: [id],
            fix_plan: { fixes: [{ id: 'fix-001', type, status: 'applied' }], priority_order: ['fix-001'] },
          },
          { iteration: 2, version_number: 2, passed_ids: [id], fix_plan: null, diff: null },
        ],
      });
      expect(session.iterations[0]?.diff?.map(({ op, path }) => [op, path])).toEqual(diff);
      expect(await version(1)).toEqual({ ...before, is_latest: false });
      expect(await versions()).toEqual([2, 1]);
    },
  );

  it.runIf(onceIsEnough)(
    'are all fixed in one session; the base is unchanged and nothing is published',
    async () => {
      const before = await version(1);
      for (const scenario of [missingEdge, unreachableNode, missingVariable, wrongTransfer, harshPrompt]) {
        await client.scenario({ pathway_id: pathway, ...scenario });
      }
      const session = await client.endedSession(await client.tornado(pathway, { version_number: 1 }));
      expect(session).toMatchObject({
        status: 'COMPLETED_ALL_PASSED',
        total_scenarios: 5,
        passed_scenarios: 5,
        // After it passes, each of the five fixes is left out once, and is needed.
        current_iteration: 7,
        forked_version: 2,
        unfixable_count: 0,
        error_message: null,
      });
      expect(session.iterations.slice(2).map(({ failed_ids }) => failed_ids.length)).toEqual([1, 1, 1, 1, 1]);
      expect(session.fixes).toHaveLength(5);
      expect(session.iterations[0]?.prompt_excerpt).toContain(
        'I am sorry about that, and I understand how you feel.',
      );
      expect(await version(1)).toEqual({ ...before, is_latest: false });
      expect(await versions()).toEqual([2, 1]);
      expect((await test.call('GET', `/v1/pathway/${pathway}`)).body).toMatchObject({
        production_version: null,
        staging_version: null,
      });
      const fork = await version(2);
      const data = (id: string) => fork.nodes.find((one) => String(one.id) === id)?.data;
      expect(data('billing')).toMatchObject({ transferNumber: '+14155550123' });
      expect(data('book')).toMatchObject({
        extractVars: [['account_number', 'integer', 'account number, as the caller says it']],
      });
      expect(fork.edges.map((one) => String(one.id))).toEqual([
        ...faultyGraph.edges.map((one) => one.id),
        'greet-hours',
        'pain-emergency',
      ]);
    },
  );
});
