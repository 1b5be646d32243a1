/** Whether the control plane answers. When it does not, this asks until it does, and screens load again. */
import { effect, signal } from '@preact/signals';
import { reachable } from './api/client.ts';

/** How often the connection came back; screens load again when it changes. */
export const healed = signal(0);

const firstWaitMs = 1000;
const longestWaitMs = 8000;

export function watchConnection(): void {
  let waiting = false;
  const look = (waitMs: number): void => {
    waiting = true;
    setTimeout(async () => {
      const answer = await fetch('/health/live').catch(() => null);
      if (!answer?.ok) return look(Math.min(waitMs * 2, longestWaitMs));
      waiting = false;
      reachable.value = true;
      healed.value++;
    }, waitMs);
  };
  effect(() => {
    if (!reachable.value && !waiting) look(firstWaitMs);
  });
}
