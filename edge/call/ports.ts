/**
 * What call logic needs from the rest of the edge. Signaling, media and agents implement these interfaces
 * and never see each other; edge/main.ts hands them together.
 */
import type { CodecName } from '#shared/codecs.ts';
import type {
  AgentSettings,
  CallVariables,
  HeaderMapping,
  MediaReport,
  ReportBody,
  TranscriptEntry,
} from '#shared/edge-protocol.ts';
import type { Endpoint, FailoverAttempt } from '#shared/trunk-protocol.ts';

/** A refusal with the SIP answer that it calls for. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
  /**
   * @param sipStatus final SIP status (3xx to 6xx) for the peer
   * @param warning text of a `Warning: 399` header (RFC 3261 section 20.43), when the peer can learn from it
   */
  readonly sipStatus: number;
  readonly warning: string | undefined;

  constructor(sipStatus: number, message: string, warning?: string) {
    super(message);
    this.sipStatus = sipStatus;
    this.warning = warning;
  }
}

// ---------------------------------------------------------------- media

/** The agent's mouth and ear: 20 ms frames of 16-bit mono PCM at `sampleRate`. */
export interface AudioEndpoint {
  readonly sampleRate: 8000 | 16000;
  /**
   * Called every 20 ms while the call is up. Fills `frame` (`sampleRate / 50` samples) and returns true, or
   * returns false when there is nothing to say: silence goes out. Must not block or throw.
   */
  read(frame: Int16Array): boolean;
  /** Received audio, de-jittered and concealed, one frame every 20 ms. Absent: nothing is decoded. */
  write?(frame: Int16Array): void;
  /** One received RFC 4733 event, once, when it ended (or was lost after it began). */
  dtmf?(event: DtmfEvent): void;
}

export interface DtmfEvent {
  /** `0`..`9`, `*`, `#`, `A`..`D`. */
  readonly digit: string;
  readonly durationMs: number;
}

export interface MediaLegOptions {
  /** For log lines. */
  readonly callId: string;
  /** Codecs in order of preference. */
  readonly codecs: readonly CodecName[];
  /** Called at most once, when the leg can carry no more audio (its media worker died): the call should end. */
  readonly failed?: ((error: Error) => void) | undefined;
  /** A leg that this one will be bridged to: both then stand on one media worker. */
  readonly beside?: MediaLeg | undefined;
}

/** The media side of one SIP leg: SRTP towards the peer, PCM towards the agent. SDP is RFC 4566 text. */
export interface MediaLeg {
  /**
   * Answers the peer's offer, the first one or a later one (hold, resume, new address, new keys).
   * @throws CallRefused 488 with a Warning when the offer cannot be accepted (the session then stays as it was)
   */
  answer(offer: string): Promise<string>;
  /** An offer of ours: for an INVITE without one, or to repeat the session's present state in a re-INVITE. */
  offer(): Promise<string>;
  /** Takes the peer's answer to our last offer. @throws CallRefused when it is unusable. */
  accept(answer: string): Promise<void>;
  /** Starts the 20 ms exchange with `endpoint`; null stops it. */
  attach(endpoint: AudioEndpoint | null): void;
  /** Sends RFC 4733 events, 100 ms each and 60 ms apart; `w` waits half a second. Resolves after the last. */
  sendDtmf(digits: string): Promise<void>;
  /** The codec in use, null before negotiation. */
  readonly codec: CodecName | null;
  /** Whether the peer holds the call (its direction is sendonly or inactive). */
  readonly held: boolean;
  /** Milliseconds since the last authentic RTP or RTCP packet of the peer, or since the start of media. */
  silentForMs(): number;
  report(): MediaReport;
  /** Gives back ports and worker objects; safe to call twice. The report taken before stays valid. */
  close(): void;
}

export interface BridgeOptions {
  /** Whether the legs may differ in codec; their audio then passes through this process. */
  readonly transcode: boolean;
  /** Called at most once, when the legs differ after a re-INVITE and cannot be joined any more: the calls should end. */
  readonly failed?: ((error: CallRefused) => void) | undefined;
}

