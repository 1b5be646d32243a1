/** What a request of each operation takes and returns, from the table of operations. */
import type { ListItems, Operations } from './generated.ts';

export type OperationName = keyof Operations;

/** Operations that return pages. */
export type ListName = keyof ListItems;

type Nothing = Readonly<Record<string, never>>;
type Unless<Kind, Part> = Kind extends Nothing | undefined ? object : Part;

export type Parts<Name extends OperationName> = Unless<
  Operations[Name]['path'],
  { readonly path: Operations[Name]['path'] }
> &
  (Operations[Name]['query'] extends Nothing
    ? object
    : Partial<Operations[Name]['query']> extends Operations[Name]['query']
      ? { readonly query?: Operations[Name]['query'] }
      : { readonly query: Operations[Name]['query'] }) &
  (Operations[Name]['body'] extends Nothing | undefined
    ? object
    : Partial<Operations[Name]['body']> extends Operations[Name]['body']
      ? { readonly body?: Operations[Name]['body'] | undefined }
      : { readonly body: Operations[Name]['body'] });

export type Answer<Name extends OperationName> = Operations[Name]['answer'];

/** The body that an operation takes. */
export type Body<Name extends OperationName> = Operations[Name]['body'];

/** The query of a list, without its cursor, which the iterator moves. */
export type ListQuery<Name extends ListName> = Omit<
  Operations[Name]['query'],
  'before' | 'after' | 'page' | 'offset'
>;
