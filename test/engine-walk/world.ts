/** The engine's core between a wire and an application that are both arrays: no sockets, and only a fake clock. */

import { FakeClock } from '#shared/clock.ts';
import { connectionFailure } from '#shared/connection-faults.ts';
import { RoomyMap } from '#shared/roomy-map.ts';
import { DialogEnds } from '../../edge/engine/core/dialog-ends.ts';
import { Identity } from '../../edge/engine/core/identity.ts';
import type { Session } from '../../edge/engine/core/session.ts';
import { TracedMessages } from '../../edge/engine/core/traced-messages.ts';
import { DialogTable } from '../../edge/engine/dialog/table.ts';
import { AppClient, type ClientSocket } from '../../edge/engine/drachtio-port/client.ts';
import { type Frame, FrameReader } from '../../edge/engine/drachtio-port/frame.ts';
import type { SipMessage } from '../../edge/engine/message/message.ts';
import { parseMessage } from '../../edge/engine/message/parse.ts';
import { validateResponse } from '../../edge/engine/message/validate.ts';
import { Core } from '../../edge/engine/methods/core.ts';
import { TransactionTable } from '../../edge/engine/transaction/table.ts';
import type { Target } from '../../edge/engine/transport/connector.ts';
import { type Flow, TransportError } from '../../edge/engine/transport/flow.ts';
import { DEFAULT_TRANSPORT_LIMITS } from '../../edge/engine/transport/limits.ts';
import { Metrics } from '../../edge/engine/transport/metrics.ts';

/** A number from 0 to below `below`. */
export type Random = (below: number) => number;

/** Deterministic random numbers for a seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

let flows = 0;

export class FakeFlow implements Flow {
  readonly id = ++flows;
  readonly protocol = 'tls';
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress = '192.0.2.1';
  readonly localPort = 5061;
  readonly outbound: boolean;
  closed = false;
  draining = false;
  backlogged = false;
  readonly group = '';
  receivedCount = 0;
  pins = 0;
  /** Octets of answers that the application still owes. */
  owed = 0;
  readonly #sent: (message: SipMessage) => void;
  readonly #gone: (reason: string) => void;

  constructor(
    remoteAddress: string,
    remotePort: number,
    outbound: boolean,
    sent: (flow: FakeFlow, message: SipMessage) => void,
    gone: (flow: FakeFlow, reason: string) => void,
  ) {
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
    this.outbound = outbound;
    this.#sent = (message) => sent(this, message);
    this.#gone = (reason) => gone(this, reason);
  }

  send(bytes: Buffer): boolean {
    if (this.closed) return false;
    const result = parseMessage(bytes);
    if (!result.ok) throw new Error(`the engine has sent what cannot be read: ${bytes.toString()}`);
    this.#sent(result.message);
    return true;
  }
  pin(): void {
    this.pins++;
  }
  unpin(): void {
    this.pins--;
  }
  get pinned(): boolean {
    return this.pins > 0;
  }
  keepFor(): void {}
  owe(bytes: number): void {
    this.owed += bytes;
  }
  settle(bytes: number): void {
    this.owed -= bytes;
  }
  setAside(): void {}
  close(reason: string): void {
    if (this.closed) return;
    this.closed = true;
    this.#gone(reason);
  }
}

/** Special hosts of the wire: one refuses connections, one never answers them. */
export const refusingHost = '198.51.100.1';
export const silentHost = '198.51.100.2';

export class World {
  readonly clock = new FakeClock(0);
  readonly core: Core;
  readonly flows: FakeFlow[] = [];
  /** Errors that the engine has logged: each is a bug. */
  readonly errors: string[] = [];
  /** What the engine sends to peers. */
  onSent: (flow: FakeFlow, message: SipMessage) => void = () => {};
  /** The application for requests from peers; null: none. */
  client: AppClient | null = null;

  constructor() {
    const metrics = new Metrics();
    const sessions = new DialogTable<Session>();
    const { clock } = this;
    this.core = new Core({
      clock,
      identity: new Identity('192.0.2.1', { host: '192.0.2.1', port: 5061 }, null),
      messages: new TracedMessages(metrics, null, clock),
      transport: {
        limits: DEFAULT_TRANSPORT_LIMITS,
        connect: (target) => this.#connect(target),
        find: (address, port) =>
          this.flows.find(
            (flow) => !flow.closed && flow.remoteAddress === address && flow.remotePort === port,
          ),
        block: () => {},
      },
      transactions: new TransactionTable(),
      sessions,
      awaitingAck: new RoomyMap(),
      ends: new DialogEnds({ sessions, metrics, clock }),
      applications: { pick: () => this.client, cdr: () => {} },
      metrics,
      refusals: { count: () => {} },
      log: (level, message) => {
        if (level === 'error') this.errors.push(message);
      },
      maxTransactions: 1_000,
    });
  }

  /** Accepts a connection from `port` of a peer. */
  accept(port: number): FakeFlow {
    return this.#flow('203.0.113.1', port, false);
  }

  receive(flow: FakeFlow, lines: readonly string[]): void {
    if (flow.closed) return;
    flow.receivedCount++;
    const bytes = Buffer.from(`${lines.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`);
    const result = parseMessage(bytes);
    if (!result.ok) throw new Error(`the walk has written what cannot be read: ${bytes.toString()}`);
    const { message } = result;
    if (message.kind === 'request') this.core.request(flow, message);
    else if (validateResponse(message) === null) this.core.response(message, bytes);
  }

  /** An authenticated application. @param receive gets each frame, in order */
  application(receive: (frame: Frame) => void): AppClient {
    const reader = new FrameReader(1_000_000, { frame: receive, oversize: () => {} });
    const socket: ClientSocket = {
      writableLength: 0,
      cork: () => {},
      uncork: () => {},
      write: (bytes: Buffer) => reader.push(bytes),
      destroy: () => {},
      end: () => {},
    };
    const client = new AppClient(socket, 1_000_000);
    client.authenticated = true;
    return client;
  }

  #flow(address: string, port: number, outbound: boolean): FakeFlow {
    const flow = new FakeFlow(
      address,
      port,
      outbound,
      (from, message) => this.onSent(from, message),
      (closed, reason) => {
        this.flows.splice(this.flows.indexOf(closed), 1);
        this.core.flowClosed(closed, connectionFailure('lost', reason));
      },
    );
    this.flows.push(flow);
    return flow;
  }

  async #connect({ host, port }: Target): Promise<Flow> {
    if (host === refusingHost) throw new TransportError('refused', `${host}:${port}: refused`);
    if (host !== silentHost) return this.#flow(host, port, true);
    return new Promise((_, reject) => {
      const late = new TransportError('connect_timeout', `${host}:${port}: no answer`);
      this.clock.after(DEFAULT_TRANSPORT_LIMITS.connectTimeoutMs, () => reject(late));
    });
  }
}
