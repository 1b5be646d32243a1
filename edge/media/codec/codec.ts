/** The interface of every audio codec: PCM at one rate in and out, one mono stream per instance. */
import type { CodecName } from '#shared/codecs.ts';

/** PCM rate of agents, Hz. */
export type AgentRate = 8000 | 16000;

/** Longest packet that decoders accept, milliseconds (RFC 7587 section 4.2 allows the longest). */
const maxPacketMs = 120;

/**
 * Both directions of a stream. Stateful: one instance per stream, closed when the stream ends. After `close` it
 * encodes and decodes nothing.
 */
export interface AudioCodec {
  readonly name: CodecName;
  /** RTP clock, Hz. */
  readonly clockRate: number;
  /** Rate of the PCM side, Hz, as requested from `createCodec`. */
  readonly sampleRate: AgentRate;
  /** It encodes two channels, left and right by turns; what it decodes is mono. */
  readonly stereo?: true;
  /** PCM samples in 20 ms, of one channel. */
  readonly samplesPerFrame: number;
  /**
   * Encodes 20 ms of PCM (`samplesPerFrame` samples, with `stereo` twice as many) into `out` (at least 400 octets).
   * @returns octets written
   */
  encode(pcm: Int16Array, out: Uint8Array): number;
  /**
   * Decodes one payload of up to 120 ms into `out`, which must have room for it.
   * @returns samples written; 0 when the payload is not valid for this codec
   */
  decode(payload: Uint8Array, out: Int16Array): number;
  /**
   * Fills 20 ms in place of a lost packet.
   * @param next payload of the packet after the lost one, if it has arrived: some codecs carry a redundant copy
   * @returns samples written: `samplesPerFrame`
   */
  conceal(out: Int16Array, next?: Uint8Array | null): number;
  /** Length of a payload in RTP clock ticks, without decoding; 0 when it is not valid for this codec. */
  duration(payload: Uint8Array): number;
  /** Frees what the codec holds outside the JavaScript heap. Idempotent. */
  close(): void;
}

/** A new buffer for `AudioCodec.decode`, large enough for the longest packet. */
export function decodeBuffer(rate: AgentRate): Int16Array {
  return new Int16Array((rate / 1000) * maxPacketMs);
}
