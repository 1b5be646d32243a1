/** Admission's record of one inbound connection, from TCP accept to its end. */

/** How far a connection has got. `spoken` needs a whole SIP message; CRLFs do not count. */
export type Stage = 'handshake' | 'silent' | 'spoken';

let lastUse = 0;

export class ConnectionSlot {
  readonly address: string;
  /** The /24 or /64 of the address. */
  readonly network: string;
  /** The share that a configured source belongs to; null for a stranger. Changes with the configuration. */
  share: string | null;
  #stage: Stage = 'handshake';
  #pins = 0;
  #used = ++lastUse;
  /** Ends the connection in its current stage. */
  #close: (reason: string) => void;

  constructor(address: string, network: string, share: string | null, close: (reason: string) => void) {
    this.address = address;
    this.network = network;
    this.share = share;
    this.#close = close;
  }

  /** Whether the configuration names the address. */
  get known(): boolean {
    return this.share !== null;
  }

  get stage(): Stage {
    return this.#stage;
  }

  /** Whether a dialog or an unanswered request needs the connection. */
  get pinned(): boolean {
    return this.#pins > 0;
  }

  /** The handshake is done. @param close replaces the previous function that ends the connection */
  ready(close: (reason: string) => void): void {
    this.#stage = 'silent';
    this.#close = close;
  }

  /** A whole SIP message has arrived. */
  spoke(): void {
    this.#stage = 'spoken';
    this.#used = ++lastUse;
  }

  pin(): void {
    this.#pins++;
  }

  unpin(): void {
    if (this.#pins > 0) this.#pins--;
    this.#used = ++lastUse;
  }

  close(reason: string): void {
    this.#close(reason);
  }

  /** Whether this connection is of less use than `other`: silent ones first, then the longest idle. */
  isIdlerThan(other: ConnectionSlot): boolean {
    const [spoke, otherSpoke] = [this.#stage === 'spoken', other.stage === 'spoken'];
    return spoke === otherSpoke ? this.#used < other.#used : otherSpoke;
  }
}
