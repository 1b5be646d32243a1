/**
 * A value made at its first use, for what takes long to make and not every process needs: validators of large schemas take
 * a fifth of the CPU of a start.
 */
export function lazy<Value extends object>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= make());
}

/** The same for what is read or loaded: after a failure the next use tries again. */
export function lazyLoad<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | null = null;
  return () => {
    value ??= load().catch((error: unknown) => {
      value = null;
      throw error;
    });
    return value;
  };
}
