/** Media without packets: fixed negotiation, controlled by the test. */
import type { CodecName } from '#shared/codecs.ts';
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import type { SupervisionMode } from '#shared/supervision.ts';
import type {
  AudioEndpoint,
  BridgeOptions,
  DtmfEvent,
  LegRecording,
  LocalLeg,
  LocalMedia,
  MediaBridge,
  MediaLeg,
  MediaLegOptions,
  MediaRoom,
  MediaSupervision,
  RecordingOrder,
  RoomOptions,
  SupervisionOptions,
} from '../../../edge/call/ports/media.ts';
import { CallRefused } from '../../../edge/call/refused.ts';

export const fakeAnswer = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 10000 RTP/SAVP 0 101',
  'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkw',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:101 telephone-event/8000',
  'a=sendrecv',
  '',
].join('\r\n');

export class FakeMediaLeg implements LocalLeg {
  readonly options: MediaLegOptions;
  readonly offers: string[] = [];
  readonly answers: string[] = [];
  /** Our offers. */
  readonly offered: ('anew' | 'the same')[] = [];
  /** How many of them got no answer. */
  withdrawn = 0;
  /** Whether the peer answers from another place. */
  moves = false;
  codec: CodecName | null = null;
  keys: MediaLeg['keys'] = 'telephone-event';
  held = false;
  silentMs = 0;
  /** Whether we hold the peer. */
  holding = false;
  endpoint: AudioEndpoint | null = null;
  /** All so far. */
  readonly attached: (AudioEndpoint | null)[] = [];
  digits = '';
  closed = 0;
  readonly told: { side: 'near' | 'far'; samples: number }[] = [];
  recording: RecordingOrder | null = null;
  /** What was asked of the recording, in order. */
  readonly recordingSteps: string[] = [];

  constructor(options: MediaLegOptions) {
    this.options = options;
  }

  async answer(offer: string): Promise<string> {
    this.offers.push(offer);
    if (!offer.includes('a=crypto:')) {
      throw new CallRefused(
        488,
        'The offer has no usable crypto line',
        'SRTP with AES_CM_128_HMAC_SHA1_80 is required',
      );
    }
    this.codec = 'PCMU';
    this.held = offer.includes('a=sendonly') || offer.includes('a=inactive');
    return this.held ? fakeAnswer.replace('a=sendrecv', 'a=recvonly') : fakeAnswer;
  }

  async offer(anew = false): Promise<string> {
    this.offered.push(anew ? 'anew' : 'the same');
    return this.holding ? fakeAnswer.replace('a=sendrecv', 'a=sendonly') : fakeAnswer;
  }

  async accept(answer: string): Promise<void> {
    this.answers.push(answer);
    if (this.moves && this.offered.at(-1) !== 'anew') {
      const text = 'The answer moves media';
      throw new CallRefused(488, text, text, { kind: 'moved', text });
    }
    if (!answer.includes('a=crypto:')) throw new CallRefused(488, 'The answer has no usable crypto line');
    this.codec = 'PCMU';
  }

  withdraw(): void {
    this.withdrawn++;
  }

  hold(on: boolean): void {
    this.holding = on;
  }

  pressed(key: DtmfEvent): void {
    this.endpoint?.dtmf?.(key);
  }

  attach(endpoint: AudioEndpoint | null): void {
    this.attached.push(endpoint);
    this.endpoint = endpoint;
  }

  record(order: RecordingOrder): LegRecording {
    this.recording = order;
    return {
      pause: () => void this.recordingSteps.push('pause'),
      resume: () => void this.recordingSteps.push('resume'),
      pauseWithOthers: (on) => void this.recordingSteps.push(on ? 'pause with others' : 'resume with others'),
    };
  }

  async sendDtmf(digits: string): Promise<void> {
    this.digits += digits;
  }

  tell(side: 'near' | 'far', words: Int16Array): void {
    this.told.push({ side, samples: words.length });
  }

  silentForMs(): number {
    return this.silentMs;
  }

  report(): MediaReport {
    return {
      packets_sent: 10,
      packets_received: 20,
      packets_lost: 0,
      jitter_ms: null,
      round_trip_ms: null,
      mos: null,
      verdict: 'two_way',
      cause: null,
    };
  }

