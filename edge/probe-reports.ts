import type { Clock, Timer } from '#shared/clock.ts';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { HealthProbe } from '#shared/trunk-protocol.ts';

/** How long probes are collected into one report, ms. */
const gatherMs = 1_000;
/** Maximum probes in one report. */
const maxProbes = 500;

/** Collects probes into reports: an edge with thousands of endpoints must not write one report for each. */
export class ProbeReports {
  readonly #clock: Clock;
  readonly #report: (body: ReportBody) => void;
  readonly #epoch: () => number | null;
  #probes: HealthProbe[] = [];
  #timer: Timer | null = null;

  /** @param epoch of the fleet, at the time of a report; null: none */
  constructor(clock: Clock, report: (body: ReportBody) => void, epoch: () => number | null = () => null) {
    this.#epoch = epoch;
    this.#clock = clock;
    this.#report = report;
  }

  add(probe: HealthProbe): void {
    this.#probes.push(probe);
    if (this.#probes.length >= maxProbes) this.flush();
    else this.#timer ??= this.#clock.after(gatherMs, () => this.flush());
  }

  /** Reports at once that the next call over a trunk tries another endpoint first. */
  moved(trunkId: string, activePriority: number): void {
    this.#send([{ trunk_id: trunkId, active_priority: activePriority }]);
  }

  /** Reports everything collected so far. */
  flush(): void {
    if (this.#probes.length > 0) this.#send();
  }

  /** Probes from before a failover are sent with it, so that they are not processed after it. */
  #send(moves?: { readonly trunk_id: string; readonly active_priority: number }[]): void {
    this.#timer?.cancel();
    this.#timer = null;
    const probes = this.#probes;
    this.#probes = [];
    const epoch = this.#epoch();
    this.#report({ type: 'health', probes, ...(moves && { moves }), ...(epoch !== null && { epoch }) });
  }
}
