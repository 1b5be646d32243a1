/** Results reused within a conversation (contract 8.1 `cache`). Kept in memory, limited in time and size. */
import { createHash } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';

interface Entry {
  readonly text: string;
  readonly until: number;
}

export class ResultCache {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #mostCharacters: number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();
  #characters = 0;

  constructor(clock: Clock, keptMs: number, mostCharacters: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
    this.#mostCharacters = mostCharacters;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value, a separate copy for each caller; undefined if there is none. */
  get(key: string): unknown {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (entry.until > this.#clock.elapsed()) return JSON.parse(entry.text);
    this.#drop(key);
    return undefined;
  }

  set(key: string, value: unknown): void {
    const text = JSON.stringify(value);
    this.#drop(key);
    if (text.length > this.#mostCharacters) return;
    this.#entries.set(key, { text, until: this.#clock.elapsed() + this.#keptMs });
    this.#characters += text.length;
    for (const [oldest, { until }] of this.#entries) {
      if (this.#characters <= this.#mostCharacters && until > this.#clock.elapsed()) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#characters -= this.#entries.get(key)?.text.length ?? 0;
    this.#entries.delete(key);
  }
}

/** The cache key of a tool's current version, in one conversation, with these inputs. */
export function cacheKey(parts: readonly unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts.map(sortedKeys)))
    .digest('hex');
}

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, part]) => [name, sortedKeys(part)]);
}
