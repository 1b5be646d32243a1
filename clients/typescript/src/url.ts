/** The URL of an operation. */

type QueryValue = string | number | boolean | readonly string[] | undefined;

/** @param name `GET /v1/calls/{call_id}` */
export function methodAndPath(
  name: string,
  path: Readonly<Record<string, string | number>> = {},
  query: Readonly<Record<string, QueryValue>> = {},
): { readonly method: string; readonly path: string } {
  const [method = 'GET', template = ''] = name.split(' ');
  const filled = template.replaceAll(/\{([^}]*)\}/g, (_, key: string) =>
    encodeURIComponent(String(path[key] ?? '')),
  );
  return { method, path: `${filled}${queryText(query)}` };
}

/** Empty values are left out. */
function queryText(query: Readonly<Record<string, QueryValue>>): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [value].flat().map((one) => [name, String(one)]),
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
