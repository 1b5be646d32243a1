/** What a leg gets from the media that it belongs to. */
import type { Clock } from '#shared/clock.ts';
import type { MediaLog } from './log.ts';
import type { Playout } from './playout.ts';
import type { RecorderParts } from './recording/leg-recorder.ts';
import type { RtpPorts } from './rtp-ports.ts';

/** Shared by all legs. */
export interface LegSurroundings {
  readonly ports: RtpPorts;
  readonly playout: Playout;
  readonly clock: Clock;
  readonly log: MediaLog;
  /** Local address to bind. */
  readonly listenIp: string;
  /** Address for SDP. */
  readonly announcedIp: string;
  /** Milliseconds for which a replaced path still receives. */
  readonly drainMs: number;
  /** RTP packets from peers that entered this process. */
  readonly traffic: {
    packets: number;
    /** Legs whose peer had no telephone-event in its first SDP. */
    legsWithoutKeys: number;
    /** Those that the worker dropped because their peer sent too many. */
    packetsBeyondRate: number;
  };
  /** Called with every SRTP key of a call. */
  readonly keyKnown: (callId: string, key: string) => void;
  /** Where recordings are written; null: none are. */
  readonly recordings: Omit<RecorderParts, 'clock'> | null;
}
