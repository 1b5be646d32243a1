/** How often a caller does what callers do, by category. A scenario may set other rates in `metadata.variation`. */
import type { Category } from '#shared/api/agent-testing/scenarios.ts';
import type { CallerBrief } from './ports.ts';

/** Rates of 0..1, each for one move. */
export interface Manner {
  /** Begins with "um". */
  readonly fillers: number;
  /** Says a wrong value first and corrects it. */
  readonly corrections: number;
  /** Asked for several things, tells one of them. */
  readonly partial: number;
  /** Mistakes a word of the agent, and asks. */
  readonly mishears: number;
  /** Is mistaken by the agent: what arrives is another word. */
  readonly misheard: number;
}

const plain: Manner = { fillers: 0.2, corrections: 0, partial: 0, mishears: 0, misheard: 0 };
const scattered: Manner = { fillers: 0.35, corrections: 0.25, partial: 0.3, mishears: 0.1, misheard: 0 };
const distracted: Manner = { fillers: 0.25, corrections: 0.15, partial: 0.2, mishears: 0.1, misheard: 0.05 };

const manners: Readonly<Record<Category, Manner>> = {
  VOICEMAIL: plain,
  CALL_SCREENER: plain,
  ANGRY_CALLER: { ...plain, fillers: 0.05, partial: 0.1 },
  BELLIGERENT_CALLER: plain,
  CONFUSED_CALLER: scattered,
  HAPPY_PATH: plain,
  EDGE_CASE: distracted,
  CUSTOM: plain,
};

export function mannerOf({ category, metadata }: Pick<CallerBrief, 'category' | 'metadata'>): Manner {
  const usual = manners[category];
  const given: unknown = metadata?.variation;
  if (typeof given !== 'object' || given === null) return usual;
  const rate = (name: keyof Manner): number => {
    const value: unknown = Reflect.get(given, name);
    return typeof value === 'number' && value >= 0 && value <= 1 ? value : usual[name];
  };
  return {
    fillers: rate('fillers'),
    corrections: rate('corrections'),
    partial: rate('partial'),
    mishears: rate('mishears'),
    misheard: rate('misheard'),
  };
}
