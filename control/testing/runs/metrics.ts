/** Metrics of test runs. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Missed } from '../over-call/over-call.ts';

export interface RunMetrics {
  began(): void;
  ended(status: string, ms: number | null): void;
  cancelled(): void;
  /** A run over a call timed out waiting. */
  callMissed(what: Missed): void;
  streamBegan(): void;
  streamEnded(): void;
}

/** @param counts called when metrics are read */
export function runMetrics(
  registry: Registry,
  counts: {
    readonly running: () => number;
    readonly waiting: () => Promise<number>;
    readonly calls: () => number;
  },
): RunMetrics {
  const registers = [registry];
  new Gauge({
    name: 'trunkline_control_test_runs',
    help: 'Running test runs.',
    registers,
    collect() {
      this.set(counts.running());
    },
  });
  new Gauge({
    name: 'trunkline_control_test_runs_waiting',
    help: 'Waiting test runs.',
    registers,
    async collect() {
      this.set(await counts.waiting());
    },
  });
  new Gauge({
    name: 'trunkline_control_test_calls',
    help: 'Test runs over a call that wait for an edge or are connected to one.',
    registers,
    collect() {
      this.set(counts.calls());
    },
  });
  const missed = new Counter({
    name: 'trunkline_control_test_calls_missed_total',
    help: 'Attempts of test runs that timed out waiting for an edge, for room on it, or for its socket.',
    labelNames: ['what'],
    registers,
  });
  const attempts = new Counter({
    name: 'trunkline_control_test_run_begins_total',
    help: 'Test runs started, including restarts.',
    registers,
  });
  const ended = new Counter({
    name: 'trunkline_control_test_runs_ended_total',
    help: 'Test runs that ended, by status.',
    labelNames: ['status'],
    registers,
  });
  const seconds = new Histogram({
    name: 'trunkline_control_test_run_seconds',
    help: 'Time that the conversation of a test run and its verdict took.',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 600],
    registers,
  });
  const streams = new Gauge({
    name: 'trunkline_control_test_streams',
    help: 'Event streams of test runs and batches that are open.',
    registers,
  });
  return {
    began: () => attempts.inc(),
    ended: (status, ms) => {
      ended.inc({ status });
      if (ms !== null) seconds.observe(ms / 1000);
    },
    cancelled: () => ended.inc({ status: 'CANCELLED' }),
    callMissed: (what) => missed.inc({ what }),
    streamBegan: () => streams.inc(),
    streamEnded: () => streams.dec(),
  };
}
