/**
 * Estimates the perceived quality of a connection: the E-model (ITU-T G.107) with default values for everything
 * except delay, codec and loss.
 */
import type { CodecName } from '#shared/codecs.ts';

export interface Impairment {
  readonly codec: CodecName;
  /** Packets lost in the network or too late to be played, 0..1. */
  readonly loss: number;
  /** Mouth to ear in one direction, milliseconds. */
  readonly delayMs: number;
}

/**
 * Equipment impairment and robustness against random loss (ITU-T G.113 Appendix I) per codec. G.711 is with
 * concealment. Opus has no ITU-T value; ours is close to G.711's, because it also conceals and sounds no worse to
 * a narrowband listener. G.722 uses the narrowband scale like the others, so that calls are comparable.
 */
const codecs: Readonly<Record<CodecName, { readonly ie: number; readonly bpl: number }>> = {
  PCMU: { ie: 0, bpl: 25.1 },
  PCMA: { ie: 0, bpl: 25.1 },
  'G.722': { ie: 0, bpl: 15 },
  'G.729': { ie: 11, bpl: 19 },
  Opus: { ie: 0, bpl: 20 },
};

/** R of a connection with only the default impairments (G.107 section 7.7). */
const bestRating = 93.2;

/** Transmission rating R, 0..100 (G.107 section 7). */
export function rating({ codec, loss, delayMs }: Impairment): number {
  const { ie, bpl } = codecs[codec];
  const percent = Math.max(0, Math.min(1, loss)) * 100;
  const effective = ie + (95 - ie) * (percent / (percent + bpl));
  return Math.max(0, Math.min(100, bestRating - delayImpairment(delayMs) - effective));
}

/** Delay impairment without echo, Idd (G.107 section 7.4). */
function delayImpairment(delayMs: number): number {
  if (delayMs <= 100) return 0;
  const x = Math.log2(delayMs / 100);
  return 25 * ((1 + x ** 6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2);
}

/** Mean opinion score, 1..4.5 (G.107 annex B). */
export function meanOpinionScore(impairment: Impairment): number {
  const r = rating(impairment);
  const score = 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6;
  return Math.max(1, Math.min(4.5, score));
}
