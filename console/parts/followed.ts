/** Reads what a screen shows again when events say that it has changed. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { follow } from '../api/follow.ts';
import type { Loaded } from './load.ts';

/** Between two readings at least: events come many at once. */
const soonMs = 500;

/** What has no event of its own, such as the end of a set of runs, is read this often while it can change, ms. */
const withoutEventMs = 2000;
/** And this often what may change at any time, ms. */
const seldomMs = 5000;

/**
 * @param query as `GET /v1/events` takes it; null: nothing of what is shown can change
 * @returns whether events arrive
 */
export function useFollowed(query: Readonly<Record<string, string>> | null, reload: () => void): boolean {
  const following = useSignal(false);
  const key = query === null ? null : JSON.stringify(query);
  useEffect(() => {
    if (query === null) return;
    let soon: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      soon ??= setTimeout(() => {
        soon = undefined;
        reload();
      }, soonMs);
    };
    const end = follow(query, {
      // It was read just before, and may have changed until now.
      onStale: again,
      onEvent: again,
      onState: (now) => {
        following.value = now;
      },
    });
    return () => {
      end();
      clearTimeout(soon);
    };
  }, [key]);
  return following.value;
}

/** Reads what changes without an event again and again. @param active whether it can change now */
export function useReread(active: boolean, reload: () => void, everyMs = withoutEventMs): void {
  useEffect(() => {
    if (!active) return;
    const timer = setInterval(reload, everyMs);
    return () => clearInterval(timer);
  }, [active]);
}

/** Keeps current what others change without an event. After a problem somebody decides: it would be told again and again. */
export function useCurrent({ problem, reload }: Loaded<unknown>, wanted = true): void {
  useReread(wanted && problem === null, reload, seldomMs);
}
