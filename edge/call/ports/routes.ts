/** What calls need of the outbound trunks (edge/trunks): where to send their INVITEs. */
import type { CodecName } from '#shared/codecs.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import type { Endpoint, FailoverAttempt } from '#shared/trunk-protocol.ts';
import type { DialRefusal, DialTarget, TrunkCredentials } from './dialing.ts';

/** What a call needs of the outbound configuration that it goes out over. */
export interface OutboundRoute {
  /** null: a SIP URI at a foreign host, which gets neither credentials nor mapped headers (contract section 4). */
  readonly trunkId: string | null;
  readonly credentials: TrunkCredentials | null;
  readonly headers: readonly HeaderMapping[];
  /** In order of preference; empty: the default list. */
  readonly codecs: readonly CodecName[];
  /** Whether a call over it may be bridged to a leg with another codec. */
  readonly transcode: boolean;
}

/** Where to send the next INVITE of a call. */
export interface Place {
  readonly route: OutboundRoute;
  readonly endpoint: Endpoint;
  readonly target: DialTarget;
}

/** How far an INVITE had come: no response, 100, a response of 180 to 199, one of those with media. */
export type Phase = 'silent' | 'trying' | 'ringing' | 'early_media';

/** How an INVITE to one place ended. */
export type AttemptOutcome =
  /** No connection: name, address, connect, handshake or certificate. `error` says which, in a few words. */
  | { readonly kind: 'no_connection'; readonly error: string }
  | { readonly kind: 'connection_lost'; readonly phase: Phase; readonly error: string }
  /** No response at all, not even 100. */
  | { readonly kind: 'no_response' }
  /** The final response; 2xx is an answer. `credentialsSent`: the request answered a challenge. */
  | {
      readonly kind: 'final';
      readonly status: number;
      readonly phase: Phase;
      readonly credentialsSent: boolean;
      /** What a response of 300 to 699 said; absent: nothing more than its status. */
      readonly refusal?: DialRefusal;
    }
  /** We gave the attempt up, for a reason that lies not with the place. */
  | { readonly kind: 'canceled' };

/** One call on its way through the places that its number's configurations name (contract 2.2 and 3.5). */
export interface Hunt {
  /** The next place; null when none is left. */
  next(): Promise<Place | null>;
  /** Takes how the attempt at the place of the last `next` ended. `movesOn`: there may be another place. */
  ended(outcome: AttemptOutcome): { readonly movesOn: boolean };
  /** The attempts that were in vain, in order. */
  readonly attempts: readonly FailoverAttempt[];
  /** Why the target may not be called at all (contract 1.9), as soon as that is known; absent, null: it may. */
  readonly forbidden?: string | null;
}

export interface Routes {
  /**
   * A hunt for a call from `number` to `to`: E.164, an extension, or a SIP URI. A SIP URI whose host is none of the
   * number's own is called where it points (RFC 3263), without a configuration.
   * @param trunkId only over this configuration, where the number has it as an outbound one
   * @returns null when there is no way
   */
  hunt(number: string, to: string, trunkId?: string | null): Hunt | null;
  /**
   * Host that stands in a Refer-To for `to` when the peer is asked to call it: that of the configuration, else of the
   * number's primary outbound one. null: there is none. A SIP URI is its own.
   */
  referTarget(number: string, to: string, trunkId: string | null): ReferTarget | null;
  /**
   * Whether a REFER of the peer to `uri` is followed (contract section 4, docs/transfers.md).
   * @param trunkId configuration that the call came or left by
   * @param peer address that the call came from or went to; null: not known
   */
  followable(number: string, trunkId: string | null, uri: string, peer: string | null): ReferVerdict;
}

/** `to`: what is called, E.164, an extension or a SIP URI. `reason`: one sentence for the peer and the transcript. */
export type ReferVerdict =
  | { readonly allowed: true; readonly to: string }
  | { readonly allowed: false; readonly reason: string };

/** What a REFER of ours names. */
export interface ReferTarget {
  /** SIP URI without header part. */
  readonly uri: string;
  /** Mappings whose headers go as header parameters into the URI; empty for a foreign host. */
  readonly headers: readonly HeaderMapping[];
}

/** What header mappings make of variables: header name to value. */
export type HeadersOf = (
  mappings: readonly HeaderMapping[],
  variables: CallVariables,
) => Readonly<Record<string, string>>;
