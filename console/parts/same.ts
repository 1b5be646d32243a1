/** Whether two answers say the same, so that a screen whose data was read again is not drawn again. */
import { isObject } from '#shared/agent/graph-problem.ts';

/** @returns false also for what is neither JSON nor a Map of it: it counts as changed */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]));
  if (one instanceof Map && other instanceof Map)
    return one.size === other.size && isSame([...one], [...other]);
  if (!isPlain(one) || !isPlain(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && Object.getPrototypeOf(value) === Object.prototype;
}
