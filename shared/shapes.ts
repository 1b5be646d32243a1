/**
 * Checks values from outside, such as parsed JSON. For the engine and the media shards, which are to stay small: TypeBox,
 * which the other programs use, takes memory in each process and thread.
 */

/** What is wrong, and the JSON pointer of where in the value. */
export interface ShapeFault {
  readonly at: string;
  readonly what: string;
}

/** Accepts the values of a type. */
export interface Shape<T> {
  /** Null: the value has this shape. */
  fault(value: unknown): ShapeFault | null;
  /** Never set; it makes the type known to the compiler. */
  readonly type?: T;
}

/** The type of a shape's values. */
export type Shaped<S> = S extends Shape<infer T> ? T : never;

type Shapes = Readonly<Record<string, Shape<unknown>>>;
type ObjectOf<R extends Shapes, O extends Shapes> = { readonly [K in keyof R]: Shaped<R[K]> } & {
  readonly [K in keyof O]?: Shaped<O[K]>;
};

export function fits<T>(shape: Shape<T>, value: unknown): value is T {
  return shape.fault(value) === null;
}

export const text = simple<string>('must be string', (value) => typeof value === 'string');
export const flag = simple<boolean>('must be boolean', (value) => typeof value === 'boolean');
export const number = simple<number>('must be number', (value) => Number.isFinite(value));
export const name = simple<string>('must not be empty', (value) => typeof value === 'string' && value !== '');
export const positive = simple<number>('must be > 0', (value) => Number.isFinite(value) && Number(value) > 0);

export function textUpTo(most: number): Shape<string> {
  return simple(
    `must be string of at most ${most} characters`,
    (value) => isText(value) && value.length <= most,
  );
}

export function matching(pattern: RegExp): Shape<string> {
  return simple(`must match ${pattern}`, (value) => isText(value) && pattern.test(value));
}

/** Any value, which is checked elsewhere or not at all. */
export const anything: Shape<unknown> = { fault: () => null };

/** An integer. */
export function integer(minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER): Shape<number> {
  const what =
    minimum === Number.MIN_SAFE_INTEGER ? 'must be integer' : `must be integer from ${minimum} to ${maximum}`;
  return simple(
    what,
    (value) => Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum,
  );
}

export function oneOf<const T extends string>(...values: readonly T[]): Shape<T> {
  const known: ReadonlySet<unknown> = new Set(values);
  return simple(`must be one of ${values.join(', ')}`, (value) => known.has(value));
}

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return { fault: (value) => (value === null ? null : shape.fault(value)) };
}

export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  return {
    fault: (value) => {
      if (!Array.isArray(value)) return { at: '', what: 'must be array' };
      for (let index = 0; index < value.length; index++) {
        const fault = shape.fault(value[index]);
        if (fault) return within(String(index), fault);
      }
      return null;
    },
  };
}

/** An object with any names. */
export function recordOf<T>(shape: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    fault: (value) => {
      if (!isObject(value)) return { at: '', what: 'must be object' };
      for (const key of Object.keys(value)) {
        const fault = shape.fault(value[key]);
        if (fault) return within(key, fault);
      }
      return null;
    },
  };
}

/** @param open whether it may have other properties */
export function objectOf<R extends Shapes, O extends Shapes = Record<never, never>>(
  required: R,
  optional?: O,
  open = false,
): Shape<ObjectOf<R, O>> {
  const all: ReadonlyMap<string, Shape<unknown>> = new Map(Object.entries({ ...required, ...optional }));
  const needed = Object.keys(required);
  return {
    fault: (value) => {
      if (!isObject(value)) return { at: '', what: 'must be object' };
      if (!needed.every((key) => Object.hasOwn(value, key))) {
        const missing = needed.filter((key) => !Object.hasOwn(value, key));
        return { at: '', what: `must have required properties ${missing.join(', ')}` };
      }
      for (const key of Object.keys(value)) {
        const shape = all.get(key);
        if (!shape && !open) return { at: `/${key}`, what: 'unknown setting' };
        const fault = shape?.fault(value[key]);
        if (fault) return within(key, fault);
      }
      return null;
    },
  };
}

/** An object whose properties were checked elsewhere: when it entered the program, or by the code that made it. */
export function checkedObject<T extends object>(): Shape<T> {
  return simple<T>('must be object', isObject);
}

function simple<T>(what: string, accepts: (value: unknown) => boolean): Shape<T> {
  return { fault: (value) => (accepts(value) ? null : { at: '', what }) };
}

function within(key: string, { at, what }: ShapeFault): ShapeFault {
  return { at: `/${key}${at}`, what };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
