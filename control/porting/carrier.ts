/** The interface to a carrier with an API. Without one, an operator does the work by hand. */
import type { CanonicalCarrierInformation, PortCheckResult } from '#shared/api/porting.ts';
import type { PortStatus } from '../db/index.ts';

export interface CarrierFile {
  readonly type: 'letter_of_authorization' | 'proof_of_ownership';
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

export interface CarrierOrder {
  /** Id of the port request: it has one order, however often it is submitted. */
  readonly reference: string;
  readonly numbers: readonly string[];
  readonly information: CanonicalCarrierInformation;
  readonly pin: string | null;
  /** `YYYY-MM-DD` */
  readonly targetDate: string;
  readonly files: readonly CarrierFile[];
}

/** The state of an order, as the carrier reports it. */
export interface CarrierOrderState {
  readonly id: string;
  readonly numbers: readonly {
    readonly number: string;
    /** Null: an unknown state. */
    readonly status: PortStatus | null;
    readonly reason: string | null;
  }[];
  readonly focDate: string | null;
}

/** The carrier will never accept the order as it is; the message is for the customer. */
export class CarrierRefusal extends Error {
  override readonly name = 'CarrierRefusal';
}

export interface Carrier {
  /** What the carrier knows about numbers beyond their plan. @throws Error when it cannot be asked */
  check(numbers: readonly string[]): Promise<ReadonlyMap<string, Partial<PortCheckResult>>>;
  /** @throws CarrierRefusal; any other error may be temporary */
  submit(order: CarrierOrder, signal: AbortSignal): Promise<CarrierOrderState>;
  look(carrierOrderId: string, numbers: readonly string[], signal: AbortSignal): Promise<CarrierOrderState>;
  /** The carrier's order id for a reference; null if there is none. */
  find(reference: string, signal: AbortSignal): Promise<string | null>;
  /** Resolves when the carrier has canceled the order, or has nothing to cancel. */
  cancel(carrierOrderId: string, signal: AbortSignal): Promise<void>;
}
