/** The pages of a list, whatever selects the next one: a cursor, an offset or a page number. */
import type { ListShape } from './generated-lists.ts';

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The query of the page after this one; null: it is the last. */
function nextQuery({ by, items, most }: ListShape, query: Query, answer: unknown): Query | null {
  if (by === 'before' || by === 'after') {
    const next = at(answer, ['data', 'next']);
    return typeof next === 'string' ? { ...query, [by]: next } : null;
  }
  const found = itemsOf(answer, items).length;
  if (found === 0 || found < Number(query.limit ?? most)) return null;
  const before = Number(query[by] ?? (by === 'page' ? 1 : 0));
  return { ...query, [by]: by === 'page' ? before + 1 : before + found };
}

/** @throws TypeError when the answer has no such list */
function itemsOf(answer: unknown, path: readonly string[]): readonly unknown[] {
  const found = at(answer, path);
  if (!Array.isArray(found)) throw new TypeError(`the answer has no list ${path.join('.')}`);
  return found;
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, name) => (typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined),
    value,
  );
}

/**
 * A list that is read while it is gone through: `for await (const call of client.calls.list())`. Each loop begins at the
 * first page.
 */
export class List<Item> implements AsyncIterable<Item> {
  readonly #shape: ListShape;
  readonly #query: Query;
  readonly #read: (query: Query) => Promise<unknown>;

  /** @param read one page */
  constructor(shape: ListShape, query: Query, read: (query: Query) => Promise<unknown>) {
    this.#shape = shape;
    // The size of a page is then known, which tells whether it is full.
    this.#query = shape.by === 'page' || shape.by === 'offset' ? { limit: shape.most, ...query } : query;
    this.#read = read;
  }

  /** Page by page. One without items need not be the last. */
  async *pages(): AsyncGenerator<readonly Item[], void, undefined> {
    let query: Query | null = this.#query;
    while (query) {
      const answer: unknown = await this.#read(query);
      yield itemsOf(answer, this.#shape.items) as readonly Item[];
      query = nextQuery(this.#shape, query, answer);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page;
  }

  /** The first ones, at most `most`. */
  async take(most: number): Promise<Item[]> {
    const taken: Item[] = [];
    if (most <= 0) return taken;
    for await (const item of this) {
      taken.push(item);
      if (taken.length >= most) break;
    }
    return taken;
  }
}
