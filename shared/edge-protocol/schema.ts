/** Schema parts used throughout the edge protocol. */
import { Type } from 'typebox';

export const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(
  schema: T,
  description?: string,
) => Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** ISO 8601 with time zone. */
export const Iso = Type.String({ minLength: 20, maxLength: 30 });

export const oneOf = <const T extends readonly string[]>(values: T) => Type.Enum<T[number][]>([...values]);
