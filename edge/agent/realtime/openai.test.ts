import { afterEach, describe, expect, it } from 'vitest';
import type { ToolResult, ToolRunner } from '#shared/agent/interfaces.ts';
import { manner } from '../../../test/kit/edge/agent.ts';
import { OpenAiRealtimeServer } from '../../../test/kit/speech/openai-realtime-server.ts';
import { RealtimeScene } from '../../../test/kit/speech/realtime-scene.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

async function listen(): Promise<OpenAiRealtimeServer> {
  const lab = await new OpenAiRealtimeServer().listen();
  open.push(lab);
  return lab;
}

function sceneOf(lab: OpenAiRealtimeServer, setup: ConstructorParameters<typeof RealtimeScene>[2] = {}) {
  const scene = new RealtimeScene('openai', lab, setup);
  open.push({ close: () => scene.agent.close('the test is over') });
  return scene;
}

/** Waits until the server's earlier messages have arrived: a turn of the caller that it invents comes after them. */
async function arrived(lab: OpenAiRealtimeServer, scene: RealtimeScene): Promise<void> {
  const before = scene.host.lines('user').length;
  const type = 'conversation.item.input_audio_transcription.completed';
  lab.emit({ type, item_id: 'mark', content_index: 0, transcript: '(mark)' });
  await scene.until('a mark', () => scene.host.lines('user').length > before);
}

function tools(run: ToolRunner['run']): ToolRunner {
  const inputSchema = { type: 'object', properties: { seats: { type: 'integer' } } };
  return { list: () => [{ name: 'book', description: 'Books a table', inputSchema, speech: null }], run };
}
const booked: ToolResult = { ok: true, data: { table: 4 }, error: null, variables: { table: 4 } };

