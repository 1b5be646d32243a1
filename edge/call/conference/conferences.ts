/**
 * The conferences of this edge. A call enters by a transfer to `conference:<name>`, its agent leaves, and it hears the
 * others until it ends, is parked, or goes on hold for a while.
 */
import type { LiveCall, LivePairing } from '../live-call.ts';
import type { Media, MediaRoom } from '../ports/media.ts';
import type { TransferOutcome } from '../ports/transfer.ts';
import { LegsApart } from '../refused.ts';
import { failure } from '../transfer/outcome.ts';

/** Calls in one conference: more people than that do not talk, and each one costs as much as a transcoded call. */
const maxParties = 8;

interface Conference {
  readonly room: MediaRoom;
  readonly calls: Set<LiveCall>;
}

export class Conferences {
  readonly #media: Media;
  /** By organization and name. */
  readonly #open = new Map<string, Conference>();

  constructor(media: Media) {
    this.#media = media;
  }

  get size(): number {
    return this.#open.size;
  }

  get parties(): number {
    return [...this.#open.values()].reduce((sum, { calls }) => sum + calls.size, 0);
  }

  join(name: string, call: LiveCall): TransferOutcome {
    const { media, up } = call;
    const key = `${call.plan.orgId} ${name}`;
    if (!up || !media || call.hold.active) return failure('not_active', 'The call is not up, or is on hold.');
    if ((this.#open.get(key)?.calls.size ?? 0) >= maxParties)
      return failure('target_failed', `The conference ${name} is full: it has ${maxParties} parties.`);
    let isOver = false;
    const leave = () => {
      if (isOver) return;
      isOver = true;
      this.#leave(key, call);
    };
    const membership: LivePairing = {
      parting: {
        isPossible: () => !isOver,
        part: () => this.#open.get(key)?.room.leave(media),
        rejoin: () => this.#open.get(key)?.room.enter(media),
      },
      get over() {
        return isOver;
      },
      left: leave,
    };
    if (!call.transfers.pairWith(membership))
      return failure('not_active', 'The call is being transferred, or is joined with another.');
    try {
      const conference = this.#open.get(key) ?? { room: this.#media.openRoom(media), calls: new Set() };
      conference.room.enter(media);
      call.agent.close(`The call joined the conference ${name}.`);
      conference.calls.add(call);
      this.#open.set(key, conference);
    } catch (error) {
      isOver = true;
      const code = error instanceof LegsApart ? 'apart' : 'target_failed';
      return failure(code, error instanceof Error ? error.message : String(error));
    }
    call.ledger.handedOver(`conference:${name}`);
    call.ledger.note(`Joined the conference ${name}.`);
    return { ok: true };
  }

  #leave(key: string, call: LiveCall): void {
    const conference = this.#open.get(key);
    if (!conference?.calls.delete(call)) return;
    if (call.media) conference.room.leave(call.media);
    if (conference.calls.size === 0) this.#open.delete(key);
  }
}
