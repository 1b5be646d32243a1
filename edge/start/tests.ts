/** Test calls of trunks, and agent tests over a call of the edge to itself. */
import { readFileSync } from 'node:fs';
import { newTimedId } from '#shared/ids.ts';
import { TestRoom } from '../agent-test-room.ts';
import type { AgentTestCalls } from '../call/agent-test-calls.ts';
import type { Calls } from '../call/calls.ts';
import type { Agents } from '../call/ports/agents.ts';
import type { CommandTargets } from '../commands.ts';
import { localAddress } from '../local-address.ts';
import { nearbyMedia } from '../nearby-media.ts';
import { ownTarget } from '../own-address.ts';
import type { Reporting } from '../reporting/reporting.ts';
import type { Signaling } from '../signaling/signaling.ts';
import { runTestCall } from '../trunks/test-call/test-call.ts';
import type { Trunks } from '../trunks/trunks.ts';
import { clock, type EdgeContext } from './context.ts';
import type { TestMedia } from './media.ts';
import type { TestAgents } from './test-agents.ts';

interface TestParts {
  readonly calls: Calls;
  readonly agentTestCalls: AgentTestCalls;
  readonly trunks: Trunks;
  readonly signaling: Signaling;
  /** Of calls of tests. */
  readonly media: TestMedia;
  readonly agents: Agents;
  readonly testAgents: TestAgents;
  readonly reporting: Reporting;
}

export function testsOf(
  context: EdgeContext,
  parts: TestParts,
): Pick<CommandTargets, 'testCall' | 'testRun'> {
  const { settings, limits, log, metrics, controlUrl, publicIp, current } = context;
  const { calls, agentTestCalls, trunks, signaling, media, agents, testAgents, reporting } = parts;
  const { sip, rtp, tls, maxCalls } = settings;
  const room = new TestRoom({
    limits: limits.testRoom,
    pairs: media.pairs,
    pairsInUse: () => media.stats()?.ports.inUse ?? 0,
    maxCalls,
    liveCalls: () => calls.size,
    closedFor: (orgId) => calls.closedFor(orgId),
    organizations: current.organizationsWithNumbers,
    refused: (why) => metrics.count('trunkline_edge_test_runs_refused_total', { why }),
  });
  return {
    testCall: (order) =>
      runTestCall(order, {
        clock,
        calls,
        routes: trunks,
        dialer: { dial: (...attempt) => signaling.dial(...attempt) },
        media,
        agents,
        reporter: reporting,
        log,
      }),
    testRun: async (order) => {
      const leave = room.take(order.org_id, order.to === undefined ? 2 : 1);
      const parts = Promise.all([import('../agent-tests.ts'), testAgents.deps()]);
      const [{ runAgentTest }, agentDeps] = await parts.catch((error: unknown) => {
        leave();
        throw error;
      });
      await runAgentTest(order, {
        clock,
        log,
        controlUrl,
        calls,
        agentTestCalls,
        dialer: {
          dial: (...attempt) => {
            if (!signaling.loopback) throw new Error('signaling cannot call the edge itself');
            return signaling.loopback.dial(...attempt);
          },
        },
        callsItself: () => signaling.callsItself,
        self: () => ownTarget(sip, sip.publicHost, readFileSync(tls.cert, 'utf8')),
        media: nearbyMedia(media, publicIp, localAddress(rtp.host)),
        outward: { media, dialer: { dial: (...attempt) => signaling.dial(...attempt) } },
        agents: agentDeps,
        limits: { ...limits.agentTests, caller: limits.testCaller },
        counts: {
          ended: (how) => {
            leave();
            metrics.count('trunkline_edge_test_calls_total', { how });
          },
          turnEnded: (by, cut) => {
            metrics.count('trunkline_edge_test_turns_total', { ended_by: by });
            if (cut) metrics.count('trunkline_edge_test_turns_cut_total');
          },
        },
        reporter: reporting,
        tts: agentDeps.tts,
        stt: agentDeps.stt,
        newId: () => newTimedId(clock.now()),
      });
    },
  };
}
