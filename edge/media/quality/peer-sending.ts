/**
 * Packets from the peer that were lost without leaving a gap, because none arrived after them. The peer still
 * counts them in its sender reports (RFC 3550 section 6.4.1); a silent peer counts none.
 */

/** The state at one query. The counts restart with each path. */
export interface SendingLook {
  /** Packets between the first and the last sender report: sent according to the peer, and received. */
  readonly sentByPeer: number;
  readonly arrivedOfThem: number;
  /** Whether audio arrived since the previous query. */
  readonly heard: boolean;
}

export class PeerSending {
  #sentByPeer = 0;
  #arrived = 0;
  #lost = 0;
  #lostInSilence = 0;

  /** Packets that the peer sent and that did not arrive, over the whole call. */
  get lost(): number {
    return Math.max(0, this.#lost);
  }

  /** Those since audio was last heard. */
  get lostInSilence(): number {
    return Math.max(0, this.#lostInSilence);
  }

  heard(): void {
    this.#lostInSilence = 0;
  }

  look({ sentByPeer, arrivedOfThem, heard }: SendingLook): void {
    const begunAnew = sentByPeer < this.#sentByPeer || arrivedOfThem < this.#arrived;
    const sent = begunAnew ? sentByPeer : sentByPeer - this.#sentByPeer;
    const arrived = begunAnew ? arrivedOfThem : arrivedOfThem - this.#arrived;
    this.#sentByPeer = sentByPeer;
    this.#arrived = arrivedOfThem;
    // May be below 0 for a while: packets overtake the report that counts them.
    this.#lost += sent - arrived;
    this.#lostInSilence = heard ? 0 : this.#lostInSilence + sent - arrived;
  }
}
