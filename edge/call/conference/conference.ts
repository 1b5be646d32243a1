/** One conference: its room, its parties, and what their records say about it. */

import type { ConferenceTarget } from '#shared/call-target.ts';
import type { Clock } from '#shared/clock.ts';
import type { ConferenceEvent } from '#shared/edge-protocol/calls.ts';
import type { NewId } from '#shared/ids.ts';
import type { LiveCall, LivePairing } from '../live-call.ts';
import type { AudioEndpoint, Media, MediaLeg, MediaRoom } from '../ports/media.ts';

export interface ConferenceDeps {
  readonly media: Media;
  readonly clock: Clock;
  readonly newId: NewId;
}

export interface ConferenceFacts {
  readonly id: string;
  readonly name: string;
  readonly orgId: string;
  /** ISO. */
  readonly openedAt: string;
}

interface Party {
  readonly call: LiveCall;
  readonly media: MediaLeg;
  readonly joinedAt: string;
  readonly isModerator: boolean;
  readonly hasTones: boolean;
  muted: boolean;
  /** The room hears its voice, or heard it a moment ago. */
  voiced: boolean;
  /** The others hear its voice. */
  speaking: boolean;
  away: boolean;
  /** It is in the room: not on hold, and not alone. */
  seated: boolean;
}

export class Conference {
  readonly facts: ConferenceFacts;
  readonly #deps: ConferenceDeps;
  readonly #room: MediaRoom;
  /** An agent that has stayed, and whose it is. */
  #agent: { readonly callId: string; readonly endpoint: AudioEndpoint } | null = null;
  /** Who began to speak last. */
  #speaker: string | null = null;
  readonly #parties = new Map<string, Party>();
  /** The parties, and a call that is about to be one. */
  readonly #members = new Set<LiveCall>();

