/** What a screen shows of the API, kept current while it is shown. */
import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';
import { Reading } from './reading.ts';
import type { Renewal } from './renewal.ts';

export interface Loaded<T> {
  /** null: not yet. Stays the same object while it is read again and is the same. */
  readonly data: T | null;
  readonly problem: Problem | null;
  readonly loading: boolean;
  /** For who asks for it, or has changed something. */
  readonly reload: () => void;
  /** For what tells of changes by itself. */
  readonly changed: () => void;
  /** Whether events arrive that tell of changes. */
  readonly following: ReadonlySignal<boolean>;
}

/**
 * @param load throws what `request` throws
 * @param key reloaded, from nothing, when it changes
 * @param renewal what reads it again; a function when that depends on what was read
 */
export function useLoaded<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  renewal: Renewal | ((data: T) => Renewal),
): Loaded<T> {
  const asked = { load, renewal: typeof renewal === 'function' ? renewal : () => renewal };
  const reading = useMemo(() => new Reading<T>(asked), [key]);
  reading.asked = asked;
  useEffect(() => reading.start(), [reading]);
  const { changed, following, reload } = reading;
  return { ...reading.state.value, reload, changed, following };
}
