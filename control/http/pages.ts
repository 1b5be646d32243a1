/**
 * Pages of lists. A page has a maximum size in bytes however large its rows are: an item larger than its share of the
 * page omits its largest parts, which `omitted` names, and is complete under its own id.
 */
import { setImmediate } from 'node:timers/promises';

/**
 * JSON of the items of one page, bytes. The testing group sends twice as much, because it includes each response twice.
 */
export const pageBytes = 2 * 1_048_576;

/** JSON of one object, bytes: the testing group includes it twice, within the largest response (base.ts). */
const oneBytes = 6 * 1_048_576;

/** Total items of a list, where its body has no place for it. */
export const totalHeader = 'x-total-count';

/** Yields to other requests after this many bytes of rows. */
const bytesAtOnce = 256 * 1024;

/** Replaces an omitted part, by its path of one or two names (`draft.prompt`). */
export type Omittable = Readonly<Record<string, null | '' | readonly [] | Readonly<Record<string, never>>>>;

/** An item of a list. */
export type Listed<T> = T & {
  /** Omitted parts, because the item is too large for a list; absent when it is complete. */
  readonly omitted?: string[];
};

/** A row read for a page. */
export interface ReadItem<T> {
  readonly item: T;
  /** Parts that the database already left out, because they exceed the share. */
  readonly cut?: readonly string[];
}

/** Cursor of the page after these items; null: they do not fill a page, so it is the last. */
export function nextAfter<T>(
  items: readonly T[],
  limit: number,
  cursorOf: (item: T) => string,
): string | null {
  const last = items.at(-1);
  return last === undefined || items.length < limit ? null : cursorOf(last);
}

/** Cursor of a row in a list that is sorted by a time and an id. @param at ISO */
export const cursorAt = (at: string, id: string) => `${at} ${id}`;

/** null: it is no {@link cursorAt} */
export function readCursor(text: string): { readonly at: string; readonly id: string } | null {
  const [, at, id] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f-]{36})$/.exec(text) ?? [];
  return at === undefined || id === undefined ? null : { at, id };
}

/** Share of each item in bytes, for this many items. */
export function shareOf(items: number): number {
  return Math.floor(pageBytes / Math.max(1, items));
}

/**
 * The items of one page, read one after another.
 * @param read the item of a key; `share` is its limit in bytes, and undefined means that it was deleted
 */
export async function readPage<K, T extends object>(
  keys: readonly K[],
  omittable: Omittable,
  read: (key: K, share: number) => Promise<ReadItem<T> | undefined>,
): Promise<Listed<T>[]> {
  const share = shareOf(keys.length);
  const items: Listed<T>[] = [];
  let since = 0;
  for (const key of keys) {
    const found = await read(key, share);
    if (!found) continue;
    const { item, bytes } = withinShare(found.item, omittable, share, found.cut);
    items.push(item);
    since += bytes;
    if (since < bytesAtOnce) continue;
    since = 0;
    await setImmediate();
  }
  return items;
}

/** Items already in memory, each within its share of the page. */
export function fitPage<T extends object>(items: readonly T[], omittable: Omittable): Listed<T>[] {
  const share = shareOf(items.length);
  return items.map((item) => withinShare(item, omittable, share).item);
}

/**
 * One object read by id, without its largest parts when it exceeds the response limit.
 * @param most bytes of its JSON
 */
export function fitOne<T extends object>(item: T, omittable: Omittable, most = oneBytes): Listed<T> {
  return withinShare(item, omittable, most).item;
}

/** Omits the largest parts until the rest fits. `bytes` is the size of the whole. */
function withinShare<T extends object>(
  item: T,
  omittable: Omittable,
  share: number,
  cut: readonly string[] = [],
): { readonly item: Listed<T>; readonly bytes: number } {
  const bytes = size(item);
  const omitted = [...cut];
  let left = bytes + size(omitted);
  let shown: T = item;
  if (left > share) {
    const parts = Object.keys(omittable)
      .filter((path) => !omitted.includes(path))
      .map((path) => ({ path, bytes: size(valueAt(item, path)) - size(omittable[path]) }))
      .filter((part) => part.bytes > 0)
      .toSorted((a, b) => b.bytes - a.bytes);
    for (const part of parts) {
      if (left <= share) break;
      shown = replaced(shown, part.path, omittable[part.path]);
      left -= part.bytes - part.path.length - 3;
      omitted.push(part.path);
    }
  }
  return { item: omitted.length === 0 ? shown : { ...shown, omitted: omitted.sort() }, bytes };
}

function size(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

function valueAt(item: object, path: string): unknown {
  return path.split('.').reduce((value: unknown, name) => {
    return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  }, item);
}

function replaced<T extends object>(item: T, path: string, value: unknown): T {
  const dot = path.indexOf('.');
  if (dot < 0) return { ...item, [path]: value };
  const [name, inner] = [path.slice(0, dot), path.slice(dot + 1)];
  const part: unknown = Reflect.get(item, name);
  return typeof part === 'object' && part !== null ? { ...item, [name]: { ...part, [inner]: value } } : item;
}