describe('the session', () => {
  it('has the instructions with their variables, the tools, and G.711 in both directions', async () => {
    const lab = await listen();
    lab.answers.push({ text: 'Hello' });
    const scene = await sceneOf(lab, {
      settings: { voice: 'ash', transfer_list: { default: '+14155550111' } },
    }).begin();
    await scene.until('the first answer', () => scene.lines.length > 0);
    expect(scene.agent.sampleRate).toBe(8000);
    expect(lab.session).toMatchObject({
      type: 'realtime',
      model: 'talker',
      audio: {
        input: { format: { type: 'audio/pcmu' }, turn_detection: { interrupt_response: true } },
        output: { format: { type: 'audio/pcmu' }, voice: 'ash' },
      },
    });
    expect(lab.session.instructions).toContain('Book tables for Ada.');
    expect(JSON.stringify(lab.session.tools)).toMatch(/end_conversation.*transfer_call.*press_keys/);
    expect(scene.playAll()).toBe(100);
    expect(scene.lines).toEqual(['assistant: Hello']);
    expect(lab.violations).toEqual([]);
  });

  it('passes the octets of G.711 in both directions as they are', async () => {
    const lab = await listen();
    const scene = await sceneOf(lab, { settings: { wait_for_greeting: true } }).begin();
    scene.say('yes please book');
    // The server has heard them before: their line is the last that comes.
    await scene.until('the line of the words', () => scene.lines.length > 0);
    // Words are levels: one sample that is changed or missing would show as a word that was cut.
    expect(lab.heard).toEqual(['yes please book']);
    expect(lab.octets).toBeGreaterThanOrEqual(3 * 140 * 8 + 300 * 8);
    expect(scene.lines).toEqual(['user: yes please book']);
  });

  it('has PCM at 24 kHz where the server takes no G.711, and 16 kHz on the call', async () => {
    const lab = await listen();
    lab.formats = ['audio/pcm'];
    lab.answers.push({ text: 'Good morning' });
    const scene = await sceneOf(lab).begin();
    await scene.until('the first answer', () => scene.lines.length > 0);
    expect(scene.agent.sampleRate).toBe(16_000);
    expect(lab.session).toMatchObject({ audio: { input: { format: { type: 'audio/pcm', rate: 24_000 } } } });
    expect(scene.playAll()).toBe(240);
    const before = lab.octets;
    for (let i = 0; i < 50; i++) scene.agent.write(new Int16Array(320));
    await scene.until('a second of audio', () => lab.octets - before >= 47_000);
    expect(lab.octets - before).toBeLessThanOrEqual(48_000);
    expect(lab.violations).toEqual([]);
  });

  it.each([
    ['PCMU', ['audio/pcmu', 'audio/pcma', 'audio/pcm'], 'audio/pcmu', 8000],
    ['PCMA', ['audio/pcmu', 'audio/pcma', 'audio/pcm'], 'audio/pcma', 8000],
    ['PCMA', ['audio/pcmu', 'audio/pcm'], 'audio/pcmu', 8000],
    ['Opus', ['audio/pcmu', 'audio/pcma', 'audio/pcm'], 'audio/pcm', 16_000],
    ['G.722', ['audio/pcmu'], 'audio/pcmu', 8000],
  ] as const)('of a caller with %s at a server with %j has %s', async (codec, formats, type, rate) => {
    const lab = await listen();
    lab.formats = [...formats];
    lab.answers.push({ text: 'Hello' });
    const scene = await sceneOf(lab, { codec }).begin();
    await scene.until('the first answer', () => scene.lines.length > 0);
    expect(lab.session).toMatchObject({
      audio: { input: { format: { type } }, output: { format: { type } } },
    });
    expect(scene.agent.sampleRate).toBe(rate);
    expect(scene.playAll()).toBe(100);
    expect(lab.violations).toEqual([]);
  });

  it('takes the format that the server says to have', async () => {
    const lab = await listen();
    lab.ownFormat = 'audio/pcma';
    const scene = await sceneOf(lab, { settings: { wait_for_greeting: true } }).begin();
    scene.say('book a table');
    await scene.until('words', () => lab.heard.length > 0);
    expect(lab.heard[0]?.split(' ')).toHaveLength(3);
    expect(scene.agent.sampleRate).toBe(8000);
  });

  it('cannot begin with a wrong key, and its error does not have it', async () => {
    const lab = await listen();
    const scene = sceneOf(lab, { apiKey: 'a-wrong-key' });
    const failed = scene.agent.prepare();
    await expect(failed).rejects.toThrow(/cannot be used: .*401/);
    await expect(failed).rejects.not.toThrow(/a-wrong-key/);
    expect(scene.clock.pending).toBe(0);
  });

  it('cannot begin where the server takes none of the formats', async () => {
    const lab = await listen();
    lab.formats = [];
    const scene = sceneOf(lab);
    await expect(scene.agent.prepare()).rejects.toThrow(/rejected the session: Invalid value: 'audio\/pcm'/);
    expect(scene.clock.pending).toBe(0);
  });

  it('says the first sentence, or waits for the greeting', async () => {
    const lab = await listen();
    const first = { first_sentence: 'Welcome to {{restaurant}}.' };
    await sceneOf(lab, { settings: first }).begin();
    const waiting = await sceneOf(lab, { settings: { ...first, wait_for_greeting: true } }).begin();
    lab.answers.push({ text: 'Hi' });
    waiting.say('yes');
    await waiting.until('an answer', () => waiting.lines.length === 2);
    expect(lab.asked).toHaveLength(1);
    expect(lab.asked[0]?.instructions).toMatch(/Now say exactly this: Welcome to Ada\.$/);
  });
});

