/** The far ends of calls: carriers and PBXs that call, are called, and misbehave like real ones. */
import { SipReader, type SipText } from '../../scripts/call/sip-text.ts';
import { sipPort } from './edge-machine.ts';
import { Leg, type PeerSite } from './leg.ts';
import { machine } from './network.ts';
import { respond, tagged, uriOf } from './peer-messages.ts';
import type { SimSocket } from './sockets.ts';

/** A call as its far end saw it. */
export interface SeenCall {
  readonly callId: string;
  readonly direction: 'inbound' | 'outbound';
  /** The final response to its INVITE. */
  status: number;
  over: boolean;
}

/** Handles a message of a connection, or ignores it. */
export type Taker = (socket: SimSocket, message: SipText) => boolean;

export class Peer {
  readonly address: string;
  readonly calls = new Map<string, SeenCall>();
  /** No new calls, and no further actions in running ones. */
  quiet = false;
  readonly #site: PeerSite;
  readonly #legs = new Map<string, Leg>();
  readonly #first: Taker;
  #socket: SimSocket | null = null;
  #number = 0;

  /** @param first gets every message first and returns whether it handled it */
  constructor(site: PeerSite, address: string, first: Taker = () => false) {
    this.#site = site;
    this.address = address;
    this.#first = first;
    this.listen();
  }

  listen(): void {
    this.#site.network.listen(this.address, sipPort, (socket) => this.#serve(socket));
  }

  /** Calls a number of the edge. @param over a connection of the edge, and its Contact; absent: a new connection */
  invite(to: string, over?: { readonly socket: SimSocket; readonly target: string }): void {
    const { random, note } = this.#site;
    const callId = `in-${this.address}-${this.#number++}`;
    const leg = new Leg(this.#site, this, callId, over?.socket ?? this.#connection(), {
      local: `<sip:+1415555${random.between(1000, 9999)}@${this.address}>;tag=${callId}`,
      remote: `<sip:${to}@${machine}>`,
      target: over?.target ?? `sip:${to}@${machine}:${sipPort};transport=tls`,
    });
    this.#legs.set(callId, leg);
    this.calls.set(callId, { callId, direction: 'inbound', status: 0, over: false });
    note(`${callId} INVITE`);
    leg.call();
  }

  /** Cuts its connections. @param how silently, or by closing */
  drop(how: 'close' | 'reset'): void {
    this.#site.note(`${this.address} cuts its connections: ${how}`);
    for (const socket of this.#site.network.sockets(this.address)) {
      if (how === 'close') socket.end();
      else socket.destroy();
    }
    this.#socket = null;
  }

  /** Garbage on the connection of its calls. */
  babble(): void {
    const { random } = this.#site;
    const what = random.pick([
      'INVITE\r\n\r\n',
      '\0\x01\x02\x03\r\n\r\n',
      'OPTIONS sip:x SIP/2.0\r\nContent-Length: -1\r\n\r\n',
      `SIP/2.0 200 OK\r\nCall-ID: nobody\r\nContent-Length: 0\r\n\r\n`,
      'BYE sip:x@y SIP/2.0\r\nVia: SIP/2.0/TLS 1.2.3.4;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>;tag=2\r\nCall-ID: nobody\r\nCSeq: 1 BYE\r\nContent-Length: 0\r\n\r\n',
    ]);
    this.#connection().write(Buffer.from(what, 'latin1'));
  }

  #connection(): SimSocket {
    if (!this.#socket || this.#socket.destroyed || this.#socket.writableEnded) {
      this.#socket = this.#site.network.connect(this.address, machine, sipPort);
      this.#serve(this.#socket);
    }
    return this.#socket;
  }

  #serve(socket: SimSocket): void {
    const reader = new SipReader();
    socket.on('data', (octets: Buffer) => {
      const text = octets.toString('latin1');
      if (text === '\r\n\r\n') socket.write('\r\n');
      for (const message of reader.read(text)) this.#receive(socket, message);
    });
    socket.on('error', () => {});
  }

  #receive(socket: SimSocket, message: SipText): void {
    if (this.#first(socket, message)) return;
    const callId = message.header('call-id') ?? '';
    if (message.header('cseq')?.includes('OPTIONS') === false) {
      this.#site.note(`${callId} -> ${message.startLine} (${message.header('cseq')})`);
    }
    if (message.method === 'OPTIONS') {
      if (!this.#site.random.chance(0.05)) respond(socket, message, '200 OK');
      return;
    }
    const known = this.#legs.get(callId);
    if (known) {
      known.receive(socket, message);
      return;
    }
    if (message.method !== 'INVITE') {
      if (message.method !== 'ACK' && message.status === 0) respond(socket, message, '481 No Such Call');
      return;
    }
    const leg = new Leg(this.#site, this, callId, socket, {
      local: tagged(message.header('to') ?? '', `peer-${this.#number++}`),
      remote: message.header('from') ?? '',
      target: uriOf(message.header('contact') ?? ''),
    });
    this.#legs.set(callId, leg);
    this.calls.set(callId, { callId, direction: 'outbound', status: 0, over: false });
    this.#site.note(`${callId} called ${this.address}`);
    leg.called(message);
  }

  /** Ends all its calls: some with a BYE, the others by forgetting them. */
  leave(): void {
    this.quiet = true;
    for (const leg of this.#legs.values()) leg.leave();
  }

  forget(callId: string): void {
    const seen = this.calls.get(callId);
    if (seen) seen.over = true;
  }

  saw(callId: string, status: number): void {
    const seen = this.calls.get(callId);
    if (seen && seen.status === 0) seen.status = status;
  }
}
