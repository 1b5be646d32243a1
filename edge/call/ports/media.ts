/** What calls need from media (edge/media). */
import type { CodecName } from '#shared/codecs.ts';
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import type { RecordingFault, RecordingHeader } from '#shared/recording/format.ts';
import type { SupervisionMode } from '#shared/supervision.ts';
import type { CallRefused } from '../refused.ts';

/** At hand, or asked for in another thread. */
export type Soon<T> = T | Promise<T>;

/** The agent's audio: 20 ms frames of 16-bit mono PCM at `sampleRate`. */
export interface AudioEndpoint {
  readonly sampleRate: 8000 | 16000;
  /**
   * Called every 20 ms while the call is up. Fills `frame` (`sampleRate / 50` samples) and returns true, or
   * returns false to send silence. Must not block or throw.
   */
  read(frame: Int16Array): boolean;
  /** The same for a peer that hears two sides apart: left and right by turns, twice as many samples. Absent: `read`. */
  readStereo?(frame: Int16Array): boolean;
  /** Received audio, de-jittered and concealed, one frame every 20 ms. Absent: nothing is decoded. */
  write?(frame: Int16Array): void;
  /** It never says anything and hears nothing, so it may be in another thread than the leg. */
  readonly silent?: true;
  /** One received key press, once: an RFC 4733 event when it ended (or was lost after its start), or a SIP INFO. */
  dtmf?(event: DtmfEvent): void;
}

/** Nobody. */
export const silence: AudioEndpoint = { sampleRate: 8000, silent: true, read: () => false };

export interface DtmfEvent {
  /** `0`..`9`, `*`, `#`, `A`..`D`. */
  readonly digit: string;
  readonly durationMs: number;
}

/** The quality of a leg in an interval. Null: not measured. */
export interface LegSample {
  /** End of the interval, ms of the clock's elapsed time, and its length. */
  readonly at: number;
  readonly durationMs: number;
  /** Whether the call is on hold, by either end. */
  readonly held: boolean;
  /** Whether packets bypass our process, from leg to leg in the media worker. */
  readonly relayed: boolean;
  /** Packets from the peer: arrived, missing, and arrived too late to be played. */
  readonly received: number;
  readonly lost: number;
  readonly late: number | null;
  /** RFC 3550 section 6.4.1. */
  readonly jitterMs: number | null;
  /** Delay that the jitter buffer adds. */
  readonly bufferMs: number | null;
  /** Mean level, dBov. */
  readonly levelReceived: number | null;
  readonly sent: number;
  /** Share of our packets lost by the peer's last report, 0..100. */
  readonly peerLossPercent: number | null;
  readonly levelSent: number | null;
  readonly roundTripMs: number | null;
  /** E-model, 1..4.5. */
  readonly mosReceived: number | null;
  readonly mosSent: number | null;
  /** The most that a turn of our own clock was late. */
  readonly clockLateMs: number | null;
}

/** What packets of a leg go through on their way to the peer, in place of the network alone. */
export interface PacketWay {
  /** Calls `pass` now, later or never. The packet is used again after the call. */
  send(packet: Buffer, pass: (packet: Buffer) => void): void;
}

export interface MediaLegOptions {
  /** For log lines. */
  readonly callId: string;
  /** Codecs in preference order. */
  readonly codecs: readonly CodecName[];
  /** The peer is a browser of an authorized session: WebRTC, with ICE and DTLS, and nothing else is accepted. */
  readonly browser?: boolean | undefined;
  /**
   * Called at most once, when the leg can carry no more audio: the call should end. The error is a BrowserLost when the
   * browser's connection was not set up or was lost; otherwise the media worker died.
   */
  readonly failed?: ((error: Error) => void) | undefined;
  /** Called with a sample every 5 s from the start of media on, and with the last one before `report` returns. */
  readonly sampled?: ((sample: LegSample) => void) | undefined;
  /** A leg that this one will be bridged to: both then use the same media worker. */
  readonly beside?: MediaLeg | undefined;
  /** Calls of one organization are carried in one place while it has room. */
  readonly orgId?: string | undefined;
  /** The call whose transfer this call belongs to: the audio of both is carried in one place. */
  readonly parentId?: string | undefined;
  /** For a leg of this thread only. */
  readonly way?: PacketWay | undefined;
}

