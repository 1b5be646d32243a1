/** How well an ear hears a scene whose truth is known. */
import { Ear } from '../../../edge/agent/ears/ear.ts';
import type { VoiceDetectors } from '../../../edge/agent/ears/voice-detector.ts';
import { framesOf } from '../fakes/sounds.ts';
import type { Scene } from './scenes.ts';

export interface Heard {
  readonly speechFrames: number;
  readonly missedFrames: number;
  readonly utterances: number;
  /** ms from the start of each utterance until it was noticed, sorted; those never noticed are missing */
  readonly onsetsMs: readonly number[];
  /** The same until the first sound of a word, or the voice, was noticed. */
  readonly heldMs: readonly number[];
  /** Voices noticed while the caller was silent, and first sounds of words. */
  readonly falseStarts: number;
  readonly falseSounds: number;
  readonly minutes: number;
}

/** An utterance counts as noticed within this time, ms; a voice that ended this long ago may still be noticed. */
const noticedWithinMs = 1000;
const echoesOnMs = 300;

/**
 * @param settled awaited after each frame: what judges in another thread has done so then
 * @param lateMs by which judgements may be late
 */
export async function hear(
  detectors: VoiceDetectors,
  { received, sent, speaks, begins }: Scene,
  settled?: () => Promise<void>,
  lateMs = 0,
): Promise<Heard> {
  const starts: number[] = [];
  const sounds: number[] = [];
  let now = 0;
  const ear = new Ear(detectors, 8000, {
    firstSound: () => sounds.push(now),
    begins: () => starts.push(now),
    voiced: () => undefined,
    paused: () => undefined,
  });
  await ear.prepare();
  const ours = sent ? framesOf(sent) : [];
  const speechFrames = speaks.filter(Boolean).length;
  let missedFrames = 0;
  for (const frame of framesOf(received)) {
    ear.sent(ours[now] ?? null);
    ear.write(frame);
    await settled?.();
    if (speaks[now] && !ear.voice) missedFrames++;
    now++;
  }
  ear.close();
  const noticedMs = (moments: readonly number[]) =>
    begins
      .flatMap((begin) => {
        const noticed = moments.find((at) => at >= begin - 2 && (at - begin) * 20 < noticedWithinMs + lateMs);
        return noticed === undefined ? [] : [(noticed - begin + 1) * 20];
      })
      .sort((a, b) => a - b);
  const since = (echoesOnMs + lateMs) / 20;
  const silentAt = (at: number) => !speaks.slice(Math.max(0, at - since), at + 1).includes(true);
  return {
    speechFrames,
    missedFrames,
    utterances: begins.length,
    onsetsMs: noticedMs(starts),
    heldMs: noticedMs([...starts, ...sounds].sort((a, b) => a - b)),
    falseStarts: starts.filter(silentAt).length,
    falseSounds: sounds.filter(silentAt).length,
    minutes: now / 3000,
  };
}

/** The value below which this share of the sorted values is. */
export function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}
