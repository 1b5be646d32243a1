/** Whether a peer hears a tone undistorted, on a machine that may delay the player. */
import { frequencyOf, share } from './audio.ts';
import type { SrtpPeer } from './srtp-peer.ts';

/** Samples in a row that must be clear: half a second. */
const clearSamples = 4000;
const framesOfRound = 75;
const mostRounds = 40;

function isClear(samples: Int16Array, hz: number): boolean {
  const heard = samples.length === clearSamples;
  return heard && Math.abs(frequencyOf(samples) / hz - 1) < 0.01 && share(samples, hz) > 0.95;
}

/** Resolves when half a second of a continuous tone was heard clearly. @throws Error with what was heard */
export function hearsTone(listener: SrtpPeer, hz: number): Promise<void> {
  return listener.when(() => isClear(listener.samples(clearSamples), hz));
}

/**
 * One peer plays a tone until the other has heard half a second of it clearly: a player that is held up leaves gaps,
 * which the edge conceals. @returns the frames that were played @throws Error with what was heard instead
 */
export async function hears(listener: SrtpPeer, speaker: SrtpPeer, hz: number): Promise<number> {
  for (let round = 1; round <= mostRounds; round++) {
    await speaker.play(speaker.toneFrames(hz, framesOfRound));
    if (isClear(listener.samples(clearSamples), hz)) return round * framesOfRound;
  }
  const samples = listener.samples(clearSamples);
  throw new Error(
    `no clear tone of ${hz} Hz after ${mostRounds * framesOfRound} frames: heard ${frequencyOf(samples)} Hz, ` +
      `${Math.round(share(samples, hz) * 100)} % of it the tone`,
  );
}