/** What to record of a leg. */
export interface RecordingOrder {
  readonly header: RecordingHeader;
  /** Seals this recording and no other; 32 octets. */
  readonly dataKey: Uint8Array;
  /** Played to the peer before anything else, 16-bit mono PCM at 8 kHz; null: nothing. */
  readonly announcement: Int16Array | null;
  /** A key of the peer that pauses the recording and resumes it; null: none. */
  readonly pauseKey: string | null;
  /** Called at most once: the recording has ended although the leg has not. `detail` is for the log. */
  readonly stopped: (reason: RecordingFault, detail: string) => void;
  /** Called each time that the leg's own pause begins or ends, by its key or by order. */
  readonly paused: (isPaused: boolean) => void;
}

/** A recording of a leg. It ends with the leg. */
export interface LegRecording {
  /** Nothing is recorded until `resume`; that time is silence, with a mark. */
  pause(): void;
  resume(): void;
  /** Nor while others that hear the leg have paused. */
  pauseWithOthers(on: boolean): void;
}

/**
 * The media side of one leg: SRTP toward the peer, PCM toward the agent. SDP is RFC 4566 text. `codec`, `keys` and
 * `held` are those of the last answer, offer or accept that has resolved.
 */
export interface MediaLeg {
  /**
   * Answers the peer's offer, the first one or a later one (hold, resume, new address, new keys).
   * @throws CallRefused 488 with a Warning when the offer cannot be accepted (the session stays unchanged)
   */
  answer(offer: string): Promise<string>;
  /**
   * Our offer: for an INVITE without SDP, or to repeat the current session in a re-INVITE.
   * @param anew whether it may be answered from another place, with another codec: it has a port and a key of its own
   */
  offer(anew?: boolean): Promise<string>;
  /**
   * Takes the peer's answer to our last offer.
   * @throws CallRefused when it is unusable; its fault is `moved` when an offer anew could be answered like this
   */
  accept(answer: string): Promise<void>;
  /** Our last offer gets no answer: the port that it offered beside the current one is free again. */
  withdraw(): void;
  /**
   * Whether we hold the peer: the following offers and answers say `sendonly` (RFC 3264 section 8.4). It takes effect
   * with the next one.
   */
  hold(on: boolean): void;
  /** A key press that came by SIP INFO. It goes to the endpoint, unless it came as RFC 4733 event too. */
  pressed(key: DtmfEvent): void;
  /** Starts the 20 ms exchange with `endpoint`; null stops it. */
  attach(endpoint: AudioEndpoint | null): void;
  /**
   * Records both sides of the leg from now on, once. A bridge of a recorded leg passes through this process.
   * @throws Error when the leg has a recording already, or this media records nothing
   */
  record(order: RecordingOrder): LegRecording;
  /** Sends RFC 4733 events, 100 ms each and 60 ms apart; `w` waits half a second. Resolves after the last. */
  sendDtmf(digits: string): Promise<void>;
  /** The codec in use, null before negotiation. */
  readonly codec: CodecName | null;
  /** Whether keys can be sent; `none`: the peer's SDP has no telephone-event. Null before negotiation. */
  readonly keys: 'telephone-event' | 'none' | null;
  /** Whether the peer holds the call (its direction is sendonly or inactive). */
  readonly held: boolean;
  /**
   * Says `words`, at 8 kHz, to one side of what the leg exchanges, unheard by the other: its peer (near) or what it is
   * connected to (far). Words that are still being said are said first.
   */
  tell(side: 'near' | 'far', words: Int16Array): void;
  /** Milliseconds since the peer's last authentic RTP or RTCP packet, or since the start of media. Never rejects. */
  silentForMs(): Soon<number>;
  /** At the end of the leg's use. Null when its counts are lost. Never rejects. */
  report(): Soon<MediaReport | null>;
  /** Releases ports and worker objects; safe to call twice. A report taken before stays valid. */
  close(): void;
}

