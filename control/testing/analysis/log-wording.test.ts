import { beforeEach, describe, expect, it } from 'vitest';
import { sentenceOf } from '#shared/agent/log-facts.ts';
import { conversation } from '../../../test/kit/control/agent-testing.ts';
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
import { TestingClient } from '../../../test/kit/control/test-runs.ts';
import { everyFact } from '../../../test/kit/log-facts.ts';
import { fromJson, toJson } from '../../db/index.ts';
import type { ConversationRecord } from '../judging/ports.ts';
import { type FailedCase, testedGraph } from './case.ts';
import { detect } from './detect.ts';
import { loadCase } from './load-case.ts';

describe('every kind of fact', () => {
  const tested = testedGraph(faultyGraph);
  const record = {
    ...conversation({ nodes_visited: ['greet'] }),
    get log(): never {
      throw new Error('a detector reads the sentences of the log');
    },
  };
  const failed = (facts: FailedCase['facts']): FailedCase => ({
    scenario: { name: 's', category: 'CUSTOM', request_data: null, assertions: [], max_turns: 5 },
    record,
    facts,
    results: [],
    tested,
    agentByRules: true,
  });

  it.each(everyFact.map((fact) => [sentenceOf(fact), fact] as const))('%s', (_sentence, fact) => {
    for (const node_id of [null, ...(tested?.graph.nodes.keys() ?? [])]) {
      expect(() => detect(failed([{ node_id, fact }]))).not.toThrow();
    }
  });
});

describe('the analysis of a stored run', () => {
  const test = emptiedForEach(startControl);
  let client: TestingClient;
  beforeEach(() => {
    client = new TestingClient(test);
  });

  it.each([
    ['a missing edge', missingEdge],
    ['an unreachable node', unreachableNode],
    ['a missing variable', missingVariable],
    ['a wrong transfer number', wrongTransfer],
    ['a harsh prompt', harshPrompt],
  ])('does not depend on the words of its log: %s', async (_fault, scenario) => {
    const pathway_id = await client.pathway(faultyGraph);
    const { id } = await client.run(await client.scenario({ pathway_id, ...scenario }));
    const { db } = test.control.services.database;
    const store = async (change: (line: ConversationRecord['log'][number]) => object) => {
      const { log } = await db
        .selectFrom('test_run_records')
        .select('log')
        .where('run_id', '=', String(id))
        .executeTakeFirstOrThrow();
      const lines = fromJson<ConversationRecord['log']>(log).map(change);
      expect(lines.length).toBeGreaterThan(0);
      await db
        .updateTable('test_run_records')
        .set({ log: toJson(lines) })
        .where('run_id', '=', String(id))
        .execute();
    };
    const findings = async () => {
      const run = await db
        .selectFrom('test_runs')
        .selectAll()
        .where('id', '=', String(id))
        .executeTakeFirstOrThrow();
      return detect(await loadCase(db, run));
    };
    const found = await findings();
    expect(found.length).toBeGreaterThan(0);
    const sentences: string[] = [];
    await store((line) => {
      sentences.push(line.message);
      return { ...line, message: 'reworded' };
    });
    expect(await findings()).toEqual(found);
    // A version before this one stored the same sentences without facts.
    await store(({ at, node_id }) => ({ at, node_id, message: sentences.shift() }));
    expect(await findings()).toEqual(found);
  });
});
