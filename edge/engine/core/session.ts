import type { Timer } from '#shared/clock.ts';
import { isBehindNat, type Source } from '../dialog/contact.ts';
import type { Dialog } from '../dialog/dialog.ts';
import type { Retransmission } from '../dialog/retransmission.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import type { SipRequest } from '../message/message.ts';
import type { Flow } from '../transport/flow.ts';
import { type Destination, destinationOf, type Way } from './destination.ts';
import type { EndText } from './dialog-ends.ts';

/** A request in the dialog, by its transaction's name. Requests know their dialog; it knows only this of them. */
interface Pending {
  readonly id: string;
}

/** Our 2xx to an INVITE, repeated until its ACK comes. */
interface AwaitedAck {
  readonly cseq: number;
  readonly incoming: Pending & {
    readonly client: AppClient;
    readonly invite: { acknowledged(): void } | null;
  };
  readonly retransmission: Retransmission;
}

/** The peer's 2xx to our INVITE: the application owes the ACK, which then answers repeated 2xx. */
interface OwedAck {
  readonly invite: Pending & { readonly request: SipRequest };
  /** Why the call is ended as soon as it is acknowledged; null when it shall live. */
  readonly endedBy: EndText | null;
  ack: Buffer | null;
}

/** A reliable provisional response of ours, repeated until its PRACK comes. */
interface AwaitedPrack {
  readonly cseq: number;
  readonly retransmission: Retransmission;
}

/** A dialog with all that the engine keeps for it while it lives. */
export class Session {
  readonly dialog: Dialog;
  readonly client: AppClient;
  readonly method: 'INVITE' | 'SUBSCRIBE';
  /** Whether the dialog was made with a sips URI: our Contacts in it are sips then. */
  readonly secure: boolean;
  #flow: Flow;
  /** INVITE of the peer that has no final response yet. */
  incomingInvite: Pending | null = null;
  /** INVITE of ours that has no final response yet. */
  outgoingInvite: Pending | null = null;
  awaitedAck: AwaitedAck | null = null;
  owedAck: OwedAck | null = null;
  /** Whether a BYE of the application is on its way, or held: its outcome is the end. */
  leaving = false;
  /** By RSeq. */
  readonly awaitedPracks = new Map<number, AwaitedPrack>();
  /** Requests of ours that wait for the ACK of our 2xx: a BYE (RFC 3261 section 15), a re-INVITE (14.1). */
  #held: { readonly method: string; readonly send: () => void }[] = [];
  /** End of a subscription that nobody refreshes, or of a dialog whose BYE was challenged and never repeated. */
  expiry: Timer | null = null;

  constructor(
    dialog: Dialog,
    client: AppClient,
    method: 'INVITE' | 'SUBSCRIBE',
    secure: boolean,
    flow: Flow,
  ) {
    this.dialog = dialog;
    this.client = client;
    this.method = method;
    this.secure = secure;
    this.#flow = flow;
    flow.pin();
  }

  get flow(): Flow {
    return this.#flow;
  }

  /** The connection over which the peer spoke last is the one to reach it. */
  use(flow: Flow): void {
    if (flow === this.#flow || this.dialog.state === 'Terminated') return;
    this.#flow.unpin();
    this.#flow = flow;
    flow.pin();
  }

  /** Keeps a request until the ACK of our 2xx is here. */
  hold(method: string, send: () => void): void {
    this.#held.push({ method, send });
  }

  /** Sends what was held, or of it only one method. @returns whether there was anything to send */
  letGo(only?: string): boolean {
    const held = this.#held.filter(({ method }) => only === undefined || method === only);
    this.#held = [];
    for (const { send } of held) send();
    return held.length > 0;
  }

  /**
   * Where a request to the peer goes: the connection of the dialog while it lives, else a new one.
   * @returns a text that says why there is none, when the peer's Contact or Route names no place to go
   */
  way(): Way | string {
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

  /** Whether the peer's Contact or Route names a place to go, be there somebody or not. */
  get canBeCalledBack(): boolean {
    return destinationOf(this.dialog.route().nextHop).ok;
  }

  /** Back to where the peer's messages came from: the contact it gave means nothing outside of its network. */
  #back(source: Source): Destination {
    return {
      host: source.address,
      port: source.port,
      protocol: this.#flow.protocol,
      serverName: source.address,
    };
  }

  /** Stops all timers. For `DialogEnds` alone: the session must be out of the table. Safe to call twice. */
  release(): void {
    if (this.dialog.state === 'Terminated') return;
    this.dialog.move('Terminated');
    this.#flow.unpin();
    this.awaitedAck?.retransmission.stop();
    for (const { retransmission } of this.awaitedPracks.values()) retransmission.stop();
    this.awaitedPracks.clear();
    this.expiry?.cancel();
    this.awaitedAck = null;
    this.owedAck = null;
    this.#held = [];
  }
}
