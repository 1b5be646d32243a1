/** Sessions whose fixes are proposed by a language model, over real HTTP. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { RunList } from '#shared/api/agent-testing/runs.ts';
import { faultyGraph, hopeless, missingEdge } from '../../../test/kit/control/dental.ts';
import { startControl } from '../../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../../test/kit/control/routes-of-file.ts';
import { TornadoClient } from '../../../test/kit/control/tornado.ts';

let server: Server;
let answer: object = {};
let requests = 0;
let client: TornadoClient;
let pathway = '';
beforeAll(async () => {
  server = createServer((request, response) => {
    requests++;
    request.resume();
    const message = { role: 'assistant', content: JSON.stringify(answer) };
    const choices = [{ index: 0, finish_reason: 'stop', message }];
    const body = { id: 'a', object: 'chat.completion', created: 0, model: 'judge', choices };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
const test = emptiedForEach(() => {
  const { port } = server.address() as AddressInfo;
  return startControl({ LLM_TEST_BASE_URL: `http://127.0.0.1:${port}`, LLM_JUDGE_MODEL: 'judge' });
});
beforeEach(async () => {
  requests = 0;
  client = new TornadoClient(test);
  pathway = await client.pathway(faultyGraph);
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const change = (edit: object) => ({ why: 'The agent does not sing.', confidence: 1, edit });

it('applies valid proposals of the model, besides the findings of rules', async () => {
  await client.scenario({ pathway_id: pathway, ...hopeless });
  await client.scenario({ pathway_id: pathway, ...missingEdge });
  answer = {
    changes: [
      change({ kind: 'set_words', node: 'booked', member: 'text', words: 'La la la. Goodbye.' }),
      change({ kind: 'set_words', node: 'ghost', member: 'text', words: 'Boo.' }),
    ],
  };
  expect(await client.endedSession(await client.tornado(pathway))).toMatchObject({
    status: 'COMPLETED_ALL_PASSED',
    iterations: [
      {
        fix_plan: {
          fixes: [
            { target_node: 'greet', type: 'flow_change', status: 'applied' },
            { target_node: 'booked', type: 'prompt_edit', status: 'applied' },
          ],
        },
        prompt_excerpt: 'La la la. Goodbye.',
      },
      { failed_ids: [] },
      { failed_ids: [expect.any(String)] },
      { failed_ids: [expect.any(String)] },
    ],
  });
});

it('hands back no fix that was not needed', async () => {
  await client.scenario({ pathway_id: pathway, ...hopeless });
  const idle = { kind: 'set_words', node: 'hours', member: 'text', words: 'We are always open.' };
  answer = {
    changes: [
      change({ kind: 'set_words', node: 'booked', member: 'text', words: 'La la la. Goodbye.' }),
      change(idle),
    ],
  };
  const session = await client.endedSession(await client.tornado(pathway));
  expect(session).toMatchObject({
    status: 'COMPLETED_ALL_PASSED',
    current_iteration: 3,
    forked_version: 3,
    held_out: { variants: 3, passed: 3 },
    fixes: [{ target_node: 'booked' }],
    iterations: [
      {
        fix_plan: {
          fixes: [
            { target_node: 'booked', status: 'applied' },
            { target_node: 'hours', status: 'reverted' },
          ],
        },
      },
      { failed_ids: [] },
      { failed_ids: [], held_out: { variants: 3, passed: 3 } },
    ],
  });
  const { runs } = (await client.call('GET', `/runs?pathway_id=${pathway}`)).read(RunList);
  // Iterations, and the variants of both versions that passed, in the one queue.
  expect(runs).toHaveLength(3 + 6);
});

it('uses no words that only the caller of the test has', async () => {
  await client.scenario({ pathway_id: pathway, ...hopeless });
  answer = {
    changes: [
      change({ kind: 'set_words', node: 'booked', member: 'text', words: 'La la la, 4711. Goodbye.' }),
      change({ kind: 'add_edge', source: 'greet', target: 'booked', label: 'Says 4711', description: '' }),
    ],
  };
  expect(await client.endedSession(await client.tornado(pathway))).toMatchObject({
    status: 'STUCK',
    forked_version: null,
  });
});

it("ends in ERROR when the model's output is unusable three times, and names the model", async () => {
  await client.scenario({ pathway_id: pathway, ...hopeless });
  answer = { nonsense: true };
  const session = await client.endedSession(await client.tornado(pathway));
  expect(session).toMatchObject({ status: 'ERROR', forked_version: null });
  expect(String(session.error_message)).toMatch(/^The language model judge at http:\/\/127\.0\.0\.1:\d+ is/);
  // Each attempt asks twice: an invalid answer is sent back once.
  expect(requests).toBe(6);
});
