/** What porting asks of a carrier that has an API. Without one an operator does the work by hand. */
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
  /** Id of the port request: an order is made once for it, however often it is submitted. */
  readonly reference: string;
  readonly numbers: readonly string[];
  readonly information: CanonicalCarrierInformation;
  readonly pin: string | null;
  /** `YYYY-MM-DD` */
  readonly targetDate: string;
  readonly files: readonly CarrierFile[];
}

/** How an order stands, as the carrier says. */
export interface CarrierOrderState {
  readonly id: string;
  readonly numbers: readonly {
    readonly number: string;
    /** Null: a word that is not known. */
    readonly status: PortStatus | null;
    readonly reason: string | null;
  }[];
  readonly focDate: string | null;
}

/** The carrier will never take the order as it is; the message is for the customer. */
export class CarrierRefusal extends Error {
  override readonly name = 'CarrierRefusal';
}

export interface Carrier {
  /** What the carrier knows better of numbers than their plan. @throws Error when it cannot be asked */
  check(numbers: readonly string[]): Promise<ReadonlyMap<string, Partial<PortCheckResult>>>;
  /** @throws CarrierRefusal; any other error may pass */
  submit(order: CarrierOrder, signal: AbortSignal): Promise<CarrierOrderState>;
  look(carrierOrderId: string, numbers: readonly string[], signal: AbortSignal): Promise<CarrierOrderState>;
  /** The carrier's id of the order for a reference; null when it has none. */
  find(reference: string, signal: AbortSignal): Promise<string | null>;
  /** Resolves when the carrier has called the order off, or has nothing to call off. */
  cancel(carrierOrderId: string, signal: AbortSignal): Promise<void>;
}
