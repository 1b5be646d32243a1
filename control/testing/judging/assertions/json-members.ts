/** Compares members of a JSON value, by dot path, with expected ones. Pure. */

/** The value at a dot path, such as `customer.phones.0`. A name with dots is tried first. */
function valueAt(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, path)) return Reflect.get(value, path);
  const dot = path.indexOf('.');
  if (dot < 0 || !Object.hasOwn(value, path.slice(0, dot))) return undefined;
  return valueAt(Reflect.get(value, path.slice(0, dot)), path.slice(dot + 1));
}

/** Deep equality; the order of members does not matter. */
function equal(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equal(Reflect.get(a, name), Reflect.get(b, name)))
  );
}

/** Differences between a value and the expected members, one text each; none: it matches. */
export function differences(given: unknown, wanted: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(wanted).flatMap(([path, value]) => {
    const found = valueAt(given, path);
    if (equal(found, value)) return [];
    const was = found === undefined ? 'is missing' : `was ${shown(found)}`;
    return [`${path} ${was}, not ${shown(value)}`];
  });
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, 200);
}