/** Two legs that hear each other. Key presses cross it as RFC 4733 events. */
export interface MediaBridge {
  /** `relayed`: packets go from leg to leg inside the media worker. */
  readonly mode: 'relayed' | 'transcoded';
  /** Parts the legs, which stay open; safe to call twice. Closing a leg closes its bridge. */
  close(): void;
}

export interface Media {
  /** @throws CallRefused 503 when no RTP port pair is free */
  createLeg(options: MediaLegOptions): Promise<MediaLeg>;
  /**
   * Joins two negotiated legs. Endpoints that are attached to them hear and say nothing while the bridge stands.
   * @throws CallRefused 488 when they have no codec in common and may not be transcoded
   */
  bridge(one: MediaLeg, other: MediaLeg, options: BridgeOptions): Promise<MediaBridge>;
}

// ---------------------------------------------------------------- agents

/** What an agent may know of its call. */
export interface CallFacts {
  readonly callId: string;
  readonly orgId: string;
  /** The configuration that the call came over or goes out over; null when none is known. */
  readonly trunkId: string | null;
  readonly sipCallId: string;
  readonly direction: 'inbound' | 'outbound';
  /** E.164 with plus where it is one, else the user part as received. */
  readonly from: string;
  readonly to: string;
  /** Variables from header mappings and request_data; names as in contract 2.8 and 9.4. */
  readonly variables: CallVariables;
  /** Of a call of ours: what to do when a mailbox answers; absent or null: nobody looks. */
  readonly voicemail?: VoicemailOrder | null;
}

/** What becomes of a call of ours that a mailbox answers (contract 9.1). */
export interface VoicemailOrder {
  readonly action: 'hangup' | 'leave_message' | 'ignore';
  /** A template; set with `leave_message`. */
  readonly message: string | null;
}

/** What an agent may ask of its call. Everything is allowed at any time; after the end it has no effect. */
export interface AgentHost {
  /** Ends the call. `reason` is for the log. */
  hangup(reason: string): void;
  sendDtmf(digits: string): Promise<void>;
  /** One line of the conversation, reported as it happens. */
  transcript(entry: TranscriptEntry): void;
  /** The variables that the agent has extracted so far; replaces those of an earlier call of this function. */
  variables(values: CallVariables): void;
  /**
   * Hands the peer over to somebody else (contract section 4). Resolves when it is known whether that worked: after
   * `ok` the agent's part is over and it is closed, else the call goes on as before. Never rejects.
   */
  transfer(order: TransferOrder): Promise<TransferOutcome>;
  /** Of an agent that speaks to the target of a transfer: the waiting call may be joined now. */
  join(): void;
  /** Who seems to have answered a call of ours (contract 9.2); the last word stands. */
  answeredBy(who: 'human' | 'voicemail' | 'unknown'): void;
  /** The agent can go on no more; the call ends with `agent_failed`. */
  fail(error: Error): void;
}

export interface TransferOrder {
  /** E.164 number, extension, or SIP URI. */
  readonly target: string;
  readonly method: 'bridge' | 'refer';
  /** Warm transfer: what happens between us and the target before the peer is joined; null: it is joined at once. */
  readonly consult: ConsultOrder | null;
}

/** What the target of a warm transfer is told and asked. */
export interface ConsultOrder {
  /** Spoken to the target; null: nothing is said. */
  readonly announcement: string | null;
  /** `0`..`9`, `*` or `#`, by which the target takes the call; null: it is joined after the announcement. */
  readonly acceptKey: string | null;
}

/** How an agent speaks. */
export type Manner = Pick<AgentSettings, 'voice' | 'language'>;

export type TransferOutcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: TransferFailure;
      /** The final status that the target, or the peer of a REFER, gave; null when none came. */
      readonly sipCode: number | null;
      /** One sentence for a person. */
      readonly reason: string;
    };

export type TransferFailure =
  /** The call is not up, or a transfer of it is under way already. */
  | 'not_active'
  | 'no_route'
  | 'refer_not_supported'
  | 'target_not_allowed'
  /** busy, no answer, refused, unreachable: `reason` says which */
  | 'target_failed'
  /** The target of a warm transfer did not take the call. */
  | 'declined';

