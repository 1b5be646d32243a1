/** How a call leaves its model: one way, not by an order that was taken back, and with the caller's last words and keys. */
import { afterEach, expect, it } from 'vitest';
import { GeminiLiveServer } from '../../../test/kit/speech/gemini-live-server.ts';
import { OpenAiRealtimeServer } from '../../../test/kit/speech/openai-realtime-server.ts';
import { RealtimeScene } from '../../../test/kit/speech/realtime-scene.ts';
import type { TransferOutcome } from '../../call/ports/transfer.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

const settings = { transfer_list: { sales: '+14155550111' } };
const transfer = { id: 'c1', name: 'transfer_call', input: { to: 'sales' } };
const end = { id: 'c2', name: 'end_conversation', input: {} };
const busy: TransferOutcome = {
  ok: false,
  code: 'target_failed',
  sipCode: 486,
  reason: 'The target is busy.',
};

async function openAi(...answers: OpenAiRealtimeServer['answers']) {
  const lab = await new OpenAiRealtimeServer().listen();
  open.push(lab);
  lab.answers.push(...answers);
  const scene = new RealtimeScene('openai', lab, { settings });
  open.push({ close: () => scene.agent.close('the test is over') });
  const target = Promise.withResolvers<TransferOutcome>();
  scene.host.outcome = target.promise;
  await scene.begin();
  return { lab, scene, target };
}

async function gemini(...answers: GeminiLiveServer['answers']) {
  const lab = await new GeminiLiveServer().listen();
  open.push(lab);
  lab.answers.push(...answers);
  const scene = new RealtimeScene('gemini', lab, { settings });
  open.push({ close: () => scene.agent.close('the test is over') });
  await scene.begin();
  return { lab, scene };
}

it.each([[[transfer, end]], [[end, transfer]]])(
  'does not end a call that is being transferred: %j',
  async (calls) => {
    const { lab, scene, target } = await openAi({ text: 'One moment', calls });
    await scene.until('the sound', () => scene.agent.queuedMs > 0 && scene.lines.length > 0);
    await scene.until('the transfer', () => {
      scene.playAll();
      return scene.host.transfers.length === 1;
    });
    await scene.until('the refusal', () => lab.outputs.length === 1);
    expect(lab.outputs).toEqual([
      { call: 'c2', output: { ok: false, error: 'the call is being transferred' } },
    ]);
    scene.clock.advance(5000);
    expect(scene.host.hangups).toEqual([]);
    target.resolve(busy);
    await scene.until('the outcome', () => lab.outputs.length === 2);
    expect(lab.outputs[1]).toEqual({ call: 'c1', output: { ok: false, error: busy.reason } });
  },
);

it.each([
  [{ ok: true } as const, 0],
  [busy, 1],
])('waits for the target when the model is lost during a transfer: %j', async (outcome, failures) => {
  const { lab, scene, target } = await openAi({ calls: [transfer] });
  await scene.until('the transfer', () => scene.host.transfers.length === 1);
  await lab.close();
  await scene.until('the time to reconnect', () => {
    scene.clock.advance(100);
    return scene.clock.elapsed() > 60_000;
  });
  expect(scene.host.failures).toEqual([]);
  expect(scene.lines).toEqual([]);
  target.resolve(outcome);
  if (failures > 0) {
    await scene.until('the end', () => {
      scene.playAll();
      return scene.host.failures.length > 0;
    });
  }
  expect(scene.host.failures).toHaveLength(failures);
});

it.each([
  ['a transfer', transfer],
  ['the end', end],
])('does not carry out %s that the server took back', async (_what, order) => {
  const { lab, scene } = await gemini({ text: 'Goodbye', calls: [order] });
  await scene.until('the goodbye', () => scene.agent.queuedMs > 0);
  lab.emit({ toolCallCancellation: { ids: [order.id] } });
  lab.emit({ serverContent: { inputTranscription: { text: 'wait' }, turnComplete: true } });
  await scene.until('the words after it', () => scene.lines.includes('user: wait'));
  scene.playAll();
  lab.emit({ serverContent: { inputTranscription: { text: 'still here' }, turnComplete: true } });
  await scene.until('the next words', () => scene.lines.includes('user: still here'));
  scene.clock.advance(5000);
  expect([scene.host.hangups, scene.host.transfers]).toEqual([[], []]);
});

it('has the keys in the transcript that were pressed just before the end', async () => {
  const { scene } = await openAi();
  for (const digit of '42') scene.agent.dtmf({ digit, durationMs: 100 });
  scene.agent.close('the peer hung up');
  expect(scene.lines).toEqual(['user: Pressed 42']);
  expect(scene.clock.pending).toBe(0);
});

it.each(['the call', 'the session'])(
  'has the words in the transcript that came before %s ended',
  async (what) => {
    const { lab, scene } = await gemini({ text: 'Hello' });
    await scene.until('the first answer', () => scene.lines.length === 1);
    lab.emit({ serverContent: { inputTranscription: { text: 'cancel the table' } } });
    // Messages come in order: the answer to this one shows that the words have arrived.
    lab.emit({ serverContent: { outputTranscription: { text: '' }, interrupted: true } });
    lab.emit({ serverContent: { inputTranscription: { text: 'please' } } });
    lab.emit({ toolCall: { functionCalls: [{ id: 'k', name: 'press_keys', args: { keys: '1' } }] } });
    scene.playAll();
    await scene.until('the keys', () => scene.host.keysSent.length === 1);
    if (what === 'the call') scene.agent.close('the peer hung up');
    else lab.cut();
    await scene.until('the words', () => scene.lines.includes('user: please'));
    expect(scene.host.lines('user')).toEqual(['user: cancel the table', 'user: please']);
  },
);
