/** What reads the data of a screen again. Each reading names one, so that nobody has to reload anything. */
import type { LiveEvent } from '../api/follow.ts';

export interface Renewal {
  /** Of what may change it, as `GET /v1/events` takes it. */
  readonly events?: Readonly<Record<string, string>>;
  /** Which of these events may change it; without it all. */
  readonly matters?: (event: LiveEvent) => boolean;
  /** Between two readings at least, however many events come, ms. */
  readonly gapMs?: number;
  /** Read again this often, with or without events, ms. */
  readonly everyMs?: number;
}

/** What others change at any time without an event. */
export const usual: Renewal = { everyMs: 5000 };
/** The same, where a reading costs much, or brings only what there is to choose from. */
export const seldom: Renewal = { everyMs: 30_000 };
/** What does not change while it is shown. */
export const unchanging: Renewal = {};

/** What goes on now, and whose end, or the end of its edge, has no event. */
export const underWay: Renewal = { everyMs: 2000 };

/** Test runs, as they wait, run and end. */
export const testRuns: Renewal = { events: { types: 'test_run' } };
/** Figures over many test runs: of those that have ended, and with work for control. */
export const endedRuns: Renewal = {
  ...testRuns,
  matters: ({ type }) => type === 'test_run.ended',
  gapMs: 5000,
};

/** Alerts that are raised and resolved. */
export const openAlerts: Renewal = { events: { types: 'alert' } };
