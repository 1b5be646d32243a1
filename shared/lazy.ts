/**
 * A value made at its first use, for what takes long to make and not every process needs: validators of large schemas take
 * a fifth of the CPU of a start.
 */
export function lazy<Value extends object>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= make());
}
