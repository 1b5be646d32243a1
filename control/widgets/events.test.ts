import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DialogueModel } from '#shared/agent/dialogue.ts';
import { SessionList } from '#shared/api/keys.ts';
import { MessageAnswer, SessionAnswer, ThreadListAnswer } from '#shared/api/widgets.ts';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { keyOfRole, signIn } from '../../test/kit/control/sessions.ts';
import {
  EventReader,
  HandModel,
  makePersonaWidget,
  makeThread,
  makeWidget,
  origin,
} from '../../test/kit/control/widgets.ts';
import type { WidgetLimits } from './limits.ts';

let model: HandModel;
const start = (widgets: Partial<WidgetLimits> = {}): Promise<TestControl> => {
  // Each test has a model of its own.
  const dialogue: DialogueModel = {
    evaluator: new HandModel().evaluator,
    reply: (asked) => model.reply(asked),
  };
  return startControl({}, {}, { models: { understanding: ruleEngine, dialogue } }, { limits: { widgets } });
};
const shared = emptiedForEach(start);
/** The shared one, or a test's own, with other limits or to be closed. */
let test: TestControl;
let base = '';
const use = async (one: TestControl): Promise<void> => {
  test = one;
  base = await one.url();
};
const readers: EventReader[] = [];
beforeEach(() => {
  model = new HandModel();
  return use(shared);
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.leave();
  if (test !== shared) return test.close();
  await expect.poll(openStreams).toBe('0');
});

async function watch(thread: string, headers: Record<string, string> = {}): Promise<EventReader> {
  const reader = await EventReader.open(`${base}${thread}/events`, { authorization: test.key, ...headers });
  readers.push(reader);
  return reader;
}
const post = (thread: string, content: string, more: object = {}) =>
  test.call('POST', `${thread}/messages`, { body: { content, ...more } });
/** What arrived; null when nothing did yet. */
const afterAdvancing = <T>(ms: number, coming: Promise<T>): Promise<T | null> => {
  test.clock.advance(ms);
  return Promise.race([coming, null]);
};
const openStreams = async () => {
  const { text } = await test.call('GET', '/metrics', { key: test.operatorKey });
  return /^trunkline_control_widget_streams (\d+)$/m.exec(text)?.[1];
};
const endedStreams = async () => {
  const { text } = await test.call('GET', '/metrics', { key: test.operatorKey });
  return text
    .split('\n')
    .filter((line) => line.startsWith('trunkline_control_widget_streams_ended_total'))[0];
};

