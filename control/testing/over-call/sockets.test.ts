import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import { runId, testSockets as socketsOn, TestSockets } from '../../../test/kit/control/over-call.ts';

let testSockets: TestSockets;

beforeEach(async () => {
  testSockets = await TestSockets.open();
});
afterEach(() => testSockets.close());

const signal = new AbortController().signal;

describe('the endpoint of agent tests over a call', () => {
  test('accepts the edge with the key of the run', async () => {
    const expected = testSockets.expect();
    const edge = await testSockets.edge(expected.key);
    const line = await expected.arrived;
    edge.send({ type: 'moved' }, { type: 'line', text: 'Hello', node_id: null });
    expect(await line.next(signal)).toEqual({ type: 'moved' });
    expect(await line.next(signal)).toEqual({ type: 'line', text: 'Hello', node_id: null });
    line.send({ type: 'hangup', reason: 'enough' });
    expect(await edge.order()).toEqual({ type: 'hangup', reason: 'enough' });
    line.close();
    expect(await edge.closed).toBe(1000);
  });

  test('accepts nobody else, and each key once', async () => {
    const { key } = testSockets.expect();
    await expect(testSockets.edge('another')).rejects.toThrow('401');
    await expect(testSockets.edge(key, '00000000-0000-4000-8000-000000000000')).rejects.toThrow('401');
    const edge = await testSockets.edge(key);
    await expect(testSockets.edge(key)).rejects.toThrow('401');
    edge.lose();
    await edge.closed;
  });

  test('lets no run wait for an edge when it is closed, and leaves no timer', async () => {
    const clock = new FakeClock();
    const sockets = socketsOn(clock);
    const expected = sockets.expect(runId, 10_000);
    expect([sockets.open, clock.pending]).toEqual([1, 1]);
    sockets.close();
    await expect(expected.arrived).rejects.toThrow('did not open the socket');
    expect([sockets.open, clock.pending]).toEqual([0, 0]);
  });

  test('rejects a canceled run, whose waiting ends', async () => {
    const expected = testSockets.expect();
    expected.cancel();
    await expect(expected.arrived).rejects.toThrow('did not open the socket');
    await expect(testSockets.edge(expected.key)).rejects.toThrow('401');
    expect(testSockets.sockets.open).toBe(0);
  });

  test('ignores other paths', () => {
    const request = { url: `/v1/edge/link?${runId}`, headers: {} };
    expect(testSockets.sockets.take(request as never, null as never, Buffer.alloc(0))).toBe(false);
  });

  test("closes an edge's connection when it sends an invalid frame", async () => {
    const expected = testSockets.expect();
    const edge = await testSockets.edge(expected.key);
    const line = await expected.arrived;
    edge.send({ type: 'sing' });
    expect(await edge.closed).toBe(1008);
    expect(await line.next(signal)).toBeNull();
  });

  test('wakes the waiter for an edge when the run is aborted', async () => {
    const expected = testSockets.expect();
    await testSockets.edge(expected.key);
    const line = await expected.arrived;
    const stop = new AbortController();
    const waiting = line.next(stop.signal);
    stop.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
  });
});
