/** Inbound calls on fakes. */
import { beforeEach } from 'vitest';
import { FakeClock } from '#shared/clock.ts';
import type { CallRecord } from '#shared/edge-protocol/calls.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { CallPlan } from '../../../edge/call/call-plan.ts';
import { Calls } from '../../../edge/call/calls.ts';
import { echoAgent, FakeAgents } from '../fakes/fake-agents.ts';
import { FakeMedia } from '../fakes/fake-media.ts';
import { QuietLog } from '../fakes/quiet-log.ts';
import { loopback } from './loopback.ts';

export const plan: CallPlan = {
  orgId: 'org-1',
  number: '+14155550100',
  trunkId: 'trunk-1',
  agent: { ...echoAgent, request_data: { plan: 'gold', to: 'nobody' } },
  variables: { customer: '42' },
};

/** Lets every pending promise settle. */
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Fresh fakes for each test. */
export function callScene() {
  let clock: FakeClock;
  let media: FakeMedia;
  let agents: FakeAgents;
  let log: QuietLog;
  let records: CallRecord[];
  let reports: ReportBody[];
  let calls: Calls;
  let failReports: boolean;
  let leftOut: number;

  beforeEach(() => {
    clock = new FakeClock(Date.UTC(2030, 0, 1));
    media = new FakeMedia();
    agents = new FakeAgents();
    log = new QuietLog();
    records = [];
    reports = [];
    failReports = false;
    leftOut = 0;
    let next = 1;
    const { shard } = loopback(media, agents, clock);
    calls = new Calls({
      clock,
      media: shard,
      agents: shard,
      log,
      newId: () => `id-${next++}`,
      maxCalls: 2,
      linesLeftOut: (count) => {
        leftOut += count;
      },
      settings: { ringAfterMs: 200, prepareTimeoutMs: 5000, mediaTimeoutMs: 60_000 },
      reporter: {
        report: (body) => {
          if (failReports) throw new Error('disk full');
          reports.push(body);
          if (body.type === 'call') records.push(body.call);
        },
      },
    });
  });

  const last = () => records.at(-1);

  return {
    get clock() {
      return clock;
    },
    get media() {
      return media;
    },
    get agents() {
      return agents;
    },
    get log() {
      return log;
    },
    get records() {
      return records;
    },
    get reports() {
      return reports;
    },
    get calls() {
      return calls;
    },
    /** Lines of transcripts that were left out. */
    get leftOut() {
      return leftOut;
    },
    get failReports() {
      return failReports;
    },
    set failReports(value) {
      failReports = value;
    },
    last,
  };
}
