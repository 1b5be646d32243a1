/** The agent of one call: prepared, started, paused, moved, closed. */
import type { Timer } from '#shared/clock.ts';
import { AgentSeat } from './agent-seat.ts';
import type { CallPlan } from './call-plan.ts';
import type { Termination } from './ending.ts';
import type { Log } from './log.ts';
import type { AgentHost, AgentLeg, Agents, CallFacts } from './ports/agents.ts';
import type { MediaLeg } from './ports/media.ts';
import type { LegFacts } from './ports/signaling.ts';
import { callFacts } from './record.ts';

/** The call, as far as its agent needs it. */
interface AgentsCall {
  readonly id: string;
  readonly facts: LegFacts;
  readonly plan: CallPlan;
  readonly log: Log;
  readonly media: MediaLeg | null;
  readonly up: boolean;
  readonly termination: Termination | null;
  after(ms: number, fire: () => void): Timer;
  cancel(timer: Timer): void;
  /** Runs `work`; an exception is logged and does not end the call. */
  attempt(what: string, work: () => void): void;
}

export class CallAgent {
  readonly #call: AgentsCall;
  readonly #host: AgentHost;
  readonly #agents: Agents;
  readonly #prepareTimeoutMs: number;
  #seat: AgentSeat | null = null;

  /**
   * @param host what an agent may ask of the call
   * @param prepareTimeoutMs how long an agent may take to get ready
   */
  constructor(call: AgentsCall, host: AgentHost, agents: Agents, prepareTimeoutMs: number) {
    this.#call = call;
    this.#host = host;
    this.#agents = agents;
    this.#prepareTimeoutMs = prepareTimeoutMs;
  }

  /**
   * Creates the agent and prepares it.
   * @param speaker used instead of the plan's agent
   * @returns why it failed; null when the agent is ready or the call has ended
   */
  async prepare(speaker?: (call: CallFacts, host: AgentHost) => AgentLeg): Promise<Termination | null> {
    const call = this.#call;
    const { id, facts, plan } = call;
    const { agent } = plan;
    const create = speaker ?? (agent && ((told, host) => this.#agents.create(agent, told, host)));
    if (!create) return { code: 'no_agent', detail: null };
    try {
      this.#seat = new AgentSeat(this.#host, (host) => create(callFacts(id, facts, plan), host));
      await this.#inTime(this.#seat.agent.prepare());
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
      const timer = this.#call.after(ms, () => reject(new Error(`The agent was not ready within ${ms} ms`)));
      work.then(resolve, reject).finally(() => this.#call.cancel(timer));
    });
  }

  /** Connects agent and peer. An agent moved here from another call is not started again. */
  start(): void {
    this.#attach();
    this.#seat?.start();
  }

  /** Replaces the agent's audio with the waiting tone. */
  pause(): void {
    this.#call.attempt('play the waiting tone', () => this.#call.media?.attach(this.#agents.waiting()));
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

  /** Moves the agent to another call, where it replaces the current agent. */
  moveTo(other: CallAgent): void {
    const seat = this.#seat;
    this.#seat = null;
    this.#call.media?.attach(null);
    if (!seat) return;
    other.close('The agent of the other call takes this one.');
    other.#seat = seat;
    seat.moveTo(other.#host);
    other.resume();
  }

  /** Closes the agent; safe to call twice. */
  close(reason: string): void {
    const seat = this.#seat;
    this.#seat = null;
    this.#call.attempt('close the agent', () => seat?.close(reason));
  }

  #attach(): void {
    this.#call.media?.attach(this.#seat?.agent ?? null);
  }
}
