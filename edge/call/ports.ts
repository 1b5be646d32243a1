/**
 * What call logic needs from the rest of the edge. Signaling, media and agents implement these interfaces
 * and never see each other; edge/main.ts hands them together.
 */
import type { CodecName } from '#shared/codecs.ts';
import type { AgentSettings, CallVariables, MediaReport, TranscriptEntry } from '#shared/edge-protocol.ts';

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
