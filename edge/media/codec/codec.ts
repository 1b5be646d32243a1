/** What every audio codec does here: PCM of one rate in and out, one mono stream per instance. */
import type { CodecName } from '#shared/codecs.ts';

/** Rate of PCM that agents work at, Hz. */
export type AgentRate = 8000 | 16000;

/** Longest packet that decoders accept, milliseconds (RFC 7587 section 4.2 has the longest). */
const maxPacketMs = 120;

/**
 * One direction pair of a stream. Stateful: one instance per stream, closed when the stream ends. After
 * `close` it encodes and decodes nothing.
 */
export interface AudioCodec {
  readonly name: CodecName;
  /** RTP clock, Hz. */
  readonly clockRate: number;
  /** Rate of the PCM side, Hz: what `createCodec` was asked for. */
  readonly sampleRate: AgentRate;
  /** PCM samples in 20 ms. */
  readonly samplesPerFrame: number;
  /**
   * Encodes 20 ms of PCM (`samplesPerFrame` samples) into `out` (room for 400 octets at least).
   * @returns octets written
   */
  encode(pcm: Int16Array, out: Uint8Array): number;
  /**
   * Decodes one payload of up to 120 ms into `out`, which has room for that.
   * @returns samples written; 0 when the payload is not of this codec
   */
  decode(payload: Uint8Array, out: Int16Array): number;
  /**
   * Fills 20 ms in place of a lost packet.
   * @param next payload of the packet after the lost one, where it is there already: some codecs carry a copy
   * @returns samples written: `samplesPerFrame`
   */
  conceal(out: Int16Array, next?: Uint8Array | null): number;
  /** Length of a payload in RTP clock ticks, without decoding; 0 when it cannot be of this codec. */
  duration(payload: Uint8Array): number;
  /** Frees what the codec holds outside the JavaScript heap. Safe to call twice. */
  close(): void;
}

/** A fresh buffer for `AudioCodec.decode`: room for the longest packet. */
export function decodeBuffer(rate: AgentRate): Int16Array {
  return new Int16Array((rate / 1000) * maxPacketMs);
}
