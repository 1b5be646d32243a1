/**
 * Agents of phone sessions that are for an agent instead of a number. Control sends each before the session is given out;
 * it is kept in memory until the session expires, as what the session has been used for is.
 */
import type { Clock } from '#shared/clock.ts';
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import { CommandRefused } from '../../../call/refused.ts';

/** Sessions whose agents are kept at a time. An agent has up to some 100 kB of texts. */
const mostAgents = 1_000;
/** Of one organization. */
const mostAgentsOfOrganization = 100;

export type PhoneAgent = Omit<Extract<EdgeCommand, { kind: 'phone.agent' }>, 'kind'>;

export class PhoneAgents {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #most: number;
  readonly #agents = new Map<string, PhoneAgent>();

  /** @param most sessions whose agents are kept */
  constructor(clock: Pick<Clock, 'now'>, most = mostAgents) {
    this.#clock = clock;
    this.#most = most;
  }

  /** @throws CommandRefused QUOTA_EXCEEDED when there are too many */
  expect(agent: PhoneAgent): void {
    this.#forgetExpired();
    const isKnown = this.#agents.has(agent.session_id);
    const own = [...this.#agents.values()].filter(({ org_id }) => org_id === agent.org_id).length;
    if (!isKnown && (own >= mostAgentsOfOrganization || this.#agents.size >= this.#most))
      throw new CommandRefused(
        'QUOTA_EXCEEDED',
        'The edge keeps the agents of too many phone sessions; wait until some have expired.',
      );
    this.#agents.set(agent.session_id, agent);
  }

  /** @returns undefined: there is none, or it has expired */
  find(sessionId: string): PhoneAgent | undefined {
    const found = this.#agents.get(sessionId);
    return found && found.expires_at > this.#clock.now() ? found : undefined;
  }

  #forgetExpired(): void {
    const now = this.#clock.now();
    for (const [id, { expires_at }] of this.#agents) if (expires_at <= now) this.#agents.delete(id);
  }
}
