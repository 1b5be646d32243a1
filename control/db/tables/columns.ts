/**
 * What stands in columns. Only types that every dialect has: text, integer, real.
 */

/** JSON text. */
export type Json = string;
/** ISO 8601 with milliseconds and `Z`, so that times sort as text. */
export type IsoTime = string;
export type Flag = 0 | 1;
