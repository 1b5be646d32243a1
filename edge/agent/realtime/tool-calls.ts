/** The calls of tools that a model has made: each of a session is carried out once, and a few at a time. */
import { longestData, mostAtOnce, mostCalls } from './realtime-limits.ts';

export class ToolCalls {
  /** Ids of the session of now. Another session may use them again. */
  readonly #known = new Set<string>();
  /** By the id that the server knows; the latest of two sessions that have used the same. */
  readonly #cancels = new Map<string, AbortController>();
  #running = 0;
  #inAll = 0;

  get running(): number {
    return this.#running;
  }

  get isFull(): boolean {
    return this.#running >= mostAtOnce || this.#inAll >= mostCalls;
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  /** @returns its cancellation, and what must be called once when it has ended */
  begin(id: string): { readonly signal: AbortSignal; readonly ended: () => void } {
    const cancel = new AbortController();
    this.#known.add(id);
    this.#cancels.set(id, cancel);
    this.#running++;
    this.#inAll++;
    const ended = () => {
      this.#running--;
      if (this.#cancels.get(id) === cancel) this.#cancels.delete(id);
    };
    return { signal: cancel.signal, ended };
  }

  cancel(id: string): void {
    this.#cancels.get(id)?.abort();
  }

  /** Another session has begun. */
  renew(): void {
    this.#known.clear();
  }
}

/** The data of a tool's result, or as much of it as the model gets. */
export function dataForModel(data: unknown): unknown {
  const json = JSON.stringify(data ?? null);
  return json.length <= longestData ? data : json.slice(0, longestData);
}
