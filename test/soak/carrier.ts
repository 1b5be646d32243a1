/** A carrier of the soak: its phones, its two trunks, and the network between them and the edge. */
import { Phone } from '../../scripts/call/phone.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import type { Caller } from '../kit/programs/caller.ts';
import { TestTrunk, type TrunkCall } from '../kit/programs/trunk.ts';
import type { Random } from '../simulation/random.ts';
import { Link, TcpRelay } from './link.ts';
import { Weather } from './weather.ts';

/** How the primary trunk fails at the moment. */
export type Outage = 'none' | 'refuses connections' | 'answers 503';

/** How long a call to the carrier may take to arrive, ms: two connect time-outs of an endpoint, and the link's weather. */
const arrivalMs = 45_000;

interface Callee {
  readonly arrived: (call: TrunkCall) => void;
  /** INVITEs so far that were not rejected by an outage. */
  calls: number;
}

export interface Awaited {
  /** The call, when it arrives; null when it does not in time. */
  readonly call: Promise<TrunkCall | null>;
  /** Later calls to the number get 404. */
  end(): void;
}

export class Carrier {
  readonly name: string;
  /** Address from which its phones call, and on which its trunks are reached. */
  readonly address: string;
  /** Number of the organization over this carrier. */
  readonly number: string;
  readonly link: Link;
  readonly weather: Weather;
  outage: Outage = 'none';
  /** Gets a number that was called twice for one order. */
  onDoubled: (callee: string) => void = () => {};
  readonly #ca: string;
  readonly #toEdge: TcpRelay;
  readonly #trunks: readonly TestTrunk[];
  readonly #relays: readonly TcpRelay[];
  readonly #callees: Map<string, Callee>;

  private constructor(parts: {
    index: number;
    link: Link;
    weather: Weather;
    ca: string;
    toEdge: TcpRelay;
    trunks: readonly TestTrunk[];
    relays: readonly TcpRelay[];
    callees: Map<string, Callee>;
  }) {
    this.name = `carrier ${parts.index}`;
    this.address = addressOf(parts.index);
    this.number = `+1415555${2000 + parts.index}`;
    this.link = parts.link;
    this.weather = parts.weather;
    this.#ca = parts.ca;
    this.#toEdge = parts.toEdge;
    this.#trunks = parts.trunks;
    this.#relays = parts.relays;
    this.#callees = parts.callees;
  }

  /** @param pairOf a certificate for these addresses @param scale shortens the weather of a short run */
  static async open(
    index: number,
    random: Random,
    edge: { readonly sipPort: number; readonly ca: string },
    pairOf: (addresses: readonly string[]) => TestKeyPair,
    scale: number,
  ): Promise<Carrier> {
    const address = addressOf(index);
    const link = new Link(random);
    const callees = new Map<string, Callee>();
    const toEdge = await TcpRelay.listen(link, '127.0.0.1', {
      host: '127.0.0.1',
      port: edge.sipPort,
      from: address,
    });
    const pair = pairOf(['127.0.0.1', address]);
    const opened: { trunk: TestTrunk; relay: TcpRelay }[] = [];
    for (const isPrimary of [true, false]) {
      // The relay must know the trunk, and the trunk the relay's port, under which peers reach it.
      const relay = await TcpRelay.listen(link, address, { host: '127.0.0.1', port: 0, from: '127.0.0.1' });
      const trunk: TestTrunk = await TestTrunk.listen(
        pair,
        0,
        {},
        {
          reachedAt: `${address}:${relay.port}`,
          onCall: (call) => carrier.#arrived(call, trunk, isPrimary),
        },
      );
      relay.lead({ host: '127.0.0.1', port: trunk.port, from: '127.0.0.1' });
      opened.push({ trunk, relay });
    }
    const carrier: Carrier = new Carrier({
      index,
      link,
      weather: new Weather(link, random, scale),
      ca: edge.ca,
      toEdge,
      trunks: opened.map(({ trunk }) => trunk),
      relays: opened.map(({ relay }) => relay),
      callees,
    });
    return carrier;
  }

  /** Ports of the primary and the secondary trunk at the carrier's address. */
  get ports(): readonly number[] {
    return this.#relays.map(({ port }) => port);
  }

  /** A phone with its TLS connection and RTP ports that has not called yet. */
  async phone(): Promise<Caller> {
    const phone = await Phone.connect({ host: '127.0.0.1', port: this.#toEdge.port, ca: this.#ca });
    const media = await this.media();
    let isClosed = false;
    return {
      phone,
      media,
      callId: phone.callId,
      async hangup() {
        await phone.request('BYE');
      },
      async close() {
        if (isClosed) return;
        isClosed = true;
        media.close();
        await phone.close();
      },
    };
  }

  media(): Promise<SrtpPeer> {
    return SrtpPeer.open({ record: false, carry: (deliver) => this.link.carry(deliver) });
  }

  /** A call to that number that the edge is about to place. */
  await(callee: string): Awaited {
    const { promise, resolve } = Promise.withResolvers<TrunkCall | null>();
    const limit = setTimeout(() => resolve(null), arrivalMs);
    this.#callees.set(callee, { arrived: resolve, calls: 0 });
    return {
      call: promise.finally(() => clearTimeout(limit)),
      end: () => {
        clearTimeout(limit);
        resolve(null);
        this.#callees.delete(callee);
      },
    };
  }

  /** The primary trunk fails in that way from now on, or works again. */
  fail(outage: Outage): void {
    this.outage = outage;
    const [primary] = this.#relays;
    if (primary) primary.refusing = outage === 'refuses connections';
  }

  async close(): Promise<void> {
    this.weather.stop();
    for (const one of [this.#toEdge, ...this.#relays, ...this.#trunks]) await one.close();
  }

  #arrived(call: TrunkCall, trunk: TestTrunk, isPrimary: boolean): void {
    // Long enough for the last retransmission and the BYE of the longest call.
    setTimeout(() => trunk.forget(call), 300_000).unref();
    if (isPrimary && this.outage === 'answers 503') {
      call.answer('503 Service Unavailable');
      return;
    }
    const user = /^INVITE sips?:([^@;]+)@/.exec(call.invite.startLine)?.[1] ?? '';
    const callee = this.#callees.get(user);
    if (!callee) {
      call.answer('404 Not Found');
      return;
    }
    callee.calls++;
    if (callee.calls === 1) {
      callee.arrived(call);
      return;
    }
    call.answer('486 Busy Here');
    this.onDoubled(user);
  }
}

function addressOf(index: number): string {
  return `127.0.1.${index}`;
}
