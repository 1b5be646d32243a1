/** What calls need from signaling to send INVITEs. */
import type { ConnectionFailure } from '#shared/connection-faults.ts';
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import type { DialogLeg, InDialogEvents } from './signaling.ts';

/** Where an INVITE goes: one address of an endpoint, already checked (contract 1.9). */
export interface DialTarget {
  /** As configured, for records and log lines. */
  readonly host: string;
  /** Address to connect to; absent: the engine resolves `serverName`. */
  readonly address?: string;
  readonly port: number;
  /** Name that the peer's certificate must contain, and host of the Request-URI (RFC 5922 section 4, RFC 3263). */
  readonly serverName: string;
  /** Whether no configuration names the host: then From is the only identity sent (RFC 3325 section 5). */
  readonly foreign?: boolean;
}

export interface TrunkCredentials {
  readonly username: string;
  readonly password: string;
  /** null: any realm the trunk names; otherwise other realms are not answered. */
  readonly realm: string | null;
}

/** Contents of an outbound INVITE. */
export interface OutboundInvite {
  /** The same for every attempt of a call; each attempt has its own From tag. */
  readonly sipCallId: string;
  /** The attached number, E.164 with plus: user part of From and P-Asserted-Identity. */
  readonly from: string;
  /** E.164, an extension, or a SIP URI, whose user part is dialed. */
  readonly to: string;
  /** SDP */
  readonly offer: string;
  /** Contract 2.8, outbound. */
  readonly headers: readonly HeaderMapping[];
  /** Variables that the mappings may use. */
  readonly variables: CallVariables;
  /** null: a challenge is a rejection. */
  readonly credentials: TrunkCredentials | null;
  /** Value of a Replaces header (RFC 3891): the INVITE replaces a dialog of the callee. */
  readonly replaces?: string | null;
  /** Value of a Referred-By header (RFC 3892). */
  readonly referredBy?: string | null;
}

/** A custom header left out of an INVITE. */
export interface LeftOutHeader {
  /** As configured. */
  readonly name: string;
  /** Why it was left out, as a clause. */
  readonly why: string;
}

/** A final response other than 2xx, as received. */
export interface DialRefusal {
  /** 300 to 699 */
  readonly status: number;
  readonly reason: string;
  /** Text of the Warning header. */
  readonly warning: string | null;
  /** Its code (RFC 3261 section 20.43). */
  readonly warningCode?: number | null;
  /** ITU-T Q.850 cause of the Reason header (RFC 3326). */
  readonly q850?: number | null;
  readonly retryAfterS: number | null;
  /** URIs of the Contacts of a redirect, without passwords and headers. */
  readonly contacts?: readonly string[];
  /** Whether the response contained a challenge. */
  readonly challenged?: boolean;
  /** Whether our credentials had been sent: a 401 or 407 then rejects them. */
  readonly authenticated: boolean;
}

/**
 * Events of an outbound INVITE and its dialog. None before `dial` has returned, and none after `refused`,
 * `unreachable`, `timeout`, `bye`, `lost`, or our own `cancel` or `bye`.
 */
export interface DialEvents extends InDialogEvents {
  /** The INVITE is sent without these headers of `OutboundInvite.headers`. */
  headersLeftOut?(headers: readonly LeftOutHeader[]): void;
  /** A provisional response: 100, or 180 to 199. `sdp` is early media, an answer to our offer. */
  progress(status: number, sdp: string | null): void;
  /** A 2xx was received and its ACK sent. `sdp` is null when a reliable provisional response had the answer. */
  answered(sdp: string | null): void;
  refused(refusal: DialRefusal): void;
  /** No connection, or the connection was lost before a final response. */
  unreachable(failure: ConnectionFailure): void;
  /** No response in time, or no final one. */
  timeout(): void;
}

/** The signaling side of an outbound call. Functions may be called in any state; late calls do nothing. */
export interface OutboundLeg extends DialogLeg {
  /** Cancels before the answer: CANCEL, then BYE if the answer crossed it. */
  cancel(reason: string): void;
}

export interface Dialer {
  dial(target: DialTarget, invite: OutboundInvite, events: DialEvents): OutboundLeg;
}
