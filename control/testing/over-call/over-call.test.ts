import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentTestOrder } from '#shared/agent-test-protocol.ts';
import { FakeClock } from '#shared/clock.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { ApiError } from '#shared/errors.ts';
import { type EdgeEnd, TestSockets, testSockets } from '../../../test/kit/control/over-call.ts';
import type { TestRunRow } from '../../db/index.ts';
import { ConnectedEdges, type LinkedEdge } from '../../edge-link/registry.ts';
import { outsideOf } from '../mocks/declared.ts';
import { Recorder } from '../mocks/mocks.ts';
import { isHopeless } from '../runs/failures.ts';
import { converseOverCall, type Missed, type OverCallParts } from './over-call.ts';
import { callSettings } from './settings.ts';
import type { AgentTestSockets } from './sockets.ts';

let clock: FakeClock;
let edges: ConnectedEdges;
let sockets: AgentTestSockets;
let missed: Missed[];
let stop: AbortController;
/** Resolved when the edge got its order. */
let ordered: PromiseWithResolvers<EdgeCommand>;

beforeEach(() => {
  clock = new FakeClock();
  edges = new ConnectedEdges();
  sockets = testSockets(clock);
  missed = [];
  stop = new AbortController();
  ordered = Promise.withResolvers();
});
afterEach(() => sockets.close());

function edge(command: () => Promise<void> = async () => {}, revision = 0): LinkedEdge {
  return {
    edgeId: 'e',
    isOpen: true,
    appliedVersion: 1,
    sip: { host: '127.0.0.1', port: 5061 },
    rtp: { ip: '127.0.0.1', port_min: 1, port_max: 2 },
    codecs: [],
    metrics: { trunkline_edge_protocol_revision: revision },
    ordered: 0,
    isSilent: false,
    plan: { region: null, weight: 100, draining_since: null },
    inFleet: false,
    tell: () => {},
    close: () => {},
    replaced: () => {},
    command: (order) => {
      ordered.resolve(order);
      return command();
    },
  };
}

function run(more: Partial<OverCallParts> = {}): Promise<unknown> {
  const agent = {
    kind: 'pathway' as const,
    orgId: 'o',
    pathwayId: 'p',
    version: 0,
    startNodeId: null,
    firstSentence: null,
    graphs: [],
  };
  const webhook = async () => ({ status: 200, body: {}, error: null });
  const parts: OverCallParts = {
    orgId: 'o',
    target: { number: '+14155550100' },
    startNodeId: null,
    variables: {},
    maxMinutes: 10,
    seed: 1,
    runId: '6f1c1f5e-3a63-4f0e-9d62-0d7b8f8f2b11',
    agent,
    caller: {
      evaluator: { provider: 'test', model: 'test', deterministic: true },
      next: async () => ({ type: 'silence' }),
    },
    recorder: new Recorder({ outside: outsideOf(null), agent, clock, webhook, tools: null }),
    settings: callSettings(null),
    maxTurns: 3,
    signal: stop.signal,
    onLine: () => {},
    ...more,
  };
  const limits = { testing: { edgeMs: 2000, roomMs: 60_000, socketMs: 5000 } };
  return converseOverCall(
    { clock, edges, agentTestSockets: sockets, limits, missed: (what) => missed.push(what) },
    parts,
  );
}

