/** Runs with an agent that lets the other side speak first. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startControl, type TestControl } from '../../../test/kit/control/harness.ts';
import { TestingClient } from '../../../test/kit/control/test-runs.ts';
import { ModelServer } from '../../../test/kit/fakes/model-server.ts';

interface Line {
  readonly role: string;
  readonly content: string;
  readonly turn: number;
}

let test: TestControl;
let client: TestingClient;
let server: ModelServer | null = null;

afterEach(async () => {
  await test.close();
  await server?.close();
  server = null;
});

async function persona(call_config: object): Promise<string> {
  const body = { name: 'Flora', personality_prompt: 'You sell flowers.', call_config };
  const made = await test.call('POST', '/v1/personas', { body });
  expect(made.status).toBe(200);
  return String(made.body.data?.id);
}

async function linesOf(call_config: object, more: object = {}): Promise<readonly Line[]> {
  const scenario = await client.scenario({
    persona_id: await persona(call_config),
    tester_persona_prompt: 'You want to order roses.',
    max_turns: 2,
    ...more,
  });
  return (await client.run(scenario, { seed: 1 })).chat_history;
}

describe('a caller by rules', () => {
  beforeEach(async () => {
    test = await startControl();
    client = new TestingClient(test);
  });

  it('speaks first where the agent waits for a greeting, and is answered in the same turn', async () => {
    const lines = await linesOf({ wait_for_greeting: true });
    expect(lines.slice(0, 2)).toMatchObject([
      { role: 'user', content: expect.stringContaining('order roses'), turn: 1 },
      { role: 'assistant', turn: 1 },
    ]);
  });

  it('waits for the agent to speak first where it does not', async () => {
    const lines = await linesOf({ wait_for_greeting: false });
    expect(lines.slice(0, 2)).toMatchObject([
      { role: 'assistant', turn: 0 },
      { role: 'user', content: expect.stringContaining('order roses'), turn: 1 },
    ]);
  });

  it('starts with the first recorded line of a replay', async () => {
    const input_messages = [
      { role: 'user', content: 'Hello?' },
      { role: 'user', content: 'Roses, please.' },
    ];
    const lines = await linesOf({ wait_for_greeting: true }, { scenario_type: 'REPLAY', input_messages });
    expect(lines.filter(({ role }) => role === 'user')).toMatchObject([
      { content: 'Hello?', turn: 1 },
      { content: 'Roses, please.', turn: 2 },
    ]);
    expect(lines[0]?.role).toBe('user');
  });
});

describe('a caller by a model', () => {
  it('is asked before the agent, and the agent hears what it said', async () => {
    server = await ModelServer.start();
    test = await startControl(
      { LLM_BASE_URL: server.url, LLM_MODEL: 'm' },
      {},
      {},
      { limits: { models: { maxRetries: 0 } } },
    );
    client = new TestingClient(test);
    const says = (text: string) => JSON.stringify({ action: 'say', text, keys: '', reason: '' });
    server.record(
      { text: [says('Hello, do you have roses?')] },
      { text: ['We do.'], calls: [{ name: 'end_conversation', input: {} }] },
    );
    expect(await linesOf({ wait_for_greeting: true })).toMatchObject([
      { role: 'user', content: 'Hello, do you have roses?', turn: 1 },
      { role: 'assistant', content: 'We do.', turn: 1 },
    ]);
    const [asked, answered] = server.requests;
    expect(asked?.messages.at(-1)?.content).toContain('The agent says nothing.');
    expect(answered?.messages.at(-1)).toEqual({ role: 'user', content: 'Hello, do you have roses?' });
  });
});
