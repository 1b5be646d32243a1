/** A model holds a part of a pathway's call: a real socket to the laboratory server, audio and time of the test. */
import { afterEach, describe, expect, it } from 'vitest';
import type { WebhookResult } from '#shared/agent/conversation.ts';
import type { ToolRunner } from '#shared/agent/interfaces.ts';
import { countingVoice } from '../../../test/kit/edge/agent.ts';
import { edge, hear, menu, node, setUp } from '../../../test/kit/edge/pathway-agent.ts';
import { eventually } from '../../../test/kit/programs/eventually.ts';
import { GeminiLiveServer } from '../../../test/kit/speech/gemini-live-server.ts';
import { type LabServer, labKey } from '../../../test/kit/speech/lab-server.ts';
import { OpenAiRealtimeServer } from '../../../test/kit/speech/openai-realtime-server.ts';
import { quiet, spoken } from '../../../test/kit/speech/words.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

const config = {
  ...menu,
  nodes: [
    node('talk', 'Realtime', {
      isStart: true,
      connection: 'lab',
      text: 'Welcome.',
      prompt: 'Book tables.',
      extractVars: [['seats', 'integer', 'number of people']],
      tools: ['TL-1'],
    }),
    node('booked', 'End Call', { text: 'Booked for {{seats}}.' }),
    node('sorry', 'End Call', { text: 'Sorry.' }),
  ],
  edges: [edge('talk', 'booked', 'has a table'), edge('talk', 'sorry', 'failure')],
  tools: [
    {
      tool_id: 'TL-1',
      name: 'find',
      description: 'Finds',
      input_schema: null,
      speech: null,
      timeout_ms: 1000,
    },
  ],
};

async function listen<Server extends LabServer>(server: Server): Promise<Server> {
  await server.listen();
  open.push(server);
  return server;
}

function scene(
  lab: LabServer,
  protocol: 'openai' | 'gemini' = 'openai',
  more: Parameters<typeof setUp>[0] = {},
) {
  const url = lab.url.href;
  const realtime = [{ id: 'lab', protocol, url, model: 'talker', api_key: labKey }];
  const parts = setUp({ config, realtime, ...more });
  const { agent, host } = parts;
  open.push({ close: () => agent.close('the test is over') });
  const lines = () => host.lines('user', 'assistant');
  return {
    ...parts,
    lines,
    until: (what: string, is: () => boolean) => eventually(what, () => is() || null),
    say: (words: string) => {
      for (const frame of [...spoken(words), ...quiet(400)]) agent.write?.(frame);
    },
    /** Plays until a condition holds. */
    playUntil: (what: string, is: () => boolean) => {
      const frame = new Int16Array(160);
      return eventually(what, () => {
        while (agent.read(frame)) {}
        return is() || null;
      });
    },
  };
}

