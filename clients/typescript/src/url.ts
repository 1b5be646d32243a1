/** The URL of an operation. */
import { TrunklineError } from './errors.ts';

type QueryValue = string | number | boolean | readonly string[] | undefined;

/**
 * Segments that would lead to another operation: of a URL with `..` the part before it is taken away, no matter which program sends it,
 * and an id that is missing would make the DELETE of one the DELETE of all.
 */
const otherPlaces = ['', '.', '..'];

/** @param name `GET /v1/calls/{call_id}` @throws TrunklineError for a value of the path that is no segment of one */
export function methodAndPath(
  name: string,
  path: Readonly<Record<string, string | number>> = {},
  query: Readonly<Record<string, QueryValue>> = {},
): { readonly method: string; readonly path: string } {
  const [method = 'GET', template = ''] = name.split(' ');
  const filled = template.replaceAll(/\{([^}]*)\}/g, (_, key: string) => {
    const value = String(path[key] ?? '');
    if (otherPlaces.includes(value))
      throw new TrunklineError(`${name}: ${key} is "${value}", which is no id`);
    return encodeURIComponent(value);
  });
  return { method, path: `${filled}${queryText(query)}` };
}

/** Empty values are left out. */
function queryText(query: Readonly<Record<string, QueryValue>>): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [value].flat().map((one) => [name, String(one)]),
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