describe('an interruption', () => {
  it('tells the server and the transcript what was heard, to the millisecond and the word', async () => {
    const lab = await listen();
    lab.answers.push({ text: 'We have a table for two tonight' });
    const scene = await sceneOf(lab).begin();
    await scene.until('the answer', () => scene.lines.length === 1);
    expect(scene.play(9)).toBe(9);
    scene.say('thanks');
    await scene.until('the truncation', () => lab.truncated.length > 0);
    expect(scene.play(50)).toBe(0);
    expect(lab.truncated).toEqual([{ item: 'item-0', ms: 180 }]);
    expect(scene.host.lines('assistant')).toEqual(['assistant: We have a']);
    expect(lab.violations).toEqual([]);
  });

  it('cuts an answer that is still being made, and does not play what comes late', async () => {
    const lab = await listen();
    lab.answers.push({ text: 'We have a table', unfinished: true }, { text: 'Yes' });
    const scene = await sceneOf(lab).begin();
    await scene.until('the sound', () => scene.agent.queuedMs === 300);
    await arrived(lab, scene);
    expect(scene.play(8)).toBe(8);
    scene.say('please');
    await scene.until('the next answer', () => scene.host.lines('assistant').length === 2);
    const late = Buffer.alloc(160).toString('base64');
    lab.emit({ type: 'response.output_audio.delta', item_id: 'item-0', content_index: 0, delta: late });
    await arrived(lab, scene);
    expect(lab.truncated).toEqual([{ item: 'item-0', ms: 160 }]);
    expect(scene.playAll()).toBe(60);
    expect(scene.host.lines('assistant')).toEqual(['assistant: We have', 'assistant: Yes']);
  });

  it('withdraws an answer of which nothing was heard', async () => {
    const lab = await listen();
    lab.answers.push({ text: 'Hello' });
    const scene = await sceneOf(lab).begin();
    await scene.until('the answer', () => scene.lines.length === 1);
    scene.say('bye');
    await scene.until('the truncation', () => lab.truncated.length > 0);
    expect(lab.truncated).toEqual([{ item: 'item-0', ms: 0 }]);
    expect(scene.host.lines('assistant')).toEqual([]);
  });

  it('does not happen when interruptions are blocked', async () => {
    const lab = await listen();
    lab.answers.push({ text: 'We have a table' });
    const scene = await sceneOf(lab, { settings: { block_interruptions: true } }).begin();
    await scene.until('the answer', () => scene.lines.length === 1);
    scene.play(2);
    scene.say('please');
    await scene.until('the words', () => scene.lines.length === 2);
    expect(scene.playAll()).toBe(13 * 20);
    expect(lab.truncated).toEqual([]);
    expect(lab.session).toMatchObject({
      audio: { input: { turn_detection: { interrupt_response: false } } },
    });
  });
});

