/**
 * The conferences of this edge. A call enters it by a transfer to `conference:<name>`, its agent leaves, and it hears the
 * others until it ends, is parked, or goes on hold for a while.
 */
import type { ConferenceTarget } from '#shared/call-target.ts';
import type { LiveCall } from '../live-call.ts';
import type { TransferOutcome } from '../ports/transfer.ts';
import { CommandRefused, LegsApart } from '../refused.ts';
import { failure } from '../transfer/outcome.ts';
import { Conference, type ConferenceDeps } from './conference.ts';
import type { ConferenceLimits } from './limits.ts';

export interface ConferencesDeps extends ConferenceDeps {
  readonly conferenceLimits: ConferenceLimits;
  /** Called once for every call that a limit keeps out. */
  readonly conferenceRefused: (limit: Full['limit']) => void;
}

export class Conferences {
  readonly #deps: ConferencesDeps;
  /** By organization and name. */
  readonly #open = new Map<string, Conference>();

  constructor(deps: ConferencesDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#open.size;
  }

  get parties(): number {
    return [...this.#open.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** @param by who has ordered it: an agent that has leaves the call, as after every transfer */
  join(target: ConferenceTarget, call: LiveCall, by: 'agent' | 'api'): TransferOutcome {
    const { name } = target;
    const { media, up, plan } = call;
    const key = `${plan.orgId} ${name}`;
    if (!up || !media) return failure('not_active', 'The call is not up.');
    const { obstacle } = call.transfers;
    if (obstacle !== null) return failure('not_active', `The call cannot be transferred: ${obstacle}`);
    const found = this.#open.get(key);
    const full = found ? this.#partiesOf(found) : this.#openOf(plan.orgId);
    if (full) {
      this.#deps.conferenceRefused(full.limit);
      return failure('full', full.reason);
    }
    const conference = found ?? this.#new(name, call);
    const membership = conference.membership(call, () => {
      if (conference.size === 0) this.#open.delete(key);
    });
    call.transfers.pairWith(membership);
    try {
      conference.enter(call, media, target);
    } catch (error) {
      membership.left(call.id);
      const code = error instanceof LegsApart ? 'apart' : 'target_failed';
      return failure(code, error instanceof Error ? error.message : String(error));
    }
    this.#open.set(key, conference);
    call.hold.leave();
    const agent = !found && target.keepsAgent && by === 'api' ? call.agent.endpoint : null;
    if (!agent) call.agent.close(`The call joined the conference ${name}.`);
    call.ledger.handedOver(`conference:${name}`);
    conference.welcome(call.id, agent);
    call.ledger.note(`Joined the conference ${name}.`);
    return { ok: true };
  }

  /**
   * For the API.
   * @throws CommandRefused when the call is in no conference
   */
  control(callId: string, action: 'mute' | 'unmute' | 'remove'): void {
    const conference = [...this.#open.values()].find((one) => one.has(callId));
    if (!conference)
      throw new CommandRefused('CALL_NOT_IN_CONFERENCE', 'The call is in no conference of this edge.');
    if (action === 'remove') conference.remove(callId);
    else conference.mute(callId, action === 'mute');
  }

  #new(name: string, { media, plan }: LiveCall): Conference {
    if (!media) throw new Error('a call without media cannot open a conference');
    const openedAt = new Date(this.#deps.clock.now()).toISOString();
    return new Conference({ id: this.#deps.newId(), name, orgId: plan.orgId, openedAt }, this.#deps, media);
  }

  #partiesOf({ size, facts }: Conference): Full | null {
    const { maxParties } = this.#deps.conferenceLimits;
    if (size < maxParties) return null;
    return {
      limit: 'parties',
      reason: `The conference ${facts.name} is full: it has ${maxParties} parties.`,
    };
  }

  #openOf(orgId: string): Full | null {
    const { mostOfOrganization, mostOfEdge } = this.#deps.conferenceLimits;
    const own = [...this.#open.values()].filter(({ facts }) => facts.orgId === orgId).length;
    if (own >= mostOfOrganization)
      return {
        limit: 'organization',
        reason: `The organization has ${own} conferences on this edge, which are all that it may have.`,
      };
    if (this.size < mostOfEdge) return null;
    return { limit: 'edge', reason: `The edge has ${mostOfEdge} conferences, and opens no more.` };
  }
}

interface Full {
  readonly limit: 'parties' | 'organization' | 'edge';
  readonly reason: string;
}
