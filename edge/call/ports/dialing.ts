/** What calls need of signaling to send INVITEs of their own. */
import type { CallVariables } from '#shared/edge-protocol/agents.ts';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import type { DialogLeg, LegEvents } from './signaling.ts';

/** Where an INVITE goes: one address of an endpoint, already judged (contract 1.9). */
export interface DialTarget {
  /** As configured, for records and log lines. */
  readonly host: string;
  /** Address to connect to; absent: the engine resolves `serverName`. */
  readonly address?: string;
  readonly port: number;
  /** Name that the peer's certificate must bear, and host of the Request-URI (RFC 5922 section 4, RFC 3263). */
  readonly serverName: string;
  /** Whether no configuration names the host: it is told no identity but that of From (RFC 3325 section 5). */
  readonly foreign?: boolean;
}

export interface TrunkCredentials {
  readonly username: string;
  readonly password: string;
  /** null: whatever realm the trunk names; else no other realm gets an answer. */
  readonly realm: string | null;
}

/** What an INVITE of ours says. */
export interface OutboundInvite {
  /** The same for every attempt of a call; each attempt has its own From tag. */
  readonly sipCallId: string;
  /** The attached number, E.164 with plus: user part of From and P-Asserted-Identity. */
  readonly from: string;
  /** E.164, an extension, or a SIP URI, of which the user part is dialled. */
  readonly to: string;
  /** SDP */
  readonly offer: string;
  /** Contract 2.8, outbound. */
  readonly headers: readonly HeaderMapping[];
  /** What the mappings may name. */
  readonly variables: CallVariables;
  /** null: a challenge is a refusal. */
  readonly credentials: TrunkCredentials | null;
  /** Value of a Replaces header (RFC 3891): this INVITE takes a dialog of the callee over. */
  readonly replaces?: string | null;
  /** Value of a Referred-By header (RFC 3892). */
  readonly referredBy?: string | null;
}

/** A custom header that an INVITE does not have. */
export interface LeftOutHeader {
  /** As configured. */
  readonly name: string;
  /** A clause for a person. */
  readonly why: string;
}

/** A final response that is no answer, as it came. */
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
  /** Whether a challenge came with the response. */
  readonly challenged?: boolean;
  /** Whether our credentials had been sent: a 401 or 407 then refuses them. */
  readonly authenticated: boolean;
}

/**
 * What happens to an INVITE of ours and to the dialog that comes of it. Nothing comes before `dial` has
 * returned, and nothing after `refused`, `unreachable`, `timeout`, `bye`, `lost`, or our own `cancel` or `bye`.
 */
export interface DialEvents
  extends Pick<
    LegEvents,
    'bye' | 'lost' | 'reanswer' | 'reoffer' | 'reaccept' | 'referred' | 'referRefused' | 'replacedBy'
  > {
  /** The INVITE goes out without these headers of `OutboundInvite.headers`. */
  headersLeftOut?(headers: readonly LeftOutHeader[]): void;
  /** A provisional response: 100, or 180 to 199. `sdp` is early media, an answer to our offer. */
  progress(status: number, sdp: string | null): void;
  /** A 2xx came and its ACK is out. `sdp` is null when a reliable provisional response had the answer. */
  answered(sdp: string | null): void;
  refused(refusal: DialRefusal): void;
  /** No connection, or it was lost before a final response. `reason` is for a person. */
  unreachable(reason: string): void;
  /** No response at all in time, or no final one in the end. */
  timeout(): void;
}

/** The signaling side of a call that we make. Every function may be called in any state; what is too late does nothing. */
export interface OutboundLeg extends DialogLeg {
  /** Gives the call up before the answer: CANCEL, and BYE should the answer have crossed it. */
  cancel(reason: string): void;
  /** Offers what `reoffer` gives in a re-INVITE; its answer comes by `reaccept`. */
  renegotiate(): void;
}

export interface Dialer {
  dial(target: DialTarget, invite: OutboundInvite, events: DialEvents): OutboundLeg;
}