/** Lets resolved promises continue. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Advances time in steps, so that repeated waits wake up again. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    clock.advance(250);
    await settled();
  }
}

describe('a run over a call', () => {
  test('waits for an edge up to its timeout, and reports it', async () => {
    const ended = expect(run()).rejects.toThrow('No edge is connected that could place the call.');
    await pass(1750);
    expect(missed).toEqual([]);
    await pass(250);
    await ended;
    expect(missed).toEqual(['edge']);
    expect([sockets.open, clock.pending]).toEqual([0, 0]);
  });

  test('uses an edge that connects in time', async () => {
    const ended = expect(run()).rejects.toThrow('The edge did not open the socket of the run.');
    await pass(1000);
    edges.add(edge());
    await pass(250);
    expect(await ordered.promise).toMatchObject({ kind: 'agent_test.call', number: '+14155550100' });
    expect(sockets.open).toBe(1);
    await pass(4750);
    expect(missed).toEqual([]);
    await pass(250);
    await ended;
    expect(missed).toEqual(['socket']);
    expect([sockets.open, clock.pending]).toEqual([0, 0]);
  });

  test('waits for no socket of an edge that cannot place the call', async () => {
    edges.add(edge(() => Promise.reject(ApiError.of('SERVICE_UNAVAILABLE', undefined, 'Full.'))));
    await expect(run()).rejects.toThrow('The call could not be placed: Full.');
    expect([missed, sockets.open, clock.pending]).toEqual([[], 0, 0]);
  });

  describe('when there is no room for its call', () => {
    const full = ApiError.of(
      'RATE_LIMITED',
      undefined,
      'All 64 pairs of RTP ports for test calls are in use.',
    );
    const time = { pause: () => void times.push('pause'), resume: () => void times.push('resume') };
    let times: string[];
    beforeEach(() => {
      times = [];
    });

    test('waits, and its own time stands still; it is called when there is room', async () => {
      let asked = 0;
      edges.add(edge(() => (++asked <= 5 ? Promise.reject(full) : Promise.resolve())));
      const ended = expect(run({ time })).rejects.toThrow('The edge did not open the socket of the run.');
      await settled();
      expect([asked, times]).toEqual([1, ['pause']]);
      await pass(1000);
      expect(asked).toBe(2);
      await pass(30_000);
      await ended;
      expect([asked, missed]).toEqual([6, ['socket']]);
      expect(times).toEqual(Array.from({ length: 5 }, () => ['pause', 'resume']).flat());
      expect([sockets.open, clock.pending]).toEqual([0, 0]);
    });

    test('ends with the reason, and is not tried again, when there is none in time', async () => {
      edges.add(edge(() => Promise.reject(full)));
      const failed = run({ time }).catch((error: unknown) => error);
      await pass(60_000);
      const error = await failed;
      expect(error).toMatchObject({
        message:
          'No edge had room for the call within 60 s: The call could not be placed: All 64 pairs of RTP ports for test calls are in use.',
      });
      expect(isHopeless(error, { trigger_source: 'api' } as TestRunRow)).toBe(true);
      expect([missed, sockets.open, clock.pending]).toEqual([['room'], 0, 0]);
    });

    test('stops waiting when it is canceled', async () => {
      edges.add(edge(() => Promise.reject(full)));
      const ended = expect(run({ time })).rejects.toThrow('cancelled');
      await pass(2500);
      stop.abort(new Error('cancelled'));
      await ended;
      expect([missed, sockets.open, clock.pending]).toEqual([[], 0, 0]);
    });
  });

  test('gives the noise of its weather to an edge that takes one, before the call is placed', async () => {
    const open = await TestSockets.open();
    sockets.close();
    sockets = open.sockets;
    let first: AgentTestOrder | null = null;
    const takes = async () => {
      const order = await ordered.promise;
      const end = await open.edge(order.kind === 'agent_test.call' ? order.key : '');
      first = await end.order();
      end.lose();
    };
    edges.add(edge(() => Promise.reject(new Error('of an earlier version')), edgeProtocol.testsOthers));
    edges.add({ ...edge(takes, edgeProtocol.givenNoise), edgeId: 'newer' });
    await expect(run({ noise: 'AAAA' })).rejects.toThrow('The edge was lost during the call.');
    expect(first).toEqual({ type: 'noise', audio: 'AAAA' });
    await open.close();
  });

  test('ends the call of an edge whose answer is lost', async () => {
    const open = await TestSockets.open();
    sockets.close();
    sockets = open.sockets;
    const placed = Promise.withResolvers<EdgeEnd>();
    const answerLost = async () => {
      const order = await ordered.promise;
      placed.resolve(await open.edge(order.kind === 'agent_test.call' ? order.key : ''));
      throw ApiError.of('SERVICE_UNAVAILABLE', undefined, 'The edge did not answer.');
    };
    edges.add(edge(answerLost));
    await expect(run()).rejects.toThrow('The call could not be placed: The edge did not answer.');
    await (await placed.promise).closed;
    await open.close();
  });

  test('stops waiting when it is canceled', async () => {
    const ended = expect(run()).rejects.toThrow('cancelled');
    await pass(500);
    stop.abort(new Error('cancelled'));
    await pass(250);
    await ended;
    expect([missed, clock.pending]).toEqual([[], 0]);
  });
});
