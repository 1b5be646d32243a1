/** The progress of a test call (contract 3.2): a line per event, each reported as it happens. */
import type { Clock } from '#shared/clock.ts';
import { queuedTestCall, type TestCallState } from '#shared/edge-protocol/reports.ts';

export type StoryEvent = TestCallState['timeline'][number]['event'];
type Facts = Partial<Omit<TestCallState, 'status' | 'timeline'>>;

/** Status of the call after an event that does not end it; other events leave it unchanged. */
const statusAfter: Partial<Record<StoryEvent, TestCallState['status']>> = {
  initiated: 'initiated',
  ringing: 'ringing',
  early_media: 'ringing',
  answered: 'in-progress',
};

export class Story {
  readonly #clock: Clock;
  readonly #report: (state: TestCallState) => void;
  #state: TestCallState = queuedTestCall;

  constructor(clock: Clock, report: (state: TestCallState) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  get over(): boolean {
    return this.#state.result !== 'pending';
  }

  /** Adds a line; ignored after the end. @param facts other fields known now */
  add(event: StoryEvent, detail: string, facts: Facts = {}): void {
    if (!this.over)
      this.#become(event, detail, { ...facts, status: statusAfter[event] ?? this.#state.status });
  }

  /** Adds the last line. */
  end(event: StoryEvent, detail: string, facts: Facts & Pick<TestCallState, 'status' | 'result'>): void {
    if (!this.over) this.#become(event, detail, facts);
  }

  #become(event: StoryEvent, detail: string, facts: Facts & Pick<TestCallState, 'status'>): void {
    const at = new Date(this.#clock.now()).toISOString();
    this.#state = { ...this.#state, ...facts, timeline: [...this.#state.timeline, { event, at, detail }] };
    this.#report(this.#state);
  }
}
