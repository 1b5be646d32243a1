/** What a screen shows of the API: loaded once, again on demand and when the connection is back. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Problem, problemOf } from '../api/problem.ts';
import { healed } from '../connection.ts';

export interface Loaded<T> {
  /** null: not yet. Stays while it is loaded again. */
  readonly data: T | null;
  readonly problem: Problem | null;
  readonly loading: boolean;
  readonly reload: () => void;
}

/**
 * @param load throws what `request` throws
 * @param key loaded anew, from nothing, when it changes
 */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const state = useSignal<{ key: string; data: T | null; problem: Problem | null; loading: boolean }>({
    key,
    data: null,
    problem: null,
    loading: true,
  });
  const again = useSignal(0);
  useEffect(() => {
    const stop = new AbortController();
    const before = state.peek();
    state.value = { key, data: before.key === key ? before.data : null, problem: null, loading: true };
    load(stop.signal).then(
      (data) => {
        if (!stop.signal.aborted) state.value = { key, data, problem: null, loading: false };
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        state.value = { ...state.peek(), problem: problemOf(error), loading: false };
      },
    );
    return () => stop.abort();
  }, [key, again.value, healed.value]);
  const { data, problem, loading } = state.value;
  const current = state.value.key === key;
  return {
    data: current ? data : null,
    problem: current ? problem : null,
    loading: loading || !current,
    reload: () => {
      again.value++;
    },
  };
}
