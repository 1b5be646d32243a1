/** What edges learn from each other, in frames of bounded size. Pure. */
import type { Learned } from '#shared/edge-protocol/fleet.ts';

export type LearnedParts = Pick<Learned, 'probes' | 'moves' | 'registrations'>;

/** Entries in one frame. */
const mostEntries = 500;

/** @param complete whether it is the whole state: then one frame at least, and the first is the one with all moves */
export function framesOf({ probes, moves, registrations }: LearnedParts, complete: boolean): Learned[] {
  const frames: Learned[] = [];
  const add = (parts: Partial<LearnedParts>, whole = false) =>
    void frames.push({
      type: 'learned',
      complete: whole,
      probes: [],
      moves: [],
      registrations: [],
      ...parts,
    });
  for (const part of parted(probes)) add({ probes: part });
  for (const part of parted(registrations)) add({ registrations: part });
  if (complete) add({ moves: [...moves] }, true);
  else for (const part of parted(moves)) add({ moves: part });
  return frames;
}

function parted<T>(all: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < all.length; start += mostEntries)
    parts.push(all.slice(start, start + mostEntries));
  return parts;
}