describe('a model in a node', () => {
  it('speaks, hears, hands back variables, and the pathway goes on with its own voice', async () => {
    const lab = await listen(new OpenAiRealtimeServer());
    lab.answers.push(
      { text: 'Welcome.' },
      {
        text: 'Fine.',
        calls: [{ id: 'c', name: 'hand_back', input: { exit: 'has a table', variables: { seats: 2 } } }],
      },
    );
    const { begin, lines, host, say, playUntil } = scene(lab);
    await begin();
    await playUntil('the welcome', () => lines().length === 1);
    say('a table for two');
    await playUntil('the pathway', () => lines().length === 4);
    expect(lines()).toEqual([
      'assistant: Welcome.',
      'user: a table for two',
      'assistant: Fine.',
      'assistant: Booked for 2.',
    ]);
    expect(host.entries.find(({ text }) => text === 'Fine.')).toMatchObject({
      node_id: 'talk',
      node_name: 'talk',
    });
    expect(host.learned).toMatchObject({ seats: 2 });
    expect(JSON.stringify(lab.session.tools)).toMatch(/press_keys.*hand_back/);
    expect(JSON.stringify(lab.session.tools)).not.toMatch(/end_conversation|transfer_call/);
    await eventually('the end of the session', () => lab.open === 0 || null);
    expect(lab.violations).toEqual([]);
  });

  it('takes over in the midst of a turn: those words are not answered after the hand-back', async () => {
    const lab = await listen(new OpenAiRealtimeServer());
    const back = { id: 'c', name: 'hand_back', input: { exit: 'has a table' } };
    lab.answers.push({ text: 'Welcome.' }, { calls: [back] });
    const texts = ['before the model', 'to the agent'];
    const answer = Promise.withResolvers<WebhookResult>();
    const { begin, agent, host, lines, playUntil, say } = scene(lab, 'openai', {
      stt: { transcribe: async () => texts.shift() ?? 'nothing more' },
      webhook: () => answer.promise,
      config: {
        ...config,
        nodes: [
          node('ask', 'Webhook', { isStart: true, url: 'https://hooks.example.com' }),
          { ...config.nodes[0], data: { ...config.nodes[0]?.data, isStart: false } },
          node('booked', 'Default', { text: 'Booked. What else?' }),
          node('sorry', 'End Call', { text: 'Sorry.' }),
        ],
        edges: [edge('ask', 'talk', 'success'), ...config.edges, edge('booked', 'sorry', 'else')],
      },
    });
    await begin();
    hear(agent.write, 3000, 30);
    answer.resolve({ status: 200, body: null, error: null });
    await playUntil('the welcome', () => lines().length === 1);
    say('a table for two');
    await playUntil('the pathway', () => lines().includes('assistant: Booked. What else?'));
    const heardByAgent = () => host.lines('user').filter((line) => line.includes(' the agent'));
    hear(agent.write, 3000, 30);
    hear(agent.write, 0, 100);
    await playUntil('what the caller says to the agent', () => heardByAgent().length > 0);
    expect(host.lines('user')).toEqual(['user: a table for two', 'user: to the agent']);
  });

  it('uses the tools of the node, whose variables the pathway learns', async () => {
    const lab = await listen(new OpenAiRealtimeServer());
    const back = { id: 'c2', name: 'hand_back', input: { exit: 'has a table' } };
    lab.answers.push({ calls: [{ id: 'c1', name: 'find', input: {} }] }, { calls: [back] });
    const runner: ToolRunner = {
      list: () => [{ name: 'find', description: 'Finds', inputSchema: {}, speech: null }],
      run: async () => ({ ok: true, data: 1, error: null, variables: { seats: 9 } }),
    };
    const { begin, lines, playUntil } = scene(lab, 'openai', { tools: () => runner });
    await begin();
    await playUntil('the pathway', () => lines().length === 1);
    expect(lines()).toEqual(['assistant: Booked for 9.']);
    expect(lab.outputs[0]?.output).toMatchObject({ ok: true, data: 1 });
  });

  it('with 16 kHz is heard and hears on a call of 8 kHz', async () => {
    const lab = await listen(new OpenAiRealtimeServer());
    lab.formats = ['audio/pcm'];
    lab.answers.push({ text: 'Welcome.' });
    const { agent, begin, lines, say, until } = scene(lab);
    await begin();
    await until('the welcome', () => lines().length === 1);
    const frame = new Int16Array(160);
    let loud = 0;
    while (agent.read(frame)) loud += Number(Math.abs(frame[80] ?? 0) > 800);
    expect(loud).toBeGreaterThanOrEqual('Welcome.'.length - 2);
    const before = lab.octets;
    say('yes');
    await until('the turn of the caller', () => lab.heard.length === 1);
    expect(lab.octets - before).toBeGreaterThan(20_000);
  });

  it('of another protocol does the same', async () => {
    const lab = await listen(new GeminiLiveServer());
    lab.answers.push({ calls: [{ id: 'c', name: 'hand_back', input: { exit: 'has a table' } }] });
    const { begin, lines, playUntil } = scene(lab, 'gemini');
    await begin();
    await playUntil('the pathway', () => lines().length === 1);
    expect(lines()).toEqual(['assistant: Booked for .']);
  });

  it('that cannot be reached, and one that the organization does not have, follow the edge for failures', async () => {
    const lab = await listen(new OpenAiRealtimeServer());
    lab.faults.refuse = 401;
    const refused = scene(lab);
    await refused.begin();
    await refused.playUntil('the failure', () => refused.lines().length === 1);
    expect(refused.host.lines('agent-action').join()).toMatch(/the realtime model failed: .*401/);
    expect(refused.lines()).toEqual(['assistant: Sorry.']);
    const none = setUp({ config, tts: countingVoice });
    await none.begin();
    expect(none.host.lines('agent-action').join()).toContain('has no realtime connection "lab"');
    expect(none.host.lines('assistant')).toEqual(['assistant: Sorry.']);
    none.agent.close('over');
  });

  it('that is lost for good hands over without an apology', async () => {
    const lab = await listen(new OpenAiRealtimeServer());
    lab.answers.push({ text: 'Welcome.' });
    const { begin, clock, lines, playUntil } = scene(lab);
    await begin();
    await playUntil('the welcome', () => lines().length === 1);
    lab.faults.refuse = 503;
    lab.cut();
    const passes = () => clock.advance(100);
    await playUntil('the failure', () => {
      passes();
      return lines().length === 2;
    });
    expect(lines()).toEqual(['assistant: Welcome.', 'assistant: Sorry.']);
  });

  it('ends with the call', async () => {
    const lab = await listen(new OpenAiRealtimeServer());
    lab.answers.push({ text: 'Welcome.' });
    const { agent, begin, clock, lines, playUntil } = scene(lab);
    await begin();
    await playUntil('the welcome', () => lines().length === 1);
    agent.close('the caller has hung up');
    await eventually('the end of the session', () => lab.open === 0 || null);
    expect(lines()).toEqual(['assistant: Welcome.']);
    expect(clock.pending).toBe(0);
  });

  it('gets keys as one entry', async () => {
    const lab = await listen(new OpenAiRealtimeServer());
    lab.answers.push({ text: 'Welcome.' });
    const { begin, lines, playUntil, press } = scene(lab);
    await begin();
    await playUntil('the welcome', () => lines().length === 1);
    await press('42#');
    await eventually('the keys', () => lab.added.length > 0 || null);
    expect(lab.added.at(-1)).toContain('pressed the keys 42#');
  });
});
