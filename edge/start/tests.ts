/** Test calls of trunks, and agent tests over a call of the edge to itself. */
import { readFileSync } from 'node:fs';
import { newTimedId } from '#shared/ids.ts';
import type { AgentTestCalls } from '../call/agent-test-calls.ts';
import type { Calls } from '../call/calls.ts';
import type { Agents } from '../call/ports/agents.ts';
import type { LocalMedia } from '../call/ports/media.ts';
import type { CommandTargets } from '../commands.ts';
import { localAddress } from '../local-address.ts';
import { nearbyMedia } from '../nearby-media.ts';
import { ownTarget } from '../own-address.ts';
import type { Reporting } from '../reporting/reporting.ts';
import type { Signaling } from '../signaling/signaling.ts';
import { runTestCall } from '../trunks/test-call/test-call.ts';
import type { Trunks } from '../trunks/trunks.ts';
import { clock, type EdgeContext } from './context.ts';
import type { TestAgents } from './test-agents.ts';

interface TestParts {
  readonly calls: Calls;
  readonly agentTestCalls: AgentTestCalls;
  readonly trunks: Trunks;
  readonly signaling: Signaling;
  /** Of calls of tests. */
  readonly media: LocalMedia;
  readonly agents: Agents;
  readonly testAgents: TestAgents;
  readonly reporting: Reporting;
}

export function testsOf(
  context: EdgeContext,
  parts: TestParts,
): Pick<CommandTargets, 'testCall' | 'testRun'> {
  const { settings, limits, log, metrics, controlUrl, publicIp } = context;
  const { calls, agentTestCalls, trunks, signaling, media, agents, testAgents, reporting } = parts;
  const { sip, rtp, tls } = settings;
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
      const [{ runAgentTest }, agentDeps] = await Promise.all([
        import('../agent-tests.ts'),
        testAgents.deps(),
      ]);
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
          ended: (how) => metrics.count('trunkline_edge_test_calls_total', { how }),
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
