/**
 * Records what a leg exchanges with its endpoint, whichever that is: an agent, the waiting tone, another leg. It stands
 * between exchange and endpoint, in the thread that has the frames.
 *
 *     exchange ──read──> announcement, else endpoint ──> our side ─┐
 *              ──write─> endpoint; the same ───────────> peer ─────┴─> half a second ──sealed──> file
 *
 * A frame's place is counted, and set by the clock again after a gap: a hold, a bridge being set up, a stall.
 */
import type { Clock } from '#shared/clock.ts';
import { g711 } from '#shared/g711.ts';
import {
  ChunkSealer,
  encodeHeader,
  frameBytes,
  frameMs,
  framesPerChunk,
  type RecordingMark,
  samplesPerFrame,
} from '#shared/recording/format.ts';
import type { AudioEndpoint, LegRecording, RecordingOrder } from '../../call/ports/media.ts';
import { Downsampler, Upsampler } from '../codec/resample.ts';
import type { DiskRoom } from './disk-room.ts';
import type { DiskSync } from './disk-sync.ts';
import { RecordingFile, type RecordingFileOptions } from './recording-file.ts';

export interface RecorderParts {
  readonly clock: Clock;
  readonly folder: string;
  readonly room: DiskRoom;
  /** Of all recordings of the thread. */
  readonly syncs: DiskSync;
  /** Called with the id of each recording, once its file is written no more. */
  readonly finished?: RecordingFileOptions['finished'];
  /** Opens the file; for tests. */
  readonly open?: RecordingFileOptions['open'];
}

/** Frames that counted and real time may differ by before the clock decides. */
const driftFrames = 10;
/**
 * Pauses of a recording after which each lasts for some time at the least: a key that is pressed without end makes fewer
 * gaps in the longest call than control reads.
 */
const mostQuickPauses = 1_000;
const longPauseMs = 10_000;
const { fromLinear } = g711.PCMU;
const silence = fromLinear[0] ?? 0xff;

export class LegRecorder implements LegRecording {
  readonly #clock: Clock;
  readonly #sealer: ChunkSealer;
  readonly #file: RecordingFile;
  readonly #startedAt: number;
  readonly #chunk = Buffer.alloc(framesPerChunk * frameBytes, silence);
  readonly #sent = new Uint8Array(samplesPerFrame);
  readonly #narrow = new Int16Array(samplesPerFrame);
  #downsamplers: { readonly heard: Downsampler; readonly sent: Downsampler } | null = null;
  readonly #pauseKey: string | null;
  readonly #told: RecordingOrder['paused'];
  readonly #announcement: Int16Array;
  #upsampler: Upsampler | null = null;
  #announced = 0;
  /** Frames in the chunk, and the place of its first. */
  #frames = 0;
  #first = 0;
  /** Place of the next frame, at least: audio never goes back. */
  #next = 0;
  /** Whether the clock decides about the next frame. */
  #byClock = true;
  /** By its key or by order, and while others that hear the leg have paused. */
  #pausesItself = false;
  #pausesWithOthers = false;
  #paused = false;
  #pauses = 0;
  /** Place at which the last one began. */
  #pausedAt = 0;
  #over = false;
  #finished: Promise<void> = Promise.resolve();
  /** Whether the peer hears us: not on hold. */
  sending = true;

