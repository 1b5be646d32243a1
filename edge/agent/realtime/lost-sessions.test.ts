/** What a call keeps when its session with the model is lost: who speaks first, what the model is told, and which calls run. */
import { afterEach, describe, expect, it } from 'vitest';
import type { ToolResult } from '#shared/agent/interfaces.ts';
import { ElevenLabsAgentsServer } from '../../../test/kit/speech/elevenlabs-agents-server.ts';
import { GeminiLiveServer } from '../../../test/kit/speech/gemini-live-server.ts';
import { fields, type LabSession, type LabSocket } from '../../../test/kit/speech/lab-server.ts';
import { OpenAiRealtimeServer } from '../../../test/kit/speech/openai-realtime-server.ts';
import { RealtimeScene } from '../../../test/kit/speech/realtime-scene.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

type Setup = ConstructorParameters<typeof RealtimeScene>[2];

async function openAi(setup: Setup = {}) {
  const lab = await new OpenAiRealtimeServer().listen();
  const scene = new RealtimeScene('openai', lab, setup);
  open.push(lab, { close: () => scene.agent.close('the test is over') });
  return { lab, scene };
}

/** Lets timers and sockets take turns until something is so. */
async function passing(scene: RealtimeScene, what: string, is: () => boolean): Promise<void> {
  await scene.until(what, () => {
    if (!is()) scene.clock.advance(50);
    return is();
  });
}

/** Tools that answer when the test says so. */
function slowTools() {
  const runs: { readonly end: () => void; readonly signal: AbortSignal }[] = [];
  const answer: ToolResult = { ok: true, data: { table: 4 }, error: null, variables: {} };
  return {
    runs,
    tools: {
      list: () => [{ name: 'book', description: 'Books a table', inputSchema: {}, speech: null }],
      run: (_name: string, _input: unknown, signal: AbortSignal) => {
        const ended = Promise.withResolvers<ToolResult>();
        runs.push({ end: () => ended.resolve(answer), signal });
        return ended.promise;
      },
    },
  };
}

const book = { id: 'c1', name: 'book', input: {} };

it('the model speaks first although its session was lost while the telephone rang', async () => {
  const { lab, scene } = await openAi({ settings: { first_sentence: 'Welcome.' } });
  await scene.agent.prepare();
  lab.answers.push({ text: 'Welcome.' });
  lab.cut();
  await scene.until('the loss', () => scene.log.warnings.length > 0);
  scene.agent.start();
  await passing(scene, 'the first words', () => scene.lines.length > 0);
  expect(scene.lines).toEqual(['assistant: Welcome.']);
  expect(lab.asked).toHaveLength(1);
});

it('the model speaks first in the next session when nothing was heard of the first one', async () => {
  const { lab, scene } = await openAi();
  lab.answers.push({ unfinished: true }, { text: 'Hello' });
  await scene.begin();
  await scene.until('the request', () => lab.asked.length === 1);
  lab.cut();
  await passing(scene, 'the first words', () => scene.lines.length > 0);
  expect(scene.lines).toEqual(['assistant: Hello']);
});

it('the model waits for the caller in the next session too', async () => {
  const { lab, scene } = await openAi({ settings: { wait_for_greeting: true } });
  await scene.begin();
  lab.cut();
  await passing(scene, 'the next session', () => lab.connections === 2 && lab.open === 1);
  scene.say('yes please');
  await passing(scene, 'the words', () => scene.lines.length > 0);
  expect(lab.asked).toEqual([]);
});

it('the next session gets the result of a tool that ended while there was none', async () => {
  const { tools, runs } = slowTools();
  const { lab, scene } = await openAi({ tools });
  lab.answers.push({ text: 'One moment', calls: [book] });
  await scene.begin();
  await scene.until('the tool', () => runs.length === 1);
  lab.cut();
  await scene.until('the loss', () => scene.log.warnings.length > 0);
  runs[0]?.end();
  lab.answers.push({ text: 'Table four' });
  await passing(scene, 'the result', () => lab.added.some((line) => line.includes('"table":4')));
  await passing(scene, 'the answer', () => scene.lines.includes('assistant: Table four'));
});

