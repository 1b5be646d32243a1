/** What calls need from the outbound trunks (edge/trunks): where to send INVITEs. */

import type { CodecName } from '#shared/codecs.ts';
import type { ConnectionFailure } from '#shared/connection-faults.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import type { Endpoint, FailoverAttempt } from '#shared/trunk-protocol.ts';
import type { DialRefusal, DialTarget, TrunkCredentials } from './dialing.ts';

/** What a call needs from its outbound configuration. */
export interface OutboundRoute {
  /** null: a SIP URI at a foreign host, which gets neither credentials nor mapped headers (contract section 4). */
  readonly trunkId: string | null;
  readonly credentials: TrunkCredentials | null;
  readonly headers: readonly HeaderMapping[];
  /** In preference order; empty: the default list. */
  readonly codecs: readonly CodecName[];
  /** Whether a call on it may be bridged to a leg with another codec. */
  readonly transcode: boolean;
}

/** Where to send the call's next INVITE. */
export interface NextHop {
  readonly route: OutboundRoute;
  readonly endpoint: Endpoint;
  readonly target: DialTarget;
}

/** How far an INVITE got: no response, 100, 180 to 199, or one of these with media. */
export type Phase = 'silent' | 'trying' | 'ringing' | 'early_media';

/** How one INVITE ended. */
export type AttemptOutcome =
  /** No connection: DNS, address, connect, handshake or certificate. */
  | { readonly kind: 'no_connection'; readonly failure: ConnectionFailure }
  | { readonly kind: 'connection_lost'; readonly phase: Phase; readonly failure: ConnectionFailure }
  /** No response at all, not even 100. */
  | { readonly kind: 'no_response' }
  /** The final response; 2xx is an answer. `credentialsSent`: the request had answered a challenge. */
  | {
      readonly kind: 'final';
      readonly status: number;
      readonly phase: Phase;
      readonly credentialsSent: boolean;
      /** Details of a 300 to 699 response; absent: only the status is known. */
      readonly refusal?: DialRefusal;
    }
  /** We canceled the attempt, for a reason unrelated to the endpoint. */
  | { readonly kind: 'canceled' };

/** One call's way through the endpoints of its number's configurations (contract 2.2 and 3.5). */
export interface Hunt {
  /** The next address to try; null when none is left. */
  next(): Promise<NextHop | null>;
  /** Records how the attempt from the last `next` ended. `movesOn`: there may be another one. */
  ended(outcome: AttemptOutcome): { readonly movesOn: boolean };
  /** The failed attempts, in order. */
  readonly attempts: readonly FailoverAttempt[];
  /** Why the last endpoint has no address to dial; absent, null: it has one. */
  readonly unresolved?: string | null;
  /** Why the target must not be called (contract 1.9), once known; absent, null: it may. */
  readonly forbidden?: string | null;
}

export interface Routes {
  /**
   * A hunt for a call from `number` to `to`: E.164, an extension, or a SIP URI. A SIP URI whose host is not one of the
   * number's own is resolved directly (RFC 3263), without a configuration.
   * @param trunkId use only this configuration, if the number has it as outbound
   * @returns null when there is no route
   */
  hunt(number: string, to: string, trunkId?: string | null): Hunt | null;
  /**
   * URI for the Refer-To when the peer is asked to call `to`: its host is that of the configuration, else of the
   * number's primary outbound one. null: there is none. A SIP URI is used unchanged.
   */
  referTarget(number: string, to: string, trunkId: string | null): ReferTarget | null;
  /**
   * Whether a REFER of the peer to `uri` is followed (contract section 4, docs/transfers.md).
   * @param trunkId configuration of the call, inbound or outbound
   * @param peer remote address of the call; null: not known
   * @param joins whether the target names another call of the peer with this edge (Replaces): nobody is called then
   */
  followable(
    number: string,
    trunkId: string | null,
    uri: string,
    peer: string | null,
    joins: boolean,
  ): ReferVerdict;
}

/** `to`: whom to call, E.164, an extension or a SIP URI. `reason`: one sentence for the peer and the transcript. */
export type ReferVerdict =
  | { readonly allowed: true; readonly to: string }
  | { readonly allowed: false; readonly reason: string };

/** The target of our REFER. */
export interface ReferTarget {
  /** SIP URI without header part. */
  readonly uri: string;
  /** Mappings whose headers are added to the URI as header parameters; empty for a foreign host. */
  readonly headers: readonly HeaderMapping[];
}

/** Applies header mappings to variables: header name to value. */
export type HeadersOf = (
  mappings: readonly HeaderMapping[],
  variables: CallVariables,
) => Readonly<Record<string, string>>;
