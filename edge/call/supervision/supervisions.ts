/**
 * The supervisors of this edge's calls. Each is a call of a browser with a session for it (shared/phone-session.ts), joins
 * when that is up, and leaves when either call ends: the supervised call goes on without it, it does not without the call.
 *
 *     INVITE ──obstacle──> call of the browser ──join──> at the call ──change, whisper──> ... ──callEnded──> gone
 */
import type { Clock } from '#shared/clock.ts';
import { counted } from '#shared/counted.ts';
import type { SupervisionMode } from '#shared/supervision.ts';
import type { LiveCall } from '../live-call.ts';
import type { Media } from '../ports/media.ts';
import { CommandRefused } from '../refused.ts';
import type { SupervisionLimits } from './limits.ts';
import { Supervision, sideOfAgent } from './supervision.ts';

export interface SupervisionsDeps {
  readonly clock: Clock;
  readonly media: Media;
  readonly supervisionLimits: SupervisionLimits;
  /** Called once for every supervisor that the limit keeps out. */
  readonly supervisionRefused: () => void;
  /** Speaks a text for the person on a call, at 8 kHz. Rejects when that fails or takes too long; absent: nothing speaks. */
  readonly speak?: Speak;
}

export type Speak = (text: string, call: Pick<LiveCall, 'plan'>) => Promise<Int16Array>;

/** Of {@link Speak}. */
const wordsPerSecond = 8000;

export class Supervisions {
  readonly #deps: SupervisionsDeps;
  readonly #find: (callId: string) => LiveCall | undefined;
  /** By the supervised call. */
  readonly #atCalls = new Map<string, readonly Supervision[]>();
  /** Until when the person on a call is told texts, ms of the clock's elapsed time. */
  readonly #tellingUntil = new Map<string, number>();

  /** @param find a live call */
  constructor(deps: SupervisionsDeps, find: (callId: string) => LiveCall | undefined) {
    this.#deps = deps;
    this.#find = find;
  }

  /** Supervisors at calls. */
  get size(): number {
    return [...this.#atCalls.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Why no supervisor of the organization can join the call, a sentence; null: one can. */
  obstacle(orgId: string, callId: string): string | null {
    const call = this.#find(callId);
    // Whether others have such a call is nobody's business.
    if (!call?.up || call.plan.orgId !== orgId) return 'The call to supervise is not up.';
    if (call.plan.supervises) return 'The call to supervise is that of a supervisor.';
    if (call.plan.testRunId !== undefined) return 'The call to supervise belongs to a test.';
    const { mostAtCall } = this.#deps.supervisionLimits;
    if (this.#at(callId).length < mostAtCall) return null;
    this.#deps.supervisionRefused();
    return `The call has ${counted(mostAtCall, 'supervisor')}, and takes no more.`;
  }

  /** The call of a supervisor is up. It ends when the supervised one is over by now. */
  join(leg: LiveCall): void {
    const { supervises, orgId } = leg.plan;
    if (!supervises) return;
    const { callId } = supervises;
    const obstacle = this.obstacle(orgId, callId);
    const call = this.#find(callId);
    if (obstacle !== null || !call) {
      leg.end({ code: 'supervision_ended', detail: obstacle });
      return;
    }
    this.#atCalls.set(callId, [...this.#at(callId), new Supervision(call, leg, this.#deps)]);
    leg.log.info({ supervised_call_id: callId }, 'a supervisor joined a call');
  }

  /**
   * Changes what a supervisor does, for the API.
   * @throws CommandRefused when it is not at the call, or another one has taken the call over
   */
  change(callId: string, sessionId: string, mode: SupervisionMode, note: string | null): void {
    const all = this.#at(callId);
    const own = all.find(({ leg }) => leg.plan.supervises?.sessionId === sessionId);
    if (!own) throw new CommandRefused('SUPERVISOR_NOT_THERE', 'The supervisor is not at the call.');
    const other = all.find((one) => one !== own && one.mode === 'take_over');
    if (mode === 'take_over' && other)
      throw new CommandRefused(
        'CALL_TAKEN_OVER',
        `${other.leg.facts.from} has taken the call over: it must be given back first.`,
      );
    own.change(mode, note);
  }

  /**
   * Tells the agent of a call what to do, for the API: its model, or the person to whom the call was transferred. The
   * other party does not hear it. Rejects with a CommandRefused when the call is not up, its agent has no model, or the
   * text cannot be spoken.
   */
  async whisper(callId: string, text: string): Promise<void> {
    const call = this.#find(callId);
    if (!call?.up) throw new CommandRefused('CALL_NOT_ACTIVE', 'The call is not up.');
    if (call.transfers.withOne) return this.#tell(call, text);
    if (!call.agent.instruct(`A supervisor, whom the person does not hear, tells you: ${text}`))
      throw new CommandRefused(
        'AGENT_TAKES_NO_TEXT',
        'The call has no agent with a model now: whisper with your voice instead.',
      );
    call.ledger.note(`A supervisor told the agent: ${text}`);
  }

  async #tell(call: LiveCall, text: string): Promise<void> {
    const { speak, clock, supervisionLimits: limits } = this.#deps;
    const noText = (why: string) => new CommandRefused('AGENT_TAKES_NO_TEXT', why);
    if (!speak)
      throw noText('The agent is a person, and this edge speaks no texts: whisper with your voice instead.');
    const words = await speak(text, call).catch((error: unknown) => {
      call.log.warn({ err: error }, 'the text of a supervisor could not be spoken');
      throw noText('The text could not be spoken in time: shorten it, or whisper with your voice.');
    });
    if (!call.up || !call.media || !call.transfers.withOne || call.hold.active)
      throw new CommandRefused('CALL_NOT_ACTIVE', 'The person is not on the call now.');
    const now = clock.elapsed();
    const from = Math.max(now, this.#tellingUntil.get(call.id) ?? 0);
    const until = from + (words.length * 1000) / wordsPerSecond;
    if (until - now > limits.mostToldMs)
      throw noText(
        'The person still hears earlier texts: wait until they are said, or whisper with your voice.',
      );
    this.#tellingUntil.set(call.id, until);
    call.media.tell(sideOfAgent(call), words);
    call.ledger.note(`A supervisor told the person: ${text}`);
  }

  /** A call is over, whichever it is. */
  callEnded(call: LiveCall): void {
    this.#tellingUntil.delete(call.id);
    this.#dismiss(call, null);
    const { supervises } = call.plan;
    if (supervises) this.#leave(call, supervises.callId);
  }

  /** The agent of a call has changed: to supervisors for whom it is on the other side now, a whisper would reach the caller. */
  agentChanged(call: LiveCall): void {
    const agent = sideOfAgent(call);
    if (this.#at(call.id).some((one) => one.agent !== agent))
      this.#dismiss(call, 'The call was joined with an agent.');
  }

  #dismiss(call: LiveCall, detail: string | null): void {
    const at = this.#at(call.id);
    this.#atCalls.delete(call.id);
    for (const one of at) {
      one.end();
      one.leg.end({ code: 'supervision_ended', detail });
    }
  }

  #leave(leg: LiveCall, callId: string): void {
    const at = this.#at(callId);
    const left = at.filter((one) => one.leg !== leg);
    if (left.length > 0) this.#atCalls.set(callId, left);
    else this.#atCalls.delete(callId);
    for (const one of at) if (one.leg === leg) one.end();
  }

  #at(callId: string): readonly Supervision[] {
    return this.#atCalls.get(callId) ?? [];
  }
}
