/** What admission knows of one inbound connection, from TCP accept to its end. */

/** How far a connection has come. Only who has sent a whole SIP message has `spoken`; CRLFs are no message. */
export type Stage = 'handshake' | 'silent' | 'spoken';

let lastUse = 0;

export class Guest {
  readonly address: string;
  /** The /24 or /64 of the address. */
  readonly network: string;
  /** With whom a source that the configuration names shares its room; null: none names it. Changes with it. */
  share: string | null;
  #stage: Stage = 'handshake';
  #pins = 0;
  #used = ++lastUse;
  /** Ends the connection, whatever stage it is in. */
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

  /** Whether a dialog or a request without its answer needs the connection. */
  get pinned(): boolean {
    return this.#pins > 0;
  }

  /** The handshake is done. @param close takes the place of what ended the connection until now */
  ready(close: (reason: string) => void): void {
    this.#stage = 'silent';
    this.#close = close;
  }

  /** A whole SIP message came. */
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

  /** Whether this connection is of less use than `other`: who has said nothing first, then who was idle longest. */
  isIdlerThan(other: Guest): boolean {
    const [spoke, otherSpoke] = [this.#stage === 'spoken', other.stage === 'spoken'];
    return spoke === otherSpoke ? this.#used < other.#used : otherSpoke;
  }
}
