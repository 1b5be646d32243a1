/** A recording as Opus in Ogg: both sides as the channels of one stream, 20 ms packets, a page a second. */
import { libraryLoader, type Pointer } from '#shared/native-library.ts';
import { frameMs, samplesPerFrame } from '#shared/recording/format.ts';
import { OggStream, opusHead, opusTags, ticksPerFrame } from './ogg.ts';

interface OpusFunctions {
  create(rate: number, channels: number, application: number, error: Int32Array): Pointer;
  setControl(encoder: Pointer, request: number, type: 'int', value: number): number;
  getControl(encoder: Pointer, request: number, type: 'int *', value: Int32Array): number;
  encode(encoder: Pointer, pcm: Int16Array, samples: number, out: Uint8Array, room: number): number;
  destroy(encoder: Pointer): void;
}

const loadOpus = libraryLoader<OpusFunctions>('libopus.so.0', 'libopus0', (library) => ({
  create: library.func('void* opus_encoder_create(int fs, int channels, int application, int* error)'),
  setControl: library.func('int opus_encoder_ctl(void* encoder, int request, ...)'),
  getControl: library.func('int opus_encoder_ctl(void* encoder, int request, ...)'),
  encode: library.func('int opus_encode(void* encoder, const int16_t* pcm, int n, uint8_t* out, int room)'),
  destroy: library.func('void opus_encoder_destroy(void* encoder)'),
}));

// Constants from opus_defines.h.
const applicationVoip = 2048;
const setBitrate = 4002;
const setComplexity = 4010;
const getLookahead = 4027;

const rate = 8_000;
const channels = 2;
/** Bits per second: twice the narrowband speech of RFC 7587 section 3.1.1. */
const bitrate = 32_000;
/** Encoder effort, 0 to 10. Above 5 a frame costs twice the time without an audible gain for speech. */
const complexity = 5;
/** More than any packet has (RFC 6716 section 3.2.1). */
const mostPacketBytes = 1_275 * 2;
const packetsPerPage = 1_000 / frameMs;
const ticksPerSample = 48_000 / rate;
const frameValues = channels * samplesPerFrame;

export class OggOpus {
  readonly #functions: OpusFunctions;
  readonly #encoder: Pointer;
  readonly #stream: OggStream;
  readonly #preSkip: number;
  readonly #out = new Uint8Array(mostPacketBytes);
  #packets: Uint8Array[] = [];
  #frames = 0;
  #begun = false;

  /**
   * @param serial of the Ogg stream, 32 bits
   * @throws Error when libopus is missing, with what to install
   */
  constructor(serial: number) {
    const loaded = loadOpus();
    if ('reason' in loaded) throw new Error(loaded.reason);
    this.#functions = loaded.functions;
    const error = new Int32Array(1);
    this.#encoder = this.#functions.create(rate, channels, applicationVoip, error);
    if (this.#encoder === null) throw new Error(`libopus could not create an encoder: error ${error[0]}`);
    this.#functions.setControl(this.#encoder, setBitrate, 'int', bitrate);
    this.#functions.setControl(this.#encoder, setComplexity, 'int', complexity);
    const lookahead = new Int32Array(1);
    this.#functions.getControl(this.#encoder, getLookahead, 'int *', lookahead);
    this.#preSkip = (lookahead[0] ?? 0) * ticksPerSample;
    this.#stream = new OggStream(serial);
  }

  /** @param pcm whole frames of both channels, sample by sample @returns the pages that are full now */
  push(pcm: Int16Array): Buffer {
    const pages: Buffer[] = this.#beginning();
    for (let at = 0; at < pcm.length; at += frameValues) {
      this.#encode(pcm.subarray(at, at + frameValues));
      this.#frames++;
      // The last page is not known before the end.
      if (this.#packets.length > packetsPerPage)
        pages.push(this.#page(packetsPerPage, (this.#frames - 1) * ticksPerFrame));
    }
    return Buffer.concat(pages);
  }

  /** The last page. Its time says that less is to be played than the packets have (RFC 7845 section 4.4). */
  end(): Buffer {
    const pages: Buffer[] = this.#beginning();
    // What the encoder still has of the last frame.
    this.#encode(new Int16Array(frameValues));
    const granule = this.#preSkip + this.#frames * ticksPerFrame;
    pages.push(this.#stream.page(this.#packets, granule, true));
    this.close();
    return Buffer.concat(pages);
  }

  /** Idempotent. */
  close(): void {
    if (!this.#closed) this.#functions.destroy(this.#encoder);
    this.#closed = true;
  }
  #closed = false;

  #beginning(): Buffer[] {
    if (this.#begun) return [];
    this.#begun = true;
    const head = opusHead(channels, this.#preSkip, rate);
    return [this.#stream.page([head], 0), this.#stream.page([opusTags('Trunkline')], 0)];
  }

  #encode(frame: Int16Array): void {
    const { length } = this.#out;
    const octets = this.#functions.encode(this.#encoder, frame, samplesPerFrame, this.#out, length);
    if (octets <= 0) throw new Error(`libopus could not encode a frame: error ${octets}`);
    this.#packets.push(this.#out.slice(0, octets));
  }

  #page(count: number, granule: number): Buffer {
    const packets = this.#packets.slice(0, count);
    this.#packets = this.#packets.slice(count);
    return this.#stream.page(packets, granule);
  }
}
