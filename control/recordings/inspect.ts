/**
 * Reads a whole recording once, when an edge has sent it: how long it is, where its audio is in the file, how loud it is,
 * where it was paused, and why it ended.
 */
import { setImmediate } from 'node:timers/promises';
import { g711 } from '#shared/g711.ts';
import {
  type Chunk,
  ChunkOpener,
  ChunkScanner,
  decodeHeader,
  frameBytes,
  framesPerChunk,
  readMark,
} from '#shared/recording/format.ts';
import type { RecordingRow, RecordingRun } from '../db/index.ts';

/** Octets read at once. */
const blockBytes = 262_144;
/** Gaps of one recording; beyond them the rest counts as damaged. */
const mostRuns = 10_000;
/** Pauses that are listed. */
const mostPauses = 200;
/** Parts of the time for each channel. */
const mostPeaks = 1_000;
/** Frames in the longest recording: a call ends after 720 minutes, and a little may follow. */
const mostFrames = 800 * 60 * 50;

const magnitudes = Int16Array.from(g711.PCMU.toLinear, (sample) => Math.min(32_767, Math.abs(sample)));

export interface Inspected {
  readonly ended: NonNullable<RecordingRow['ended']>;
  readonly frames: number;
  readonly runs: RecordingRun[];
  readonly pauses: { from: number; to: number }[];
  /** Of the peer and of our side. */
  readonly peaks: { peer: number[]; agent: number[] };
}

/** @param read octets `from..to` of the file, fewer at its end */
export async function inspect(
  read: (from: number, to: number) => Promise<Buffer>,
  size: number,
  recording: { readonly id: string; readonly dataKey: Uint8Array },
): Promise<Inspected> {
  const begin = decodeHeader(await read(0, Math.min(size, blockBytes)));
  const reading = new Reading(recording.id, recording.dataKey);
  if (!begin) return reading.result(true);
  const scanner = new ChunkScanner(begin.length);
  for (let at = begin.length; at < size; at += blockBytes) {
    let offset = scanner.whole;
    for (const chunk of scanner.push(await read(at, Math.min(size, at + blockBytes)))) {
      if (!reading.take(chunk, offset)) return reading.result(true);
      offset += chunk.length;
    }
    // A long recording is seconds of work.
    await setImmediate();
  }
  return reading.result(scanner.torn);
}

class Reading {
  readonly #opener: ChunkOpener;
  readonly #runs: RecordingRun[] = [];
  readonly #pauses: { from: number; to: number }[] = [];
  /** Of each frame, of both channels. */
  readonly #peaks: number[] = [];
  #nextOffset = -1;
  #frames = 0;
  #pausedAt: number | null = null;
  #ended: Inspected['ended'] | null = null;

  constructor(id: string, dataKey: Uint8Array) {
    this.#opener = new ChunkOpener(dataKey, id);
  }

  /** @returns false when the chunk cannot be part of the recording */
  take(chunk: Chunk, offset: number): boolean {
    let content: Buffer;
    try {
      content = this.#opener.open(chunk);
    } catch {
      return false;
    }
    return chunk.kind === 'mark' ? this.#mark(content, chunk.at) : this.#audio(content, chunk, offset);
  }

  /** @param damaged whether the file goes on with something that is no recording */
  result(damaged: boolean): Inspected {
    if (this.#pausedAt !== null && this.#pauses.length < mostPauses)
      this.#pauses.push({ from: this.#pausedAt, to: Math.max(this.#pausedAt, this.#frames) });
    return {
      ended: damaged ? 'damaged' : (this.#ended ?? 'edge_restarted'),
      frames: this.#frames,
      runs: this.#runs,
      pauses: this.#pauses,
      peaks: { peer: this.#peaksOf(0), agent: this.#peaksOf(1) },
    };
  }

  #mark(content: Buffer, at: number): boolean {
    const mark = readMark(content);
    if (!mark) return false;
    if (mark.what === 'paused') this.#pausedAt = at;
    else if (mark.what === 'resumed') {
      if (this.#pausedAt !== null && this.#pauses.length < mostPauses)
        this.#pauses.push({ from: this.#pausedAt, to: at });
      this.#pausedAt = null;
    } else if (mark.what === 'stopped') this.#ended = mark.reason;
    else {
      this.#ended = 'call_ended';
      // After the last audio the call was paused, on hold, or had nobody to hear.
      this.#frames = Math.max(this.#frames, Math.min(at, mostFrames));
    }
    return true;
  }

  #audio(content: Buffer, { at, length }: Chunk, offset: number): boolean {
    const frames = content.length / frameBytes;
    if (!Number.isInteger(frames) || at < this.#frames || at + frames > mostFrames) return false;
    const run = this.#runs.at(-1);
    const follows =
      run !== undefined &&
      offset === this.#nextOffset &&
      run.at + run.frames === at &&
      run.frames % framesPerChunk === 0;
    if (follows) run.frames += frames;
    else {
      if (this.#runs.length === mostRuns) return false;
      this.#runs.push({ offset, at, frames });
    }
    this.#nextOffset = offset + length;
    while (this.#peaks.length < 2 * at) this.#peaks.push(0);
    for (let frame = 0; frame < frames; frame++) {
      let [peer, agent] = [0, 0];
      for (let i = frame * frameBytes; i < (frame + 1) * frameBytes; i += 2) {
        peer = Math.max(peer, magnitudes[content[i] ?? 0] ?? 0);
        agent = Math.max(agent, magnitudes[content[i + 1] ?? 0] ?? 0);
      }
      this.#peaks.push(peer, agent);
    }
    this.#frames = at + frames;
    return true;
  }

  #peaksOf(channel: 0 | 1): number[] {
    const parts = Math.min(mostPeaks, this.#frames);
    const peaks = new Array<number>(parts).fill(0);
    for (let frame = 0; frame < this.#frames; frame++) {
      const part = Math.floor((frame * parts) / this.#frames);
      peaks[part] = Math.max(peaks[part] ?? 0, this.#peaks[2 * frame + channel] ?? 0);
    }
    return peaks;
  }
}