  close(): void {
    this.closed++;
    this.endpoint = null;
  }
}

/** A bridge without packets that records its calls. */
export class FakeBridge implements MediaBridge {
  readonly legs: readonly [MediaLeg, MediaLeg];
  readonly options: BridgeOptions;
  mode: 'relayed' | 'transcoded' = 'relayed';
  closed = 0;

  constructor(one: MediaLeg, other: MediaLeg, options: BridgeOptions) {
    this.legs = [one, other];
    this.options = options;
  }

  /** The legs can no longer be joined, as after a re-INVITE to another codec without transcoding. */
  fail(error = new CallRefused(488, 'The legs have no codec in common')): void {
    this.close();
    this.options.failed?.(error);
  }

  close(): void {
    this.closed++;
  }
}

interface FakeSupervision {
  readonly leg: MediaLeg;
  readonly supervisor: MediaLeg;
  readonly options: SupervisionOptions;
  readonly modes: SupervisionMode[];
  over: boolean;
}

export class FakeMedia implements LocalMedia {
  readonly legs: FakeMediaLeg[] = [];
  readonly bridges: FakeBridge[] = [];
  /** The legs in each room. */
  readonly rooms: Set<MediaLeg>[] = [];
  /** Somebody in the last room begins to speak, or has stopped. */
  heard: NonNullable<RoomOptions['heard']> = () => {};
  /** The last room is broken. */
  roomFails: NonNullable<RoomOptions['failed']> = () => {};
  /** The agent in the last room has failed. */
  agentInRoomFails: NonNullable<RoomOptions['agentFailed']> = () => {};
  readonly supervisions: FakeSupervision[] = [];
  readonly agentsInRoom = new Set<AudioEndpoint>();
  /** Legs that entered a room without tones. */
  readonly quiet = new Set<MediaLeg>();
  /** Legs that are muted in their room. */
  readonly muted = new Set<MediaLeg>();
  /** Rejects bridges with 488, as for legs without a common codec. */
  refuseBridge = false;
  /** Whether legs are kept for the test; not in load tests. */
  readonly keepLegs: boolean;
  exhausted = false;

  constructor(keepLegs = true) {
    this.keepLegs = keepLegs;
  }

  async createLeg(options: MediaLegOptions): Promise<LocalLeg> {
    if (this.exhausted) throw new CallRefused(503, 'No RTP port pair is free');
    const leg = new FakeMediaLeg(options);
    if (this.keepLegs) this.legs.push(leg);
    return leg;
  }

  async bridge(one: MediaLeg, other: MediaLeg, options: BridgeOptions): Promise<MediaBridge> {
    if (this.refuseBridge) throw new CallRefused(488, 'The legs have no codec in common');
    const bridge = new FakeBridge(one, other, options);
    if (one.codec !== other.codec) bridge.mode = 'transcoded';
    this.bridges.push(bridge);
    return bridge;
  }

  openRoom(_beside?: MediaLeg | null, options: RoomOptions = {}): MediaRoom {
    const { heard = () => {}, failed = () => {}, agentFailed = () => {} } = options;
    const legs = new Set<MediaLeg>();
    this.heard = heard;
    this.roomFails = failed;
    this.agentInRoomFails = agentFailed;
    this.rooms.push(legs);
    return {
      enter: (leg, tones) => {
        legs.add(leg);
        if (!tones) this.quiet.add(leg);
      },
      enterAgent: (agent) => void this.agentsInRoom.add(agent),
      leaveAgent: (agent) => void this.agentsInRoom.delete(agent),
      mute: (leg, on) => void (on ? this.muted.add(leg) : this.muted.delete(leg)),
      leave: (leg) => {
        legs.delete(leg);
        this.muted.delete(leg);
      },
    };
  }

  supervise(leg: MediaLeg, supervisor: MediaLeg, options: SupervisionOptions): MediaSupervision {
    const made: FakeSupervision = { leg, supervisor, options, modes: [], over: false };
    this.supervisions.push(made);
    return {
      setMode: (mode) => void made.modes.push(mode),
      close: () => {
        made.over = true;
      },
    };
  }

  /** The leg created last. @throws when there is none */
  get last(): FakeMediaLeg {
    const leg = this.legs.at(-1);
    if (!leg) throw new Error('no media leg was created');
    return leg;
  }
}
