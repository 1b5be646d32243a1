/**
 * Places calls of the edge to itself over a second connection to the engine, apart from the one that takes
 * calls. Both ends of such a call have the same dialog id (Call-ID and the caller's tag). Each end therefore
 * needs its own dialog table, and the engine tells them apart by connection.
 */

import type { Clock } from '#shared/clock.ts';
import { privateHeaders } from '#shared/engine-protocol/headers.ts';
import type { Log } from '../../call/log.ts';
import type {
  DialEvents,
  Dialer,
  DialTarget,
  OutboundLeg as Leg,
  OutboundInvite,
} from '../../call/ports/dialing.ts';
import { type DialogOwner, Dialogs } from '../session/dialogs.ts';
import { EngineLink } from '../srf/connect.ts';
import { type Environment, respond } from '../srf/environment.ts';
import type { EngineAddress, SrfRequest, SrfResponse } from '../srf/srf.ts';
import { LegDialer } from './leg-dialer.ts';

export class LoopbackDialer implements Dialer {
  readonly #environment: Environment;
  readonly #dialogs = new Dialogs();
  readonly #link: EngineLink;
  readonly #dialer: LegDialer;

  constructor(environment: Environment, options: { clock: Clock; log: Log; noResponseMs: number }) {
    this.#environment = environment;
    this.#link = new EngineLink({
      clock: options.clock,
      log: options.log.child({ engine_line: 'own' }),
      routes: false,
      handle: (request, response) => this.#receive(request, response),
      onUp: () => {},
      onDown: () => this.#dialogs.abandonAll(),
    });
    this.#dialer = new LegDialer({
      environment,
      dialogs: this.#dialogs,
      // The embedded engine removes the header and lets the request go to its own listener.
      request: (request, sent) =>
        this.#link.request({ ...request, headers: { ...request.headers, [privateHeaders.self]: '1' } }, sent),
      noResponseMs: options.noResponseMs,
    });
  }

  get dialogs(): number {
    return this.#dialogs.size;
  }

  /** Its dialogs by id. */
  entries(): Iterable<[string, DialogOwner]> {
    return this.#dialogs.entries();
  }

  connect(address: EngineAddress): void {
    this.#link.connect(address);
  }

  close(): void {
    this.#link.close();
    this.#dialogs.abandonAll();
  }

  dial(target: DialTarget, invite: OutboundInvite, events: DialEvents): Leg {
    return this.#dialer.dial(target, invite, events);
  }

  /** The engine delivers only requests in the dialogs of these calls here. */
  #receive(request: SrfRequest, response: SrfResponse): void {
    const owner = this.#dialogs.find(request.stackDialogId);
    if (owner) owner.receive(request, response);
    else if (request.method !== 'ACK' && request.source !== 'application') {
      respond(this.#environment, response, 481);
    }
  }
}
