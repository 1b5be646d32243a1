/**
 * The order of the test files. One project after the other, because a process serves one project, and a new one takes
 * seconds of CPU to load and compile what it tests. In a project, a long file that starts last leaves the other cores
 * idle. Vitest knows the duration of a file only after a first run, so in a fresh checkout these go first; the others keep
 * Vitest's order.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take twenty seconds or more, mostly waiting, longest first. An extra or missing name does no harm. */
const long: readonly string[] = [
  'test/system/console-screens.test.ts',
  'test/system/agent-test-figures.test.ts',
  'test/system/soak.test.ts',
  'edge/media/hearing.test.ts',
  'test/system/postgres.test.ts',
  'test/peers/edge-proxy.test.ts',
  'test/system/voicemail.test.ts',
  'test/system/agent-test-call.test.ts',
  'control/webhooks/deadly.test.ts',
  'test/system/faults.test.ts',
  'test/system/crash.test.ts',
  'test/system/replicas-work.test.ts',
  'test/system/start.test.ts',
  'edge/signaling/session/held-calls.test.ts',
  'test/system/transfer-ends.test.ts',
  'test/peers/kamailio.test.ts',
  'test/peers/baresip.test.ts',
  'edge/signaling/session/lost-dialogs.test.ts',
  'test/system/websocket.test.ts',
  'test/system/widget.test.ts',
  'test/system/several-controls.test.ts',
  'test/system/agent-testing.test.ts',
  'test/system/agent-test-persona.test.ts',
  'test/system/fleet.test.ts',
  'test/system/outbound.test.ts',
  'test/system/test-call-media.test.ts',
  'test/system/abuse.test.ts',
  'test/system/call-limits.test.ts',
  'test/system/recordings.test.ts',
  'edge/engine/transport/flood.test.ts',
  'test/fuzz/fuzzer.test.ts',
  'control/operations/backup.test.ts',
  'test/system/inbound.test.ts',
  'test/system/transfers.test.ts',
  'control/bootstrap.test.ts',
  'test/sipp/scenarios.test.ts',
  'edge/media/leg.test.ts',
  'test/sipp/registrar.test.ts',
  'test/system/agent-test-spoken.test.ts',
  'control/alerts/kill.test.ts',
  'test/system/codecs.test.ts',
  'test/simulation/simulation.test.ts',
  'edge/signaling/guard.test.ts',
  'test/system/call-data.test.ts',
  'test/system/guides.test.ts',
  'test/system/engines.test.ts',
  'control/testing/runs/kill.test.ts',
];

/** The programs first: their tests wait most, and `unit` has the most short files to end with. */
const projects: readonly string[] = ['system', 'postgres', 'unit'];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    const place = ({ moduleId, project }: TestSpecification) => {
      const at = long.indexOf(relative(this.ctx.config.root, moduleId));
      return { project: projects.indexOf(project.name), at: at < 0 ? long.length : at };
    };
    return usual.toSorted((a, b) => {
      const [one, other] = [place(a), place(b)];
      return one.project - other.project || one.at - other.at;
    });
  }
}
