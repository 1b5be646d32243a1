/** What is measured on one call: samples of its media and the turns of its agent, on the axis of the call's time. */
import { type MeasuredCall, type QualitySample, sampleFlags } from '#shared/edge-protocol/measured.ts';
import type { CallDeps } from '../call-deps.ts';
import type { LiveCall } from '../live-call.ts';
import type { AgentMark } from '../ports/agents.ts';
import type { LegSample } from '../ports/media.ts';
import { measuredLimits } from './limits.ts';
import { QualitySeries } from './quality-series.ts';
import { TurnNumbers } from './turn-numbers.ts';

export class CallMeasurements {
  readonly #call: LiveCall;
  readonly #reporter: CallDeps['reporter'];
  readonly #series: QualitySeries;
  readonly #turns: TurnNumbers;

  constructor(call: LiveCall, { reporter }: Pick<CallDeps, 'reporter'>) {
    this.#call = call;
    this.#reporter = reporter;
    this.#series = new QualitySeries(measuredLimits);
    this.#turns = new TurnNumbers(measuredLimits);
  }

  sample(sample: LegSample): void {
    const { ledger } = this.#call;
    if (ledger.closed) return;
    const part = this.#series.add(sampleAt(ledger.msSinceStart(sample.at), sample));
    if (part) this.#report({ quality: [part], marks: [] });
  }

  /** @param agent whose turns they are */
  mark(agent: object, { turn, what, at }: AgentMark): void {
    const { ledger } = this.#call;
    if (ledger.closed) return;
    const number = this.#turns.take(agent, turn);
    if (number !== null) this.#report({ quality: [], marks: [[number, what, ledger.msSinceStart(at)]] });
  }

  #report(measured: Pick<MeasuredCall, 'quality' | 'marks'>): void {
    const call = { call_id: this.#call.id, ...measured };
    this.#call.attempt('report what was measured', () =>
      this.#reporter.report({ type: 'measured', calls: [call] }),
    );
  }
}

/** @param at ms since the call's start */
function sampleAt(at: number, sample: LegSample): QualitySample {
  const { relayed, held } = sampleFlags;
  return [
    at,
    Math.round(sample.durationMs),
    (sample.relayed ? relayed : 0) | (sample.held ? held : 0),
    sample.received,
    sample.lost,
    sample.late,
    rounded(sample.jitterMs, 10),
    rounded(sample.bufferMs, 1),
    sample.levelReceived,
    sample.sent,
    rounded(sample.peerLossPercent, 10),
    sample.levelSent,
    rounded(sample.roundTripMs, 10),
    rounded(sample.mosReceived, 100),
    rounded(sample.mosSent, 100),
    rounded(sample.clockLateMs, 10),
  ];
}

function rounded(value: number | null, steps: number): number | null {
  return value === null ? null : Math.round(value * steps) / steps;
}