/** The agent side of a call. */
export interface AgentLeg extends AudioEndpoint {
  /** Gets ready before the call is answered. Rejects when the agent cannot take the call: answered 480. */
  prepare(): Promise<void>;
  /** The call is answered: frames flow from now on. */
  start(): void;
  /** The call is over; releases everything. Safe to call twice. */
  close(reason: string): void;
}

export interface Agents {
  create(settings: AgentSettings, call: CallFacts, host: AgentHost): AgentLeg;
  /**
   * Who speaks to the target of a transfer: says the announcement, waits for the key, then `host.join` or `hangup`.
   * @param manner of the agent of the call that is transferred; absent: the edge's voice, English
   */
  consult(order: ConsultOrder, call: CallFacts, host: AgentHost, manner?: Manner): AgentLeg;
  /** What the peer hears while the target of a transfer is called. */
  waiting(): AudioEndpoint;
}

// ---------------------------------------------------------------- signaling

/** What the INVITE of a call told us. */
export interface LegFacts {
  readonly sipCallId: string;
  readonly direction: 'inbound' | 'outbound';
  /** E.164 with plus where it is one, else the user part as received. */
  readonly from: string;
  readonly to: string;
  /** Address of the peer, IPv4-mapped addresses as IPv4. */
  readonly sourceIp: string | null;
  /** SDP of the INVITE; null when it came without (late offer, RFC 3261 section 13.2.1). */
  readonly offer: string | null;
}

/** How a call that was not answered is refused. */
export interface Refusal {
  readonly status: number;
  /** Reason phrase; the standard one when absent. */
  readonly reason?: string;
  /** Text of a `Warning: 399` header. */
  readonly warning?: string;
  /** Seconds of a `Retry-After` header. */
  readonly retryAfterS?: number;
}

/**
 * What happens on a leg. Calls come in the order of the wire, never before `listen`, and none after `bye`,
 * `canceled`, `lost`, `reject` or our own `bye()`.
 */
export interface LegEvents {
  /** The 200 went out. */
  answered(): void;
  /** The first ACK arrived; `sdp` is its body, the peer's answer when the offer was ours. */
  acknowledged(sdp: string | null): void;
  /** CANCEL before the answer. It is confirmed already. */
  canceled(): void;
  /** BYE of the peer. The 200 goes out when this returns, so the record must be safe by then. */
  bye(): void;
  /** The dialog is gone or must end, without a BYE of the peer. */
  lost(code: 'ack_timeout' | 'session_expired' | 'engine_lost' | 'bad_answer', detail: string): void;
  /** The peer's offer in a re-INVITE or UPDATE. @throws CallRefused: the session stays as it was */
  reanswer(offer: string): Promise<string>;
  /** The session's present description, as an offer in a re-INVITE of ours or the answer to an empty one. */
  reoffer(): Promise<string>;
  /** The peer's answer to what `reoffer` gave. @throws CallRefused when it is unusable */
  reaccept(answer: string): Promise<void>;
  /** REFER of the peer (RFC 3515), to be accepted or refused at once. */
  referred(refer: PeerRefer): void;
  /**
   * An INVITE that replaces this dialog (RFC 3891) came from a source that may call the number. The call goes on
   * over `leg` and ends the present dialog, or rejects it. Only for dialogs that are answered.
   */
  replacedBy(leg: CallLeg): void;
}

/** A REFER that the peer has sent. What is too late does nothing. */
export interface PeerRefer {
  /** URI of Refer-To, without its header part. */
  readonly target: string;
  /** Value of the Replaces header that Refer-To embeds, unescaped: an attended transfer. */
  readonly replaces: string | null;
  /** Value of Referred-By (RFC 3892), to be passed on. */
  readonly referredBy: string | null;
  /** Answers 202, and NOTIFY with `100 Trying`. */
  accept(): void;
  refuse(status: number, reason: string): void;
  /** NOTIFY with this status line as message/sipfrag; a final one ends the subscription. */
  notify(status: number, reason: string): void;
}

