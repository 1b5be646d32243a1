/** The agent of one call: prepared, started, paused, moved, closed. */
import type { CodecName } from '#shared/codecs.ts';
import { AgentSeat } from './agent-seat.ts';
import type { CallDeps } from './call-deps.ts';
import type { Termination } from './ending.ts';
import type { LiveCall, SeatedAgent } from './live-call.ts';
import type { AgentHost, AgentLeg, Agents, CallFacts } from './ports/agents.ts';
import { type AudioEndpoint, silence } from './ports/media.ts';
import { callFacts } from './record.ts';

export class CallAgent {
  readonly #call: LiveCall;
  readonly #agents: Agents;
  readonly #prepareTimeoutMs: number;
  #seat: SeatedAgent | null = null;
  /** Somebody speaks in the agent's place. */
  #standsBack = false;

  constructor(call: LiveCall, { agents, settings }: Pick<CallDeps, 'agents' | 'settings'>) {
    this.#call = call;
    this.#agents = agents;
    this.#prepareTimeoutMs = settings.prepareTimeoutMs;
  }

  /**
   * Creates the agent and prepares it.
   * @param speaker used instead of the plan's agent
   * @param expected codec of the peer's audio, where it is not negotiated yet
   * @returns why it failed; null when the agent is ready or the call has ended
   */
  async prepare(
    speaker?: (call: CallFacts, host: AgentHost) => AgentLeg,
    expected: CodecName | null = null,
  ): Promise<Termination | null> {
    const call = this.#call;
    const { id, facts, plan } = call;
    const { agent } = plan;
    const create = speaker ?? (agent && ((known, host) => this.#agents.create(agent, known, host)));
    if (!create) return { code: 'no_agent', detail: null };
    try {
      const known = { ...callFacts(id, facts, plan), codec: call.media?.codec ?? expected };
      this.#seat = new AgentSeat(call, (host) => create(known, host));
      const recording = call.recording.ready();
      await this.#inTime(this.#seat.agent.prepare());
      if (recording) await recording;
      return null;
    } catch (error) {
      if (call.termination) return null;
      call.log.warn({ err: error }, 'agent cannot take the call');
      return { code: 'agent_unavailable', detail: error instanceof Error ? error.message : String(error) };
    }
  }

  #inTime(work: Promise<void>): Promise<void> {
    const ms = this.#prepareTimeoutMs;
    return new Promise((resolve, reject) => {
      const timer = this.#call.limits.after(ms, () =>
        reject(new Error(`The agent was not ready within ${ms} ms`)),
      );
      work.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  /** Connects agent and peer. An agent moved here from another call is not started again. */
  start(): void {
    this.#attach();
    this.#seat?.start();
  }

  /** Whether it has an agent. */
  get present(): boolean {
    return this.#seat !== null;
  }

  /** Its audio; null without an agent. */
  get endpoint(): AudioEndpoint | null {
    return this.#seat?.agent ?? null;
  }

  /** Replaces the agent's audio with the waiting tone. */
  pause(): void {
    this.#call.attempt('play the waiting tone', () => this.#call.media?.attach(this.#agents.waiting()));
  }

  /** Replaces the agent's audio with music. */
  playMusic(): void {
    this.#call.attempt('play music', () => this.#call.media?.attach(this.#agents.music()));
  }

  /** Replaces the agent's audio with silence. */
  keepSilent(): void {
    this.#call.attempt('send silence', () => this.#call.media?.attach(silence));
  }

  /** While somebody speaks in its place, the agent says and hears nothing. */
  standBack(on: boolean): void {
    this.#standsBack = on;
    const { hold, transfers, up } = this.#call;
    // What else the peer hears now ends by itself, and then the agent stands back, or does not.
    if (up && !hold.active && transfers.obstacle === null) this.#attach();
  }

  /** @returns whether there is an agent that can be told something */
  instruct(text: string): boolean {
    const agent = this.#seat?.agent;
    if (!agent?.instruct) return false;
    agent.instruct(text);
    return true;
  }

  /** Restores the agent's audio. */
  resume(): void {
    if (this.#call.up) this.#attach();
  }

  /** Removes the agent; nobody speaks on the call after this. */
  dismiss(reason: string): void {
    this.#call.media?.attach(null);
    this.close(reason);
  }

  /** Moves the agent, with what it has extracted, to the peer of `other`, where it replaces the current agent. */
  moveTo(other: LiveCall): void {
    other.ledger.extracted = this.#call.ledger.extracted;
    other.transfers.free();
    other.recording.continue(this.#call.recording);
    const seat = this.#seat;
    this.#seat = null;
    this.#call.media?.attach(null);
    if (seat) other.agent.take(seat);
  }

  /** Replaces the agent by that of another call. */
  take(seat: SeatedAgent): void {
    this.close('The agent of the other call continues on this one.');
    this.#seat = seat;
    seat.moveTo(this.#call);
    this.resume();
  }

  /** Closes the agent; safe to call twice. */
  close(reason: string): void {
    const seat = this.#seat;
    this.#seat = null;
    this.#call.attempt('close the agent', () => seat?.close(reason));
  }

  #attach(): void {
    const agent = this.#seat?.agent ?? null;
    if (agent && this.#standsBack) {
      this.keepSilent();
      return;
    }
    // A leg that is about to be bridged sends nothing of ours: the relay is another stream, with an SSRC of its own, and
    // baresip plays nothing of a peer whose SSRC changes within its first packets.
    this.#call.media?.attach(agent?.silent ? null : agent);
  }
}
