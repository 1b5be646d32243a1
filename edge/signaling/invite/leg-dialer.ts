/** Places calls over one connection to the engine. */
import type {
  DialEvents,
  Dialer,
  DialTarget,
  OutboundLeg as Leg,
  OutboundInvite,
} from '../../call/ports/dialing.ts';
import type { Dialogs } from '../session/dialogs.ts';
import type { Environment } from '../srf/environment.ts';
import type { NewRequest, RequestSent } from '../srf/srf.ts';
import { OutboundLeg } from './outbound-leg.ts';

interface LegDialerParts {
  readonly environment: Environment;
  /** The dialogs of the connection. */
  readonly dialogs: Dialogs;
  readonly request: (request: NewRequest, sent: RequestSent) => void;
  /** ms after an outgoing INVITE without any response after which it is given up. */
  readonly noResponseMs: number;
}

export class LegDialer implements Dialer {
  readonly #parts: LegDialerParts;

  constructor(parts: LegDialerParts) {
    this.#parts = parts;
  }

  dial(target: DialTarget, invite: OutboundInvite, events: DialEvents): Leg {
    return new OutboundLeg({ ...this.#parts, target, invite, events });
  }
}