/** A REFER of ours. */
export interface ReferOrder {
  /** URI of Refer-To, with its header part where there is one. */
  readonly target: string;
}

/** What comes of a REFER of ours: `accepted` at most once, `progress` as often as it comes, then one of the last two. */
export interface ReferEvents {
  /** 202, or another 2xx. */
  accepted(): void;
  /** A NOTIFY with a provisional status line. */
  progress(status: number, reason: string): void;
  /** The final status line of a NOTIFY. */
  done(status: number, reason: string): void;
  /** The REFER was refused (`status`), or nothing final came: time-out, subscription ended, dialog gone (null). */
  failed(status: number | null, reason: string): void;
}

/** What a Replaces header (RFC 3891) and Refer-To need to name a dialog to somebody else. */
export interface DialogIdentity {
  readonly callId: string;
  readonly localTag: string;
  readonly remoteTag: string;
  /** The peer's Contact URI. */
  readonly remoteTarget: string;
}

/** What can be done in an answered dialog, whoever began it. */
export interface DialogLeg {
  /** Whether the peer takes REFER: its Allow lists it, or it sent none. */
  readonly takesRefer: boolean;
  /** null before the answer. */
  readonly dialog: DialogIdentity | null;
  /** Asks the peer to call somebody else. */
  refer(order: ReferOrder, events: ReferEvents): void;
  /** Ends an answered call with BYE; `reason` goes into a Reason header (RFC 3326). */
  bye(reason: string): void;
}

/** The signaling side of one call. Every function may be called in any state; what is too late does nothing. */
export interface CallLeg extends DialogLeg {
  readonly facts: LegFacts;
  /** Whether a 180 may go out now: not when a reliable one would have to carry an offer (RFC 3262 section 5). */
  readonly canRing: boolean;
  listen(events: LegEvents): void;
  /** Sends 180. */
  ring(): void;
  /** Sends 200 with an answer, or with our offer when the INVITE had none. */
  answer(sdp: string): void;
  /** Sends a final refusal instead of an answer. */
  reject(refusal: Refusal): void;
}

// ---------------------------------------------------------------- outbound calls

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

/** A final response that is no answer, as it came. */
export interface DialRefusal {
  /** 300 to 699 */
  readonly status: number;
  readonly reason: string;
  /** Text of the Warning header. */
  readonly warning: string | null;
  readonly retryAfterS: number | null;
  /** Whether our credentials had been sent: a 401 or 407 then refuses them. */
  readonly authenticated: boolean;
}

/**
 * What happens to an INVITE of ours and to the dialog that comes of it. Nothing comes before `dial` has
 * returned, and nothing after `refused`, `unreachable`, `timeout`, `bye`, `lost`, or our own `cancel` or `bye`.
 */
export interface DialEvents
  extends Pick<LegEvents, 'bye' | 'lost' | 'reanswer' | 'reoffer' | 'reaccept' | 'referred' | 'replacedBy'> {
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

/** How an INVITE to one place ended. `ringing`: a response of 180 to 199 had come. */
export type AttemptOutcome =
  /** No connection: name, address, connect, handshake or certificate. `error` says which, in a few words. */
  | { readonly kind: 'no_connection'; readonly error: string }
  | { readonly kind: 'connection_lost'; readonly ringing: boolean; readonly error: string }
  /** No response at all, not even 100. */
  | { readonly kind: 'no_response' }
  /** The final response; 2xx is an answer. `credentialsSent`: the request answered a challenge. */
  | {
      readonly kind: 'final';
      readonly status: number;
      readonly ringing: boolean;
      readonly credentialsSent: boolean;
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
  /** Whether a REFER of the peer to `uri` stays with the configuration (contract section 4). */
  reachableOver(number: string, trunkId: string | null, uri: string): boolean;
}

/** What a REFER of ours names. */
export interface ReferTarget {
  /** SIP URI without header part. */
  readonly uri: string;
  /** Mappings whose headers go as header parameters into the URI; empty for a foreign host. */
  readonly headers: readonly HeaderMapping[];
}

/** Takes reports. Each is safe on disk when the function returns. */
export interface Reporter {
  report(body: ReportBody): void;
}