describe('a stream of events', () => {
  it('has every message in order, the hand-off and the end, and then closes', async () => {
    const thread = await makeThread(test, await makeWidget(test));
    const reader = await watch(thread);
    expect(Object.fromEntries(reader.response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const posted = await post(thread, 'Ada');
    const { messages } = posted.read(MessageAnswer).data;
    const seen = [];
    for (let event = await reader.next(); event && event.id !== '3'; event = await reader.next()) {
      if (event.event === 'message') seen.push([event.id, event.data.content]);
    }
    expect(seen).toEqual([
      ['1', 'Hello , what is your name?'],
      ['2', 'Ada'],
    ]);
    const again = await watch(thread, { 'last-event-id': '2' });
    expect(await again.next()).toEqual({ id: '3', event: 'message', data: messages[1] });
    await test.call('POST', `${thread}/handoff`);
    await post(thread, 'This is Eve', { sender_type: 'ASSISTANT' });
    await test.call('POST', `${thread}/end`);
    expect(await again.take(4)).toMatchObject([
      { event: 'handoff', data: { live_agent_handoff_at: '2030-01-01T00:00:00.000Z' } },
      { id: '4', event: 'message', data: { sender_type: 'ASSISTANT', content: 'This is Eve' } },
      { event: 'ended', data: { ended_at: '2030-01-01T00:00:00.000Z' } },
      null,
    ]);
  });

  it('of an ended thread has all of it and closes at once', async () => {
    const thread = await makeThread(test, await makeWidget(test));
    await test.call('POST', `${thread}/end`);
    const reader = await watch(thread, { 'last-event-id': 'nonsense' });
    expect((await reader.take(3)).map((event) => event?.event)).toEqual(['message', 'ended', undefined]);
  });

  it('has more messages than one page', async () => {
    const thread = await makeThread(test, await makeWidget(test, { greeting: 'Hi' }));
    await test.call('POST', `${thread}/handoff`);
    for (let i = 0; i < 120; i++) await post(thread, `message ${i}`);
    const reader = await watch(thread);
    const events = await reader.take(122);
    expect(events.slice(0, 121).map((event) => event?.id)).toEqual(
      Array.from({ length: 121 }, (_, index) => String(index + 1)),
    );
    expect(events[121]?.event).toBe('handoff');
  });

  it('has an answer while it is written, masked, also for late readers', async () => {
    const thread = await makeThread(test, await makePersonaWidget(test, { blockedWords: ['darn'] }));
    const reader = await watch(thread);
    const posted = post(thread, 'A lamp?');
    expect(await reader.next()).toMatchObject({ id: '1', event: 'message' });
    await model.questions(1);
    model.say('It costs ten. ', 'That darn lamp. ');
    const first = await reader.next();
    expect(first).toMatchObject({ event: 'delta', data: { text: 'It costs' } });
    const late = await watch(thread, { 'last-event-id': '1' });
    const pieces = await late.next();
    expect(pieces?.data.id).toBe(first?.data.id);
    model.say('Bye.', null);
    const { body } = await posted;
    const answer = { id: first?.data.id, content: 'It costs ten. That **** lamp. Bye.' };
    expect(body.data?.messages?.[1]).toMatchObject(answer);
    for (const one of [reader, late]) {
      let event = await one.next();
      while (event?.event === 'delta') {
        expect(JSON.stringify(event.data)).not.toContain('darn');
        event = await one.next();
      }
      expect(event).toMatchObject({ id: '2', event: 'message', data: answer });
    }
  });

  it('is kept open by heartbeats', async () => {
    const reader = await watch(await makeThread(test, await makeWidget(test)));
    expect(await reader.block()).toBe('retry: 2000');
    await reader.block();
    const beat = reader.block();
    // The timer is set when the stream has nothing more to send.
    await expect.poll(() => afterAdvancing(15_000, beat)).toBe(':');
  });

  it.each(['key', 'session'])('ends when the %s of its reader is revoked', async (kind) => {
    const thread = await makeThread(test, await makeWidget(test));
    const key = await keyOfRole(test, 'read');
    const { cookie } = await signIn(test, key);
    const { id } = (await test.call('GET', '/v1/sessions')).read(SessionList).data.sessions[0]?.key ?? {};
    const reader = await EventReader.open(
      `${base}${thread}/events`,
      kind === 'key' ? { authorization: key } : { cookie },
    );
    readers.push(reader);
    await reader.next();
    await test.call('DELETE', `/v1/org/keys/${id}`);
    const ended = Promise.allSettled([reader.next()]);
    test.clock.advance(15_000);
    await expect.poll(endedStreams).toContain('{end="revoked"} 1');
    expect(await openStreams()).toBe('0');
    await ended;
  });

  it('ends when its reader disconnects, and leaves nothing behind', async () => {
    const thread = await makeThread(test, await makeWidget(test));
    const reader = await watch(thread);
    await reader.next();
    expect(reader.response.headers.get('access-control-allow-origin')).toBeNull();
    expect(await openStreams()).toBe('1');
    reader.leave();
    await expect.poll(openStreams).toBe('0');
  });

  it('ends when the control plane does', async () => {
    await use(await start());
    const reader = await watch(await makeThread(test, await makeWidget(test)));
    await reader.next();
    await Promise.all([test.close(), expect(reader.next()).resolves.toBeNull()]);
  });

  it('reports that nobody wrote for too long', async () => {
    const reader = await watch(await makeThread(test, await makeWidget(test, { timeoutSeconds: 60 })));
    await reader.next();
    const ended = reader.next();
    await expect
      .poll(() => afterAdvancing(10_000, ended))
      .toMatchObject({
        event: 'ended',
        data: { ended_at: '2030-01-01T00:01:00.000Z' },
      });
  });
});

describe('the number of streams', () => {
  it('is limited per widget and per visitor address', async () => {
    await use(await start({ perWidget: 2, perAddress: 1 }));
    const widget = await makeWidget(test);
    const given = await test.call('POST', `${widget}/session`, { key: null, headers: { origin } });
    const { token, thread_id } = given.read(SessionAnswer).data;
    const thread = `${widget}/threads/${thread_id}`;
    const visitor = { authorization: `Bearer ${token}` };
    await watch(thread, visitor);
    const second = await watch(thread, visitor);
    expect(second.response.status).toBe(429);
    expect(await second.response.headers.get('retry-after')).toBe('5');
    await watch(thread);
    expect((await watch(thread)).response.status).toBe(429);
  });
});

describe('an answer of the agent', () => {
  it('that fails keeps the message, which the next answer includes', async () => {
    const widget = await makePersonaWidget(test);
    const thread = await makeThread(test, widget);
    model.say('Half of an ans', new Error('the model broke'));
    const failed = await post(thread, 'My name is Ada');
    expect([failed.status, failed.codes]).toEqual([502, ['MODEL_UNAVAILABLE']]);
    const listed = await test.call('GET', `${widget}/threads`);
    const { messages } = listed.read(ThreadListAnswer).data.threads[0] ?? {};
    expect(messages).toMatchObject([{ sender_type: 'USER', content: 'My name is Ada' }]);
    expect(failed.body.errors?.[0]?.details).toEqual({ message_id: messages?.[0]?.id });
    model.say('Hello Ada.', null);
    const second = await post(thread, 'Are you there?');
    expect(second.body.data?.messages).toMatchObject([
      { content: 'Are you there?' },
      { content: 'Hello Ada.' },
    ]);
    expect(model.asked[1]?.messages.at(-1)).toEqual({ role: 'user', text: 'My name is Ada\nAre you there?' });
  });

  it('is waited for by a limited number of messages of its thread', async () => {
    await use(await start({ mostWaiting: 2 }));
    const thread = await makeThread(test, await makePersonaWidget(test));
    const first = post(thread, 'one');
    await model.questions(1);
    // They may arrive in either order: the later one is refused at once, the other one waits.
    const others = [post(thread, 'another'), post(thread, 'another')];
    const refused = await Promise.race(others);
    expect([refused.status, refused.codes]).toEqual([429, ['RATE_LIMITED']]);
    expect(refused.headers['retry-after']).toBe('1');
    model.say('First.', null, 'Second.', null);
    expect((await first).body.data?.messages).toMatchObject([{ content: 'one' }, { content: 'First.' }]);
    const waited = (await Promise.all(others)).filter(({ status }) => status === 200);
    expect(waited.map(({ body }) => body.data?.messages)).toMatchObject([
      [{ content: 'another' }, { content: 'Second.' }],
    ]);
  });

  it.each(['handoff', 'end'])('is aborted by %s and leaves no trace', async (what) => {
    const widget = await makePersonaWidget(test);
    const thread = await makeThread(test, widget);
    const posted = post(thread, 'A lamp?');
    await model.questions(1);
    model.say('It costs ');
    expect((await test.call('POST', `${thread}/${what}`)).status).toBe(200);
    const answer = await posted;
    expect(answer.status).toBe(200);
    expect(answer.body.data?.messages).toMatchObject([{ content: 'A lamp?' }]);
    const listed = await test.call('GET', `${widget}/threads`);
    expect(listed.body.data?.threads?.[0]?.messages).toHaveLength(1);
  });

  it('in progress does not delay the end of the control plane', async () => {
    await use(await start());
    const thread = await makeThread(test, await makePersonaWidget(test));
    const posted = fetch(`${base}${thread}/messages`, {
      method: 'POST',
      headers: { authorization: test.key, 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'A lamp?' }),
    });
    await model.questions(1);
    const [answer] = await Promise.all([posted, test.close()]);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('can use the tools of its persona, whose log shows the widget', async () => {
    const tool = await test.call('POST', '/v2/tools', {
      body: {
        name: 'double',
        description: 'Doubles a number',
        integration: 'custom-code',
        action: 'run_javascript',
        input_schema: { type: 'object', properties: { a: { type: 'number' } } },
        body: { code: 'return { twice: input.a * 2 };' },
      },
    });
    const id = String(tool.body.data?.id);
    const thread = await makeThread(test, await makePersonaWidget(test, {}, [id]));
    model.say({ id: 'call-1', name: 'double', input: { a: 4 } }, null, 'It is eight.', null);
    const answer = await post(thread, 'Twice four?');
    expect(answer.body.data?.messages).toMatchObject([
      { content: 'Twice four?' },
      { content: 'It is eight.' },
    ]);
    expect(model.asked[1]?.messages.at(-1)).toMatchObject({ role: 'tool', name: 'double' });
    const logs = await test.call('GET', `/v2/tools/${id}/logs`);
    expect(logs.body.data?.logs).toMatchObject([
      { source: 'widget', conversation_id: thread.split('/').at(-1), success: true },
    ]);
  });

  it('has the greeting in its history as its own words', async () => {
    const thread = await makeThread(test, await makePersonaWidget(test, { greeting: 'Which lamp?' }));
    model.say('Good.', null);
    await post(thread, 'The red one');
    expect(model.asked[0]?.messages).toMatchObject([
      { role: 'assistant', text: 'Which lamp?' },
      { role: 'user', text: 'The red one' },
    ]);
  });
});
