import type { Timer } from '#shared/clock.ts';
import type { EndCause } from '#shared/engine-protocol/ends.ts';
import type { RoomyMap } from '#shared/roomy-map.ts';
import { isBehindNat, type Source } from '../dialog/contact.ts';
import type { Dialog } from '../dialog/dialog.ts';
import type { Retransmission } from '../dialog/retransmission.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import type { SipRequest } from '../message/message.ts';
import type { Flow } from '../transport/flow.ts';
import { type Destination, destinationOf, type NextHop } from './destination.ts';

/**
 * A request in the dialog, by the id of its transaction. Requests reference their dialog; the dialog keeps only
 * this.
 */
interface Pending {
  readonly id: string;
}

/** Our 2xx to an INVITE, retransmitted until its ACK arrives. */
interface AwaitedAck {
  readonly cseq: number;
  readonly incoming: Pending & {
    readonly client: AppClient;
    readonly invite: { acknowledged(): void } | null;
  };
  readonly retransmission: Retransmission;
}

/** The peer's 2xx to our INVITE: the application owes the ACK, which is then resent for retransmitted 2xx. */
interface OwedAck {
  readonly invite: Pending & { readonly request: SipRequest };
  /** Why the call is ended right after the ACK; null when it continues. */
  readonly endedBy: EndCause | null;
  ack: Buffer | null;
  /** Copies of the 2xx that arrived before there was an ACK: each gets one (RFC 3261 section 13.2.2.4). */
  copies: number;
}

/** A reliable provisional response of ours, retransmitted until its PRACK arrives. */
interface AwaitedPrack {
  readonly cseq: number;
  readonly retransmission: Retransmission;
}

/** Each under itself: a Set of few entries that come and go replaces its table at every second one. */
export type SessionsAwaitingAck = RoomyMap<Session, Session>;

/** A dialog with all the state that the engine keeps for it. */
export class Session {
  readonly dialog: Dialog;
  readonly client: AppClient;
  readonly method: 'INVITE' | 'SUBSCRIBE';
  /** Whether the dialog was created with a sips URI; our Contacts in it are then sips. */
  readonly secure: boolean;
  #flow: Flow;
  readonly #awaitingAck: SessionsAwaitingAck;
  #awaitedAck: AwaitedAck | null = null;
  /** INVITE from the peer without a final response yet. */
  incomingInvite: Pending | null = null;
  /** INVITE of ours without a final response yet. */
  outgoingInvite: Pending | null = null;
  owedAck: OwedAck | null = null;
  /** Whether a BYE from the application is in progress or held: its outcome ends the dialog. */
  leaving = false;
  #awaitedPracks: Map<number, AwaitedPrack> | null = null;
  /** Requests held until the ACK of our 2xx arrives: a BYE (RFC 3261 section 15), a re-INVITE (14.1). */
  #held: { readonly method: string; readonly send: () => void }[] = [];
  /** Expiry of a subscription that is not refreshed, or of a dialog whose challenged BYE is not repeated. */
  expiry: Timer | null = null;

  /** @param awaitingAck the sessions of the engine that await an ACK */
  constructor(
    dialog: Dialog,
    client: AppClient,
    method: 'INVITE' | 'SUBSCRIBE',
    secure: boolean,
    flow: Flow,
    awaitingAck: SessionsAwaitingAck,
  ) {
    this.dialog = dialog;
    this.client = client;
    this.method = method;
    this.secure = secure;
    this.#flow = flow;
    this.#awaitingAck = awaitingAck;
    flow.pin();
  }

  get flow(): Flow {
    return this.#flow;
  }

  /** Uses the connection over which the peer's latest message arrived. */
  use(flow: Flow): void {
    if (flow === this.#flow || this.dialog.state === 'Terminated') return;
    this.#flow.unpin();
    this.#flow = flow;
    flow.pin();
  }

  /** By RSeq. Made for the first: most calls have none. */
  get awaitedPracks(): Map<number, AwaitedPrack> {
    this.#awaitedPracks ??= new Map();
    return this.#awaitedPracks;
  }

  get awaitedAck(): AwaitedAck | null {
    return this.#awaitedAck;
  }

  awaitAck(awaited: AwaitedAck): void {
    this.#awaitedAck = awaited;
    this.#awaitingAck.set(this, this);
  }

  /** The ACK has arrived, or will not. */
  awaitAckNoLonger(): void {
    this.#awaitedAck?.retransmission.stop();
    this.#awaitedAck = null;
    this.#awaitingAck.delete(this);
  }

  /** The INVITE of this number has its final response. */
  awaitPracksNoLonger(cseq: number): void {
    for (const [rseq, awaited] of this.#awaitedPracks ?? []) {
      if (awaited.cseq !== cseq) continue;
      awaited.retransmission.stop();
      this.#awaitedPracks?.delete(rseq);
    }
  }

  /** Holds a request until the ACK of our 2xx arrives. */
  hold(method: string, send: () => void): void {
    this.#held.push({ method, send });
  }

  /** Sends the held requests, or only those of one method. @returns whether there were any */
  sendHeld(only?: string): boolean {
    const held = this.#held.filter(({ method }) => only === undefined || method === only);
    this.#held = [];
    for (const { send } of held) send();
    return held.length > 0;
  }

  /**
   * Where to send a request to the peer: over the dialog's connection while it is open, else over a new one.
   * @returns the reason as text, when the peer's Contact or Route is not usable
   */
  nextHop(): NextHop | string {
    if (!this.#flow.closed && !this.#flow.draining) return { flow: this.#flow };
    const source: Source = { address: this.#flow.remoteAddress, port: this.#flow.remotePort };
    const { nextHop } = this.dialog.route();
    if (this.dialog.routeSet.length === 0 && isBehindNat(nextHop, source)) {
      return { destination: this.#back(source), namedBy: { peer: source.address } };
    }
    const result = destinationOf(nextHop);
    if (!result.ok) return result.reason;
    return { destination: result.destination, namedBy: { peer: source.address } };
  }

  /** Whether the peer's Contact or Route is a usable target, reachable or not. */
  get hasUsableTarget(): boolean {
    return destinationOf(this.dialog.route().nextHop).ok;
  }

  /** Back to the source of the peer's messages: its Contact is only valid inside its own network. */
  #back(source: Source): Destination {
    return {
      host: source.address,
      port: source.port,
      protocol: this.#flow.protocol,
      serverName: source.address,
    };
  }

  /** Stops all timers. Only `DialogEnds` calls this, after removing the session from the table. Idempotent. */
  release(): void {
    if (this.dialog.state === 'Terminated') return;
    this.dialog.move('terminate');
    this.#flow.unpin();
    this.awaitAckNoLonger();
    for (const { retransmission } of this.#awaitedPracks?.values() ?? []) retransmission.stop();
    this.#awaitedPracks = null;
    this.expiry?.cancel();
    this.owedAck = null;
    this.#held = [];
  }
}