/** A leg of this thread. */
export interface LocalLeg extends MediaLeg {
  silentForMs(): number;
  report(): MediaReport;
}

export interface BridgeOptions {
  /** Whether the legs may use different codecs; audio then passes through this process. */
  readonly transcode: boolean;
  /** Called at most once, when the codecs differ after a re-INVITE and may not: the calls should end. */
  readonly failed?: ((error: CallRefused) => void) | undefined;
}

/** Two legs connected to each other. Key presses cross as RFC 4733 events. */
export interface MediaBridge {
  /** `relayed`: packets go from leg to leg inside the media worker. */
  readonly mode: 'relayed' | 'transcoded';
  /** Separates the legs, which stay open; safe to call twice. Closing a leg closes its bridge. */
  close(): void;
}

export interface RoomOptions {
  /** Called when a leg in the room begins to speak, and when it has stopped or left. */
  readonly heard?: (leg: MediaLeg, speaks: boolean) => void;
  /** Called once when the room is broken: those in it hear nothing any more. */
  readonly failed?: (error: Error) => void;
  /** Called when an agent in the room has failed: it has left. */
  readonly agentFailed?: (error: Error) => void;
}

/** What a room needs of a leg. */
export type RoomLeg = Pick<MediaLeg, 'codec' | 'attach'>;

/** A place where legs hear each other. It is released when the last one has left. */
export interface MediaRoom {
  /**
   * The leg exchanges its audio with the room until something else is attached to it; then it must leave.
   * @param tones whether the others hear tones when it comes and when it leaves
   * @throws LegsApart when its media is in another place than the room
   */
  enter(leg: MediaLeg, tones: boolean): void;
  /**
   * An agent hears the room and speaks into it, until it leaves. It must not be attached to a leg meanwhile.
   * @throws LegsApart when it is in another place than the room
   */
  enterAgent(agent: AudioEndpoint): void;
  /** No effect when it is not there. */
  leaveAgent(agent: AudioEndpoint): void;
  /** The others do not hear it while it is muted; leaving ends that. No effect when it is not there. */
  mute(leg: MediaLeg, on: boolean): void;
  /** Also of a leg that is closed; no effect when it is not there. */
  leave(leg: MediaLeg): void;
}

export interface SupervisionOptions {
  /** Where the agent of the call is: at the far side of its leg, or the leg's own peer. */
  readonly agent: 'near' | 'far';
  /** Whether a tone tells both parties that somebody listens. */
  readonly tone: boolean;
}

/** A supervisor's leg at the leg of a call. */
export interface MediaSupervision {
  setMode(mode: SupervisionMode): void;
  /** The call goes on as before. Safe to call twice, and after either leg was closed. */
  close(): void;
}

export interface Media {
  /** @throws CallRefused 503 when no RTP port pair is free */
  createLeg(options: MediaLegOptions): Promise<MediaLeg>;
  /**
   * Bridges two negotiated legs. Endpoints attached to them hear and say nothing while bridged.
   * @throws CallRefused 488 when they have no codec in common and may not be transcoded
   */
  bridge(one: MediaLeg, other: MediaLeg, options: BridgeOptions): Promise<MediaBridge>;
  /** @param beside the first leg that will enter */
  openRoom(beside: MediaLeg, options?: RoomOptions): MediaRoom;
  /**
   * `supervisor` hears both sides of `leg`, whatever that is connected to; it begins with `listen`.
   * @throws LegsApart when they are in different places
   */
  supervise(leg: MediaLeg, supervisor: MediaLeg, options: SupervisionOptions): MediaSupervision;
}

/** `media`, but for how its legs are made. */
export function withLegs(media: Media, createLeg: Media['createLeg']): Media {
  return {
    createLeg,
    bridge: (...legs) => media.bridge(...legs),
    openRoom: (...room) => media.openRoom(...room),
    supervise: (...legs) => media.supervise(...legs),
  };
}

/** Media of this thread. */
export interface LocalMedia extends Media {
  createLeg(options: MediaLegOptions): Promise<LocalLeg>;
  /** @param beside it matters only where there are several places */
  openRoom(beside: MediaLeg | null, options?: RoomOptions): MediaRoom;
}
