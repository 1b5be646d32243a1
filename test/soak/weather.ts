/** Network weather of one carrier by seed: spells of delay, loss, reordering and cuts, clear ones between them. */
import type { Random } from '../simulation/random.ts';
import { type Conditions, clear, type Link } from './link.ts';

interface Spell {
  readonly name: string;
  readonly conditions: Conditions;
  readonly lastsMs: number;
}

/**
 * A spell, with more clear ones than others.
 * @param scale shortens all for a short run
 */
export function nextSpell(random: Random, scale: number): Spell {
  const kind = random.weighted({ clear: 5, far: 3, lossy: 3, jumbled: 2, cut: 1 });
  // A cut shorter than the time limit of media (MEDIA_TIMEOUT_S of the deployment): calls survive it.
  const seconds = kind === 'cut' ? random.between(1, 8) : random.between(15, 90);
  return { name: kind, conditions: conditionsOf(kind, random), lastsMs: seconds * 1000 * scale };
}

function conditionsOf(kind: 'clear' | 'far' | 'lossy' | 'jumbled' | 'cut', random: Random): Conditions {
  switch (kind) {
    case 'clear':
      return clear;
    case 'far':
      return { ...clear, delayMs: random.between(20, 150), jitterMs: random.between(0, 30) };
    case 'lossy':
      return { ...clear, delayMs: random.between(0, 40), loss: random.between(1, 8) / 100 };
    case 'jumbled':
      return { ...clear, jitterMs: random.between(10, 60), reorder: random.between(2, 20) / 100 };
    case 'cut':
      return { ...clear, cut: true };
  }
}

/** Changes a link's conditions until it is stopped. */
export class Weather {
  readonly #link: Link;
  readonly #random: Random;
  readonly #scale: number;
  #timer: NodeJS.Timeout | null = null;
  /** Spells so far, by name. */
  readonly spells = new Map<string, number>();
  /** A cut begins or ends. */
  onCut: (isCut: boolean) => void = () => {};

  constructor(link: Link, random: Random, scale: number) {
    this.#link = link;
    this.#random = random;
    this.#scale = scale;
  }

  start(): void {
    const { name, conditions, lastsMs } = nextSpell(this.#random, this.#scale);
    this.#set(conditions);
    this.spells.set(name, (this.spells.get(name) ?? 0) + 1);
    this.#timer = setTimeout(() => this.start(), lastsMs);
  }

  /** Clear from now on. */
  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#set(clear);
  }

  #set(conditions: Conditions): void {
    const was = this.#link.conditions.cut;
    this.#link.conditions = conditions;
    if (was !== conditions.cut) this.onCut(conditions.cut);
  }
}