it('the next session gets the keys and the supervisor text that came while there was none', async () => {
  const { lab, scene } = await openAi();
  lab.answers.push({ text: 'Press one' });
  await scene.begin();
  await scene.until('the first words', () => scene.lines.length === 1);
  lab.cut();
  await scene.until('the loss', () => scene.log.warnings.length > 0);
  scene.agent.dtmf({ digit: '1', durationMs: 100 });
  scene.agent.dtmf({ digit: '#', durationMs: 100 });
  scene.agent.instruct('Offer a discount.');
  lab.answers.push({ text: 'You pressed one' });
  await passing(scene, 'the answer', () => scene.lines.includes('assistant: You pressed one'));
  expect(lab.added.filter((line) => line.includes('pressed the keys'))).toEqual([
    'system: The caller pressed the keys 1# on the telephone.\nOffer a discount.',
  ]);
});

it('the next session is asked for one answer to all: the first words, with what was told before them', async () => {
  const { lab, scene } = await openAi({ settings: { first_sentence: 'Welcome.' } });
  lab.answers.push({ unfinished: true }, { text: 'Welcome.' });
  await scene.begin();
  await scene.until('the request', () => lab.asked.length === 1);
  lab.cut();
  await scene.until('the loss', () => scene.log.warnings.length > 0);
  scene.agent.instruct('Offer a discount.');
  await passing(scene, 'the first words', () => scene.lines.length > 0);
  scene.playAll();
  expect(lab.added).toEqual(['system: Offer a discount.']);
  expect(lab.asked.map((answer) => String(answer.instructions))).toEqual([
    expect.stringMatching(/Now say exactly this: Welcome\.$/),
    expect.stringMatching(/Now say exactly this: Welcome\.$/),
  ]);
  // Nothing was refused, and nothing more is asked for.
  const later = scene.clock.elapsed() + 12_000;
  await passing(scene, '12 s', () => scene.clock.elapsed() >= later);
  expect(lab.asked).toHaveLength(2);
  expect(scene.log.warnings).toHaveLength(1);
});

describe.each(['openai', 'gemini', 'elevenlabs'] as const)('with a server of %s', (protocol) => {
  const servers = {
    openai: OpenAiRealtimeServer,
    gemini: GeminiLiveServer,
    elevenlabs: ElevenLabsAgentsServer,
  };
  async function greeted() {
    const lab = await new servers[protocol]().listen();
    const scene = new RealtimeScene(protocol, lab);
    open.push(lab, { close: () => scene.agent.close('the test is over') });
    lab.answers.push({ text: 'Hello' });
    await scene.begin();
    await passing(scene, 'the first words', () => scene.lines.length === 1);
    scene.playAll();
    return { lab, scene };
  }

  it('the caller is answered whose words were the last before the session was lost', async () => {
    const { lab, scene } = await greeted();
    lab.answers.push({ unfinished: true }, { text: 'A table for two' });
    scene.say('yes please');
    await scene.until('the turn', () => lab.answers.length === 1);
    lab.cut();
    await passing(scene, 'the answer', () => scene.lines.includes('assistant: A table for two'));
    expect(scene.lines).toEqual(['assistant: Hello', 'user: yes please', 'assistant: A table for two']);
  });

  it('a session that is lost after the answer is not asked for another one', async () => {
    const { lab, scene } = await greeted();
    lab.answers.push({ text: 'A table for two' }, { text: 'Nobody asked' });
    scene.say('yes please');
    await passing(scene, 'the answer', () => scene.lines.length === 3);
    scene.playAll();
    lab.cut();
    await passing(scene, 'the next session', () => lab.connections === 2 && lab.open === 1);
    const later = scene.clock.elapsed() + 2000;
    await passing(scene, '2 s', () => scene.clock.elapsed() >= later);
    expect(scene.lines).toHaveLength(3);
  });

  // Gemini Live tells the words of a turn when its answer begins.
  if (protocol === 'gemini') return;
  it('an answer that does not come is noticed, once', async () => {
    const { lab, scene } = await greeted();
    lab.answers.push({ unfinished: true });
    scene.say('yes please');
    await scene.until('the turn', () => lab.answers.length === 0);
    await passing(scene, 'the warning', () => scene.log.warnings.length > 0);
    expect(scene.log.warnings.map(({ message }) => message)).toEqual([
      'the model has not answered the caller',
    ]);
    expect(lab.connections).toBe(1);
  });
});