describe('what the model asks for', () => {
  it('runs each tool once, and asks for one answer to all results', async () => {
    const lab = await listen();
    const runs: unknown[] = [];
    const first = { id: 'c1', name: 'book', input: { seats: 2 } };
    lab.answers.push({ calls: [first, { ...first, id: 'c2' }] }, { text: 'Booked' });
    const scene = sceneOf(lab, {
      tools: tools(async (name, input) => {
        runs.push([name, input]);
        return booked;
      }),
    });
    await scene.begin();
    await scene.until('the outputs', () => lab.outputs.length === 2);
    // A server that says the same call again, as one does that repeats an item.
    const item = { type: 'function_call', call_id: 'c1', name: 'book', arguments: '{"seats":2}' };
    lab.emit({ type: 'response.output_item.done', item });
    await scene.until('the answer', () => scene.host.lines('assistant').length === 1);
    await arrived(lab, scene);
    expect(runs).toEqual([
      ['book', { seats: 2 }],
      ['book', { seats: 2 }],
    ]);
    expect(lab.outputs.map(({ call }) => call)).toEqual(['c1', 'c2']);
    expect(lab.outputs[0]?.output).toEqual({ ok: true, data: { table: 4 }, error: null });
    expect(lab.asked).toHaveLength(2);
    expect(scene.host.learned).toMatchObject({ table: 4, restaurant: 'Ada' });
    expect(lab.violations).toEqual([]);
  });

  it('tells the model no more of a result than it may', async () => {
    const lab = await listen();
    lab.answers.push({ calls: [{ id: 'c1', name: 'book', input: {} }] });
    const long = { ...booked, data: 'a'.repeat(20_000) };
    const scene = await sceneOf(lab, { tools: tools(async () => long) }).begin();
    await scene.until('the output', () => lab.outputs.length === 1);
    expect(JSON.stringify(lab.outputs[0]?.output).length).toBeLessThan(8100);
  });

  it('ends the call when the goodbye has been played', async () => {
    const lab = await listen();
    lab.answers.push({ text: 'Bye', calls: [{ id: 'c1', name: 'end_conversation', input: {} }] });
    const scene = await sceneOf(lab).begin();
    await scene.until('the goodbye', () => scene.lines.length === 1);
    await arrived(lab, scene);
    scene.clock.advance(5000);
    expect(scene.host.hangups).toEqual([]);
    scene.playAll();
    await arrived(lab, scene);
    scene.clock.advance(200);
    expect(scene.host.hangups).toEqual(['the model ended the call']);
  });

  it('goes on when the caller speaks into the goodbye', async () => {
    const lab = await listen();
    lab.answers.push({ text: 'Bye', calls: [{ id: 'c1', name: 'end_conversation', input: {} }] });
    const scene = await sceneOf(lab).begin();
    await scene.until('the goodbye', () => scene.lines.length === 1);
    await arrived(lab, scene);
    scene.say('please');
    await scene.until('the output', () => lab.outputs.length === 1);
    expect(lab.outputs[0]?.output).toMatchObject({ ok: false });
    scene.clock.advance(5000);
    expect(scene.host.hangups).toEqual([]);
  });

  it('transfers to a target of the list, and says why a transfer failed', async () => {
    const lab = await listen();
    const transfer = { name: 'transfer_call', input: { to: 'sales' } };
    lab.answers.push({
      calls: [
        { id: 'c1', ...transfer },
        { id: 'c2', ...transfer, input: { to: 'else' } },
      ],
    });
    const scene = sceneOf(lab, { settings: { transfer_list: { sales: '+14155550111' } } });
    scene.host.outcome = { ok: false, code: 'target_failed', sipCode: 486, reason: 'The target is busy.' };
    await scene.begin();
    await scene.until('the outputs', () => lab.outputs.length === 2);
    expect(scene.host.transfers).toEqual([{ target: '+14155550111', method: 'bridge', consult: null }]);
    expect(lab.outputs).toContainEqual({ call: 'c1', output: { ok: false, error: 'The target is busy.' } });
    expect(lab.outputs).toContainEqual({
      call: 'c2',
      output: { ok: false, error: 'there is no transfer target named "else"' },
    });
  });

  it('sends keys, and refuses more calls at a time than there may be', async () => {
    const lab = await listen();
    const never = new Promise<ToolResult>(() => undefined);
    const many = Array.from({ length: 9 }, (_, i) => ({ id: `t${i}`, name: 'book', input: {} }));
    lab.answers.push({ calls: [{ id: 'k', name: 'press_keys', input: { keys: '12w#' } }] }, { calls: many });
    const scene = await sceneOf(lab, { tools: tools(() => never) }).begin();
    await scene.until('the outputs', () => lab.outputs.length === 2);
    expect(scene.host.keysSent).toEqual(['12w#']);
    expect(lab.outputs[1]).toEqual({
      call: 't8',
      output: { ok: false, error: 'too many tools were called' },
    });
  });
});

describe('keys of the caller', () => {
  it('are told as one entry, and interrupt', async () => {
    const lab = await listen();
    lab.answers.push({ text: 'Please enter your number', unfinished: true }, { text: 'Thanks' });
    const scene = await sceneOf(lab).begin();
    await scene.until('the sound', () => scene.agent.queuedMs === 480);
    await arrived(lab, scene);
    scene.play(5);
    for (const digit of '42') scene.agent.dtmf({ digit, durationMs: 100 });
    await scene.until('the end of the answer', () => lab.cancelled > 0);
    expect(lab.added).toEqual([]);
    scene.clock.advance(1500);
    await scene.until('an answer', () => scene.host.lines('assistant').length === 2);
    expect(lab.added).toEqual(['system: The caller pressed the keys 42 on the telephone.']);
    expect(lab.truncated).toEqual([{ item: 'item-0', ms: 100 }]);
    expect(scene.lines).toEqual([
      'user: (mark)',
      'assistant: Please',
      'user: Pressed 42',
      'assistant: Thanks',
    ]);
  });

  it('are ignored where the settings say so', async () => {
    const lab = await listen();
    const scene = await sceneOf(lab, { settings: { ...manner, ignore_button_press: true } }).begin();
    scene.agent.dtmf({ digit: '#', durationMs: 100 });
    await arrived(lab, scene);
    expect(lab.added).toEqual([]);
  });
});
