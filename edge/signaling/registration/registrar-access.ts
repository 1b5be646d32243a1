/** What registrations need from the rest of the edge. */
import type { Environment } from '../srf/environment.ts';
import type { Exchange } from '../srf/exchange.ts';
import type { ReportedState } from './binding-report.ts';
import type { RegistrationFleet } from './fleet-registrations.ts';
import type { RefusalStore } from './refused-registrations.ts';
import type { RegistrarTargets } from './register-exchange.ts';
import type { RegistrationSettings } from './registration.ts';

/** What signaling needs from the edge to register. */
export interface RegistrarAccess {
  /** Where a registrar can be reached (RFC 3263, contract 1.9). Never rejects. */
  readonly resolve: (host: string, port: number) => Promise<RegistrarTargets>;
  /** @param orderId of the order whose outcome this is */
  readonly report: (trunkId: string, state: ReportedState, orderId?: string) => void;
  /** Absent: the edge is in no fleet. */
  readonly fleet?: RegistrationFleet;
  readonly settings: RegistrationSettings;
  /** Stores rejections over a restart; absent: nothing is stored. */
  readonly refusals?: RefusalStore;
  /** An opaque name of a registration, stable across restarts; passwords cannot be guessed from it. */
  readonly nameOf?: (key: string) => string;
}

export interface RegistrationsOptions extends RegistrarAccess {
  readonly environment: Pick<
    Environment,
    'clock' | 'log' | 'random' | 'publicAddress' | 'software' | 'engineIsEmbedded'
  >;
  readonly exchange: Exchange;
}
