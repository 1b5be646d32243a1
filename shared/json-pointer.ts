/** The part of a value at a JSON pointer (RFC 6901); undefined: there is none. */
export function valueAtPointer(root: unknown, pointer: string): unknown {
  let part: unknown = root;
  for (const name of pointer.split('/').slice(1)) {
    const member = name.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, member)) return undefined;
    part = Reflect.get(part, member);
  }
  return part;
}
