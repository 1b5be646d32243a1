/** Event streams of widgets and test runs at another replica than the one that answers or runs: on PostgreSQL. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ruleEngine } from '#shared/models/rule-engine.ts';
import { startControl, type TestControl } from '../../test/kit/control/harness.ts';
import { bookingGraph, TestingClient } from '../../test/kit/control/test-runs.ts';
import { EventReader, HandModel, makePersonaWidget, makeThread } from '../../test/kit/control/widgets.ts';
import { onSqlite, type TestDatabase, takeDatabase } from '../../test/kit/db/test-database.ts';

describe.skipIf(onSqlite)('an event stream at another replica', () => {
  let database: TestDatabase;
  let model: HandModel;
  let first: TestControl;
  let second: TestControl;
  const readers: EventReader[] = [];
  beforeEach(async () => {
    database = await takeDatabase();
    model = new HandModel();
    const env = { DATABASE_URL: database.address, ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' };
    first = await startControl(env, {}, { models: { understanding: ruleEngine, dialogue: model } });
    // It runs nothing itself.
    second = await startControl(env, {}, {}, { begin: false });
    await expect.poll(() => first.control.services.bus.transients.peers.size).toBe(1);
  });
  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.leave();
    await first.close();
    await second.close();
    await database.release();
  });

  const read = async (at: TestControl, path: string) => {
    const reader = await EventReader.open(`${await at.url()}${path}`, { authorization: first.key });
    readers.push(reader);
    return reader;
  };
  /** The next pieces, joined until they are this long: how they were cut does not matter. */
  const pieces = async (reader: EventReader, length: number) => {
    let text = '';
    while (text.length < length) {
      const event = await reader.next();
      if (event?.event === 'delta') text += String(event.data.text);
    }
    return text;
  };

  it('has the messages and the pieces of an answer as they are written, also from the middle of it', async () => {
    const thread = await makeThread(first, await makePersonaWidget(first));
    const early = await read(second, `${thread}/events`);
    await early.block();
    const posted = first.call('POST', `${thread}/messages`, { body: { content: 'Hello' } });
    await model.questions(1);
    const long = 'ä "quoted" words of one sentence. '.repeat(100);
    model.say('One. ', long);
    expect(await pieces(early, 3_000)).toMatch(/^One. ä "quoted" words/);
    const late = await read(second, `${thread}/events`);
    expect(await pieces(late, 3_000)).toMatch(/^One. ä "quoted" words/);
    model.say('Two.', null);
    await posted;
    for (const reader of [early, late]) {
      let last = await reader.next();
      while (last?.event !== 'message' || last.data.sender_type !== 'ASSISTANT') last = await reader.next();
      expect(String(last.data.content)).toMatch(/^One\. .*Two\.$/);
    }
    await first.call('POST', `${thread}/end`);
    expect((await early.next())?.event).toBe('ended');
    expect(await early.next()).toBeNull();
  });

  it('has each turn of a test run while it runs', async () => {
    const held: ServerResponse[] = [];
    const outside = createServer((_, response) => void held.push(response)).listen(0, '127.0.0.1');
    await once(outside, 'listening');
    const address = outside.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/book`;
    const nodes = bookingGraph.nodes.map((node) =>
      node.id === 'book' ? { ...node, data: { ...node.data, method: 'GET', url, timeoutValue: 60 } } : node,
    );
    const testing = new TestingClient(first);
    const pathway_id = await testing.pathway({ nodes, edges: bookingGraph.edges });
    const scenario = await testing.scenario({
      pathway_id,
      tester_persona_prompt: 'You are Sam Reed. You want to book an appointment.\n- date: May 4, 2030',
      assertions: [{ type: 'NODE_REACHED', config: { node_id: 'done' } }],
    });
    const run = await testing.start(scenario);
    await expect.poll(() => held.length).toBe(1);
    const path = `/v1/agent-testing/runs/${run}/events`;
    const turnsOf = async (reader: EventReader, count: number) => {
      const turns: unknown[] = [];
      while (turns.length < count) {
        const event = await reader.next();
        if (event?.event === 'turn') turns.push(event.data.content);
      }
      return turns;
    };
    const said = await turnsOf(await read(first, path), 2);
    const elsewhere = await read(second, path);
    expect(await turnsOf(elsewhere, 2)).toEqual(said);
    for (const response of held) response.setHeader('content-type', 'application/json').end('{}');
    let last = await elsewhere.next();
    while (last && last.event !== 'end') last = await elsewhere.next();
    expect(last?.event).toBe('end');
    await testing.ended(run);
    outside.closeAllConnections();
    outside.close();
  });
});
