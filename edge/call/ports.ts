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
  /** Milliseconds since the last valid RTP packet of the peer, or since the start of media. */
  silentForMs(): number;
  report(): MediaReport;
  /** Gives back ports and worker objects; safe to call twice. The report taken before stays valid. */
  close(): void;
}

export interface Media {
  /** @throws CallRefused 503 when no RTP port pair is free */
  createLeg(options: MediaLegOptions): Promise<MediaLeg>;
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
  /** The agent can go on no more; the call ends with `agent_failed`. */
  fail(error: Error): void;
}

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
}

/** The signaling side of one call. Every function may be called in any state; what is too late does nothing. */
export interface CallLeg {
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
  /** Ends an answered call with BYE; `reason` goes into a Reason header (RFC 3326). */
  bye(reason: string): void;
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
export interface DialEvents extends Pick<LegEvents, 'bye' | 'lost' | 'reanswer' | 'reoffer' | 'reaccept'> {
  /** A provisional response: 100, or 180 to 199. `sdp` is early media, an answer to our offer. */
  progress(status: number, sdp: string | null): void;
  /** The 200 came and its ACK is out. `sdp` is null when a reliable provisional response had the answer. */
  answered(sdp: string | null): void;
  refused(refusal: DialRefusal): void;
  /** No connection, or it was lost before a final response. `reason` is for a person. */
  unreachable(reason: string): void;
  /** No response at all in time, or no final one in the end. */
  timeout(): void;
}

/** The signaling side of a call that we make. Every function may be called in any state; what is too late does nothing. */
export interface OutboundLeg {
  /** Gives the call up before the answer: CANCEL, and BYE should the answer have crossed it. */
  cancel(reason: string): void;
  /** Ends an answered call with BYE; `reason` goes into a Reason header (RFC 3326). */
  bye(reason: string): void;
  /** Offers what `reoffer` gives in a re-INVITE; its answer comes by `reaccept`. */
  renegotiate(): void;
}

export interface Dialer {
  dial(target: DialTarget, invite: OutboundInvite, events: DialEvents): OutboundLeg;
}

/** What a call needs of the outbound configuration that it goes out over. */
export interface OutboundRoute {
  readonly trunkId: string;
  readonly credentials: TrunkCredentials | null;
  readonly headers: readonly HeaderMapping[];
  /** In order of preference; empty: the default list. */
  readonly codecs: readonly CodecName[];
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
}

export interface Routes {
  /** @returns null when `number` has no outbound configuration for a call to `to` */
  hunt(number: string, to: string): Hunt | null;
}

/** Takes reports. Each is safe on disk when the function returns. */
export interface Reporter {
  report(body: ReportBody): void;
}
