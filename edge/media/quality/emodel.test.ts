/**
 * The E-model against values that were worked out apart from the code, from the formulas of ITU-T G.107 (02/2014 and later):
 *
 *     Ie,eff = Ie + (95 - Ie) Ppl / (Ppl + Bpl)         Ie and Bpl: G.113 Appendix I; losses at random (BurstR = 1)
 *     Idd    = 25 ((1 + X^6)^(1/6) - 3 (1 + (X/3)^6)^(1/6) + 2),  X = log2(Ta / 100);  0 up to Ta = 100 ms
 *     R      = 93.2 - Idd - Ie,eff                      MOS: Annex B
 */
import { describe, expect, it } from 'vitest';
import { meanOpinionScore, rating } from './emodel.ts';

type Codec = Parameters<typeof rating>[0]['codec'];

/** Codec, loss in percent, mouth-to-ear delay in ms; R, MOS. */
const table: [Codec, number, number, number, number][] = [
  ['PCMU', 0, 0, 93.2, 4.41],
  ['PCMU', 0, 100, 93.2, 4.41],
  ['PCMA', 0, 150, 93.04, 4.41],
  ['PCMU', 0, 200, 90.16, 4.34],
  ['PCMU', 0, 400, 69.13, 3.56],
  ['PCMU', 1, 50, 89.56, 4.33],
  ['PCMA', 2, 50, 86.19, 4.23],
  ['PCMU', 5, 50, 77.42, 3.92],
  ['PCMU', 10, 150, 65.97, 3.4],
  ['PCMU', 20, 50, 51.07, 2.63],
  ['G.729', 0, 50, 82.2, 4.1],
  ['G.729', 2, 150, 74.04, 3.78],
  ['G.729', 5, 200, 61.66, 3.19],
  ['G.722', 3, 50, 77.37, 3.92],
  ['Opus', 3, 50, 80.81, 4.05],
];

describe('E-model', () => {
  it.each(table)('rates %s with %d %% loss and %d ms delay', (codec, percent, delayMs, r, mos) => {
    const impairment = { codec, loss: percent / 100, delayMs };
    expect(Math.abs(rating(impairment) - r)).toBeLessThanOrEqual(0.0051);
    expect(Math.abs(meanOpinionScore(impairment) - mos)).toBeLessThanOrEqual(0.0051);
  });

  it('never leaves the scale', () => {
    for (const loss of [0, 0.5, 1]) {
      for (const delayMs of [0, 400, 10_000]) {
        const score = meanOpinionScore({ codec: 'G.729', loss, delayMs });
        expect(score).toBeGreaterThanOrEqual(1);
        expect(score).toBeLessThanOrEqual(4.5);
      }
    }
  });
});