  constructor(facts: ConferenceFacts, deps: ConferenceDeps, beside: MediaLeg) {
    this.facts = facts;
    this.#deps = deps;
    this.#room = deps.media.openRoom(beside, {
      heard: (leg, speaks) => this.#heard(leg, speaks),
      failed: (error) => this.#failed(error),
      agentFailed: (error) => this.#agentFailed(error),
    });
  }

  get size(): number {
    return this.#parties.size;
  }

  has(callId: string): boolean {
    return this.#parties.has(callId);
  }

  /**
   * The call's part in it, which ends with the call.
   * @param left called once, when the call has left
   */
  membership(call: LiveCall, left: () => void): LivePairing {
    let isOver = false;
    this.#members.add(call);
    return {
      parting: {
        isPossible: () => !isOver,
        part: () => this.#away(call.id, true),
        rejoin: () => this.#away(call.id, false),
      },
      get over() {
        return isOver;
      },
      joining: false,
      inRoom: true,
      company: (callId) => [...this.#members].filter(({ id }) => id !== callId),
      describe: () => `It is in the conference ${this.facts.name}.`,
      // Calls leave a conference one by one.
      dissolve: () => {},
      left: () => {
        if (isOver) return;
        isOver = true;
        this.#leave(call);
        this.#members.delete(call);
        for (const { recording } of [call, ...this.#members]) recording.followOthers();
        left();
      },
    };
  }

  /** @throws LegsApart when its media is in another place than the room */
  enter(call: LiveCall, media: MediaLeg, { isModerator, hasTones }: ConferenceTarget): void {
    const now = { muted: false, voiced: false, speaking: false, away: false, seated: false };
    const party: Party = { call, media, joinedAt: this.#now(), isModerator, hasTones, ...now };
    if (this.#parties.size > 0) this.#sit(party);
    this.#parties.set(call.id, party);
  }

  /** Those who are here hear each other and the agent; who is alone hears music. */
  #arrange(): void {
    const present = [...this.#parties.values()].filter(({ away }) => !away);
    const [first, ...others] = present;
    const agent = this.#agent?.endpoint;
    if (agent && !first) this.#room.leaveAgent(agent);
    if (agent || others.length > 0) {
      for (const party of present) this.#sit(party);
      if (agent && first) this.#room.enterAgent(agent);
    } else if (first) {
      this.#rise(first);
      first.call.agent.playMusic();
    }
  }

  #sit(party: Party): void {
    if (party.seated) return;
    this.#room.enter(party.media, party.hasTones);
    party.seated = true;
    if (party.muted) this.#room.mute(party.media, true);
  }

  #rise(party: Party): void {
    if (!party.seated) return;
    party.seated = false;
    this.#room.leave(party.media);
    this.#heard(party.media, false);
  }

  /**
   * It hears the others, and its record says that it is here.
   * @param agent of the call, when it stays
   */
  welcome(callId: string, agent: AudioEndpoint | null): void {
    const party = this.#parties.get(callId);
    if (!party) return;
    if (agent) this.#agent = { callId, endpoint: agent };
    this.#arrange();
    this.#report(party, 'joined');
  }

  #report({ call, joinedAt, isModerator, muted, speaking }: Party, what?: ConferenceEvent['what']): void {
    const { id, name, openedAt } = this.facts;
    const state = {
      id,
      name,
      opened_at: openedAt,
      joined_at: joinedAt,
      moderator: isModerator,
      muted,
      speaking,
    };
    call.ledger.inConference(state, what && this.#event(what));
  }

  #event(what: ConferenceEvent['what']): ConferenceEvent {
    const { id, name } = this.facts;
    return { id: this.#deps.newId(), what, at: this.#now(), conference_id: id, name };
  }

  #now(): string {
    return new Date(this.#deps.clock.now()).toISOString();
  }

  /** Records show everybody who speaks; an event tells of each change of the speaker. */
  #heard(leg: MediaLeg, speaks: boolean): void {
    const party = [...this.#parties.values()].find(({ media }) => media === leg);
    if (!party) return;
    party.voiced = speaks;
    const speaking = speaks && !party.muted;
    if (party.speaking === speaking) return;
    party.speaking = speaking;
    const { id } = party.call;
    const isNew = speaking && this.#speaker !== id;
    if (isNew) this.#speaker = id;
    this.#report(party, isNew ? 'speaking' : undefined);
  }

  /** A muted party hears the others, who do not hear it. */
  mute(callId: string, muted: boolean): void {
    const party = this.#parties.get(callId);
    if (!party || party.muted === muted) return;
    party.muted = muted;
    if (party.seated) this.#room.mute(party.media, muted);
    // The room tells only changes, and who speaks on after a moment's mute has changed nothing there.
    party.speaking = party.voiced && !muted;
    party.call.ledger.note(muted ? 'The call was muted.' : 'The call is no longer muted.');
    this.#report(party);
  }

  remove(callId: string): void {
    const detail = `The call was removed from the conference ${this.facts.name}.`;
    this.#parties.get(callId)?.call.end({ code: 'api_stop', detail });
  }

  /** Its parties do not hear each other any more. */
  #failed({ message }: Error): void {
    const detail = `The conference ${this.facts.name} failed: ${message}`;
    for (const { call } of [...this.#parties.values()]) call.end({ code: 'media_lost', detail });
  }

  /** The parties go on without it; who is alone now hears music. */
  #agentFailed({ message }: Error): void {
    if (!this.#agent) return;
    const { callId } = this.#agent;
    this.#dismissAgent();
    const { ledger } = this.#parties.get(callId)?.call ?? {};
    ledger?.note(`The agent failed and has left the conference ${this.facts.name}: ${message}`);
    this.#arrange();
  }

  #dismissAgent(): void {
    if (this.#agent) this.#room.leaveAgent(this.#agent.endpoint);
    this.#agent = null;
  }

  #away(callId: string, away: boolean): void {
    const party = this.#parties.get(callId);
    if (!party) return;
    party.away = away;
    if (away) this.#rise(party);
    this.#arrange();
  }

  #leave(call: LiveCall): void {
    const party = this.#parties.get(call.id);
    if (!party) return;
    this.#rise(party);
    this.#parties.delete(call.id);
    if (this.#agent?.callId === call.id) this.#dismissAgent();
    if (this.#speaker === call.id) this.#speaker = null;
    call.ledger.inConference(null, this.#event('left'));
    const others = [...this.#parties.values()];
    if (!party.isModerator || others.some(({ isModerator }) => isModerator)) this.#arrange();
    else for (const other of others) other.call.end({ code: 'conference_ended', detail: null });
  }
}
