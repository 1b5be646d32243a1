/**
 * One supervisor at one call.
 *
 *     listen <──> whisper <──> barge      each in any order
 *        ^           ^           ^
 *        +-----------+-----------+──> take_over: the agent neither hears nor says anything
 */
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import type { SupervisionMode } from '#shared/supervision.ts';
import type { LiveCall } from '../live-call.ts';
import type { Media, MediaSupervision } from '../ports/media.ts';
import { CommandRefused } from '../refused.ts';

export class Supervision {
  readonly call: LiveCall;
  /** The supervisor's own call. */
  readonly leg: LiveCall;
  /** The side of the call on which its agent is. */
  readonly agent: 'near' | 'far';
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #media: MediaSupervision;
  #mode: SupervisionMode = 'listen';
  /** When it took the call over, ms of the clock's elapsed time; null: it has not. */
  #since: number | null = null;

  /** @throws LegsApart, CommandRefused when one of them has no media */
  constructor(call: LiveCall, leg: LiveCall, { media, clock }: { media: Media; clock: Clock }) {
    if (!call.media || !leg.media) throw new CommandRefused('CALL_NOT_ACTIVE', 'The call is not up.');
    this.call = call;
    this.leg = leg;
    this.#clock = clock;
    this.agent = sideOfAgent(call);
    const tone = leg.plan.supervises?.tone ?? false;
    this.#media = media.supervise(call.media, leg.media, { agent: this.agent, tone });
  }

  get mode(): SupervisionMode {
    return this.#mode;
  }

  /**
   * @param note what the agent is to know of what was said, when it gets the call back; null: nothing
   * @throws CommandRefused when the call is on hold, and cannot be taken over
   */
  change(mode: SupervisionMode, note: string | null): void {
    if (mode === this.#mode) return;
    if (mode === 'take_over' && this.call.hold.active)
      throw new CommandRefused('CALL_NOT_ACTIVE', 'The call is on hold: end that before you take it over.');
    const before = this.#mode;
    this.#mode = mode;
    if (mode === 'take_over') this.#takeOver();
    this.#media.setMode(mode);
    if (before === 'take_over') this.#giveBack(note);
  }

  /** The supervisor, or the call, is gone. */
  end(): void {
    this.#media.close();
    if (this.#mode === 'take_over') this.#giveBack(null);
    this.#mode = 'listen';
  }

  #takeOver(): void {
    this.#since = this.#clock.elapsed();
    this.call.agent.standBack(true);
    this.call.ledger.note('A supervisor took the call over.');
  }

  #giveBack(note: string | null): void {
    const { agent, ledger, up } = this.call;
    const took = Math.max(1, Math.round((this.#clock.elapsed() - (this.#since ?? 0)) / 1000));
    this.#since = null;
    if (!up) return;
    agent.instruct(givenBack(took, note));
    agent.standBack(false);
    ledger.note(`The supervisor gave the call back after ${counted(took, 'second')}.`);
  }
}

/**
 * Of the call's leg. That to the target of a transfer has the person who helps the caller as its peer, unless an agent
 * goes on with it alone.
 */
export function sideOfAgent({
  plan,
  agent,
  transfers,
}: Pick<LiveCall, 'plan' | 'agent' | 'transfers'>): 'near' | 'far' {
  const isAgents = agent.present && !transfers.bound;
  return plan.transfer && !isAgents ? 'near' : 'far';
}

function givenBack(seconds: number, note: string | null): string {
  const about = note === null ? '' : ` About it the supervisor says: ${note}`;
  return `A supervisor spoke with the person in your place for ${counted(seconds, 'second')}, and you heard nothing of it.${about} Now it is your turn again: go on from there, and do not start over.`;
}
