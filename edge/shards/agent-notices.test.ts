/** What agents in a shard tell the main thread while it does not answer. */
import { expect, it } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import { portPair } from '../../test/kit/edge/loopback.ts';
import { AgentNotices } from './agent-notices.ts';
import { Channel } from './channel.ts';
import { toMain } from './messages.ts';

const line = (text: string): TranscriptEntry => ({
  id: 'line',
  at: '2030-01-01T00:00:00.000Z',
  user: 'user',
  text,
  node_id: null,
  node_name: null,
});

/** A main thread that answers when the test says so, and what has come to it. */
function scene() {
  const [ours, theirs] = portPair();
  const broken = (error: Error): never => {
    throw error;
  };
  const main = new Channel(ours, broken);
  const shard = new Channel(theirs, broken);
  const clock = new FakeClock();
  const came: { agent: number; lines: number; leftOut: number; variables: unknown }[] = [];
  let answers: PromiseWithResolvers<object>[] = [];
  main.onAsk(toMain.said, ({ agent, entries, left_out: leftOut, variables }) => {
    came.push({ agent, lines: entries.length, leftOut, variables });
    const answer = Promise.withResolvers<object>();
    answers.push(answer);
    return answer.promise;
  });
  return {
    clock,
    came,
    notices: (agent: number) => new AgentNotices(agent, shard, clock),
    /** Answers all that has come. */
    async answer() {
      const due = answers;
      answers = [];
      for (const { resolve } of due) resolve({});
      await new Promise<void>((resolve) => setImmediate(resolve));
    },
  };
}

it('one message of an agent is under way; what it says meanwhile is the next one, as far as it is kept', async () => {
  const { came, notices, answer, clock } = scene();
  const agent = notices(1);
  for (let i = 0; i < 50; i++) {
    for (let k = 0; k < 100; k++) agent.line(line(`line ${i} ${k}`));
    agent.variables({ i });
    clock.advance(1000);
  }
  expect(came).toEqual([{ agent: 1, lines: 1, leftOut: 0, variables: null }]);
  await answer();
  expect(came[1]).toEqual({ agent: 1, lines: 200, leftOut: 5000 - 201, variables: { i: 49 } });
  await answer();
  expect(came).toHaveLength(2);
});

it('an agent that says much keeps no other one waiting', async () => {
  const { came, notices } = scene();
  const loud = notices(1);
  for (let i = 0; i < 1000; i++) loud.line(line('and another'));
  notices(2).line(line('Hello'));
  expect(came.map(({ agent, lines }) => [agent, lines])).toEqual([
    [1, 1],
    [2, 1],
  ]);
});

it('what waits is sent before what ends or moves the call', async () => {
  const { came, notices } = scene();
  const agent = notices(1);
  for (const text of ['one', 'two', 'three']) agent.line(line(text));
  agent.flush();
  agent.flush();
  expect(came.map(({ lines }) => lines)).toEqual([1, 2]);
});
