/** Column types. Only types that every dialect has: text, integer, real. */

/** An object of any shape. */
export type OpenObject = Record<string, unknown>;
/** ISO 8601 with milliseconds and `Z`, so that times sort as text. */
export type IsoTime = string;
export type Flag = 0 | 1;

/** Delivery state of a message to one person. */
export interface DeliveryColumns {
  created_at: IsoTime;
  first_attempt_at: IsoTime | null;
  attempts: number;
  /** Null: delivered, or given up. */
  next_attempt_at: IsoTime | null;
  delivered_at: IsoTime | null;
  last_error: string | null;
}