  constructor(order: RecordingOrder, { clock, folder, room, syncs, finished, open }: RecorderParts) {
    this.#clock = clock;
    this.#pauseKey = order.pauseKey;
    this.#told = order.paused;
    this.#announcement = order.announcement ?? new Int16Array(0);
    this.#sealer = new ChunkSealer(order.dataKey, order.header.id);
    this.#startedAt = clock.now();
    this.#file = new RecordingFile({
      folder,
      id: order.header.id,
      room,
      syncs,
      finished,
      failed: (reason, detail) => {
        this.#end({ what: 'stopped', reason });
        order.stopped(reason, detail);
      },
      ...(open && { open }),
    });
    this.#file.append(encodeHeader(order.header));
  }

  /** An endpoint in the place of `endpoint`, through which all audio is recorded. */
  tap(endpoint: AudioEndpoint): AudioEndpoint {
    return {
      sampleRate: endpoint.sampleRate,
      read: (frame) => {
        const speaks = this.#announce(frame) || endpoint.read(frame);
        this.#say(speaks && this.sending ? frame : null);
        return speaks;
      },
      write: (frame) => {
        this.#hear(frame);
        endpoint.write?.(frame);
      },
      dtmf: (event) => {
        if (event.digit === this.#pauseKey) this.#pauseItself(!this.#pausesItself);
        endpoint.dtmf?.(event);
      },
    };
  }

  pause(): void {
    this.#pauseItself(true);
  }

  resume(): void {
    this.#pauseItself(false);
  }

  pauseWithOthers(on: boolean): void {
    this.#pausesWithOthers = on;
    this.#follow();
  }

  #pauseItself(on: boolean): void {
    if (this.#pausesItself === on || this.#over) return;
    this.#pausesItself = on;
    this.#follow();
    this.#told(on);
  }

  #follow(): void {
    const paused = this.#pausesItself || this.#pausesWithOthers;
    if (this.#paused === paused || this.#over || (!paused && this.#mustStay)) return;
    this.#paused = paused;
    if (paused) {
      this.#flush();
      this.#pauses++;
      this.#pausedAt = this.#place();
    } else this.#byClock = true;
    this.#file.append(this.#sealer.mark(this.#place(), { what: paused ? 'paused' : 'resumed' }));
  }

  /** Whether the pause may not end yet. */
  get #mustStay(): boolean {
    return this.#pauses > mostQuickPauses && (this.#place() - this.#pausedAt) * frameMs < longPauseMs;
  }

  /** The call is over. Resolves when the file is complete. */
  close(): Promise<void> {
    this.#end({ what: 'ended' });
    return this.#finished;
  }

  #end(mark: RecordingMark): void {
    if (this.#over) return;
    this.#flush();
    this.#over = true;
    this.#finished = this.#file.finish(this.#sealer.mark(this.#place(), mark));
  }

  /** Where the recording is now: not before the end of its audio, which may be counted ahead of the clock. */
  #place(): number {
    return Math.max(this.#next, this.#now());
  }

  /** Frames since the beginning. */
  #now(): number {
    return Math.max(0, Math.floor((this.#clock.now() - this.#startedAt) / frameMs));
  }

  /** Fills `frame` with the announcement. @returns false when it is over */
  #announce(frame: Int16Array): boolean {
    const pcm = this.#announcement;
    if (this.#announced >= pcm.length) return false;
    const next = this.#narrow.fill(0);
    next.set(pcm.subarray(this.#announced, this.#announced + samplesPerFrame));
    this.#announced += samplesPerFrame;
    if (frame.length === samplesPerFrame) frame.set(next);
    else {
      this.#upsampler ??= new Upsampler(samplesPerFrame);
      this.#upsampler.process(next, samplesPerFrame, frame);
    }
    return true;
  }

  #say(frame: Int16Array | null): void {
    if (this.#over || this.#paused) return;
    if (!frame) {
      this.#sent.fill(silence);
      return;
    }
    const samples = this.#at8k(frame, 'sent');
    for (let i = 0; i < samplesPerFrame; i++)
      this.#sent[i] = fromLinear[(samples[i] ?? 0) & 0xffff] ?? silence;
  }

  /** The second half of a turn: both sides of the frame are there. */
  #hear(frame: Int16Array): void {
    // A pause that had to stay ends with a frame.
    if (this.#paused) this.#follow();
    if (this.#over || this.#paused) return;
    const now = this.#now();
    if (this.#byClock || now - this.#next > driftFrames) {
      this.#flush();
      this.#next = this.#place();
      this.#byClock = false;
    }
    if (this.#frames === 0) this.#first = this.#next;
    const samples = this.#at8k(frame, 'heard');
    const start = this.#frames * frameBytes;
    for (let i = 0; i < samplesPerFrame; i++) {
      this.#chunk[start + 2 * i] = fromLinear[(samples[i] ?? 0) & 0xffff] ?? silence;
      this.#chunk[start + 2 * i + 1] = this.#sent[i] ?? silence;
    }
    this.#sent.fill(silence);
    this.#frames++;
    this.#next++;
    if (this.#frames === framesPerChunk) this.#flush();
  }

  #flush(): void {
    if (this.#frames === 0) return;
    const samples = this.#chunk.subarray(0, this.#frames * frameBytes);
    this.#frames = 0;
    this.#file.append(this.#sealer.audio(this.#first, samples));
  }

  #at8k(frame: Int16Array, side: 'heard' | 'sent'): Int16Array {
    if (frame.length === samplesPerFrame) return frame;
    this.#downsamplers ??= { heard: new Downsampler(frame.length), sent: new Downsampler(frame.length) };
    this.#downsamplers[side].process(frame, frame.length, this.#narrow);
    return this.#narrow;
  }
}
