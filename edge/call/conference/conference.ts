/** One conference: its room, its parties, and what their records say about it. */
import type { LiveCall, LivePairing } from '../live-call.ts';
import type { MediaLeg, MediaRoom } from '../ports/media.ts';

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
  muted: boolean;
  /** It is on hold, and meanwhile not in the room. */
  away: boolean;
}

export class Conference {
  readonly facts: ConferenceFacts;
  readonly #room: MediaRoom;
  readonly #parties = new Map<string, Party>();

  constructor(facts: ConferenceFacts, room: MediaRoom) {
    this.facts = facts;
    this.#room = room;
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
    return {
      parting: {
        isPossible: () => !isOver,
        part: () => this.#away(call.id, true),
        rejoin: () => this.#away(call.id, false),
      },
      get over() {
        return isOver;
      },
      left: () => {
        if (isOver) return;
        isOver = true;
        this.#leave(call);
        left();
      },
    };
  }

  /** @throws LegsApart when its media is in another place than the room */
  enter(call: LiveCall, media: MediaLeg, joinedAt: string): void {
    this.#room.enter(media);
    this.#parties.set(call.id, { call, media, joinedAt, muted: false, away: false });
  }

  /** The call's record says what is now so. */
  report(callId: string): void {
    const party = this.#parties.get(callId);
    if (!party) return;
    const { id, name, openedAt } = this.facts;
    const { call, joinedAt, muted } = party;
    call.ledger.inConference({ id, name, opened_at: openedAt, joined_at: joinedAt, muted });
  }

  /** A muted party hears the others, who do not hear it. */
  mute(callId: string, muted: boolean): void {
    const party = this.#parties.get(callId);
    if (!party || party.muted === muted) return;
    party.muted = muted;
    if (!party.away) this.#room.mute(party.media, muted);
    party.call.ledger.note(muted ? 'The call was muted.' : 'The call is no longer muted.');
    this.report(callId);
  }

  remove(callId: string): void {
    const detail = `The call was removed from the conference ${this.facts.name}.`;
    this.#parties.get(callId)?.call.end({ code: 'api_stop', detail });
  }

  #away(callId: string, away: boolean): void {
    const party = this.#parties.get(callId);
    if (!party) return;
    party.away = away;
    if (away) this.#room.leave(party.media);
    else this.#room.enter(party.media);
    if (!away && party.muted) this.#room.mute(party.media, true);
  }

  #leave(call: LiveCall): void {
    const party = this.#parties.get(call.id);
    if (!party) return;
    this.#parties.delete(call.id);
    this.#room.leave(party.media);
    call.ledger.inConference(null);
  }
}
