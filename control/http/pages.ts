/**
 * Pages of lists. A page has a largest size in bytes however large its rows are: an item that is larger than its share
 * of the page comes without its largest parts, which `omitted` names, and is whole under its own id.
 */
import { setImmediate } from 'node:timers/promises';

/** JSON of the items of one page, bytes. Twice that leaves in the testing group, which shows each answer two times. */
export const pageBytes = 2 * 1_048_576;

/** JSON of one thing, bytes: the testing group shows it twice, within the largest answer (base.ts). */
const oneBytes = 6 * 1_048_576;

/** How many items a list has in all, where its body has no place for it. */
export const totalHeader = 'x-total-count';

/** After so many bytes of rows other requests have their turn. */
const bytesAtOnce = 256 * 1024;

/** What stands in place of a part that was left out, by its path of one or two names (`draft.prompt`). */
export type Omittable = Readonly<Record<string, null | '' | readonly [] | Readonly<Record<string, never>>>>;

/** An item of a list. */
export type Listed<T> = T & {
  /** Parts that were left out, because the item is too large for a list; absent when it is whole. */
  readonly omitted?: string[];
};

/** What a row came to. */
export interface ReadItem<T> {
  readonly item: T;
  /** Parts that the database left out already, as they are larger than the share. */
  readonly cut?: readonly string[];
}

/** Bytes that each of so many items may have. */
export function shareOf(items: number): number {
  return Math.floor(pageBytes / Math.max(1, items));
}

/**
 * The items of one page, read one after the other.
 * @param read the item of a key; `share` bytes are the most that it may have, and undefined means that it is gone
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

/** Items that are in memory already, each within its share of the page. */
export function fitPage<T extends object>(items: readonly T[], omittable: Omittable): Listed<T>[] {
  const share = shareOf(items.length);
  return items.map((item) => withinShare(item, omittable, share).item);
}

/**
 * One thing that is read by its id, without its largest parts where it is larger than any answer may be.
 * @param most bytes of its JSON
 */
export function fitOne<T extends object>(item: T, omittable: Omittable, most = oneBytes): Listed<T> {
  return withinShare(item, omittable, most).item;
}

/** Leaves out the largest parts until the rest fits. `bytes` are those of the whole. */
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