it('a call of the next session with the same id as a running one is a call of its own', async () => {
  const { tools, runs } = slowTools();
  const lab = await new GeminiLiveServer().listen();
  const scene = new RealtimeScene('gemini', lab, { tools });
  open.push(lab, { close: () => scene.agent.close('the test is over') });
  lab.answers.push({ text: 'One moment', calls: [book] });
  await scene.begin();
  await scene.until('the tool', () => runs.length === 1);
  lab.cut();
  await passing(scene, 'the next session', () => lab.connections === 2 && lab.open === 1);
  await scene.until('the next call', () => {
    lab.emit({ toolCall: { functionCalls: [{ id: book.id, name: book.name, args: {} }] } });
    return runs.length === 2;
  });
  runs[0]?.end();
  await scene.until('the first result', () => scene.lines.filter((line) => line.includes('book')).length > 2);
  lab.emit({ toolCallCancellation: { ids: [book.id] } });
  await scene.until('the end of the second call', () => runs[1]?.signal.aborted === true);
  expect(runs[0]?.signal.aborted).toBe(false);
});

/** Accepts a session when the test says so. */
class HoldingServer extends OpenAiRealtimeServer {
  holds = false;
  readonly held: (() => void)[] = [];
  readonly sockets: LabSocket[] = [];
  /** Numbers of the connections that have ended. */
  readonly ended: number[] = [];

  protected override begin(socket: LabSocket): LabSession {
    const session = super.begin(socket);
    const number = this.sockets.push(socket) - 1;
    return {
      binary: (octets) => session.binary(octets),
      closed: () => void this.ended.push(number),
      text: (message) => {
        const go = () => session.text(message);
        if (this.holds && fields(message).type === 'session.update') this.held.push(go);
        else go();
      },
    };
  }
}

async function holding() {
  const lab = await new HoldingServer().listen();
  const scene = new RealtimeScene('openai', lab, { limits: { renewAfterMs: 2000, renewLatestMs: 2000 } });
  open.push(lab, { close: () => scene.agent.close('the test is over') });
  lab.answers.push({ text: 'Hello' });
  await scene.begin();
  await scene.until('the first words', () => scene.lines.length === 1);
  lab.holds = true;
  return { lab, scene };
}

it('the session of a renewal knows what was said while it was opened', async () => {
  const { lab, scene } = await holding();
  scene.playAll();
  scene.clock.advance(2000);
  await scene.until('the renewal', () => lab.held.length === 1);
  lab.answers.push({ text: 'Good' });
  scene.say('yes');
  await scene.until('an answer', () => scene.lines.length === 3);
  lab.held[0]?.();
  await scene.until('the end of the first session', () => lab.open === 1);
  expect(lab.added).toEqual(['assistant: Hello', 'user: yes', 'assistant: Good']);
});

it.each([
  { first: 'the renewal', order: [0, 1], ended: [0, 2] },
  { first: 'the retry', order: [1, 0], ended: [0, 1] },
])('of a renewal and a retry the one stays that is accepted first: $first', async ({ order, ended }) => {
  const { lab, scene } = await holding();
  scene.playAll();
  scene.clock.advance(2000);
  await scene.until('the renewal', () => lab.held.length === 1);
  lab.sockets[0]?.close(1011);
  await passing(scene, 'the retry', () => lab.held.length === 2);
  const [first = 0, second = 0] = order;
  lab.held[first]?.();
  await scene.until('the conversation so far', () => lab.added.length === 1);
  lab.held[second]?.();
  await scene.until('one session', () => lab.open === 1);
  expect(lab.ended).toEqual(ended);
  expect(scene.host.failures).toEqual([]);
});
