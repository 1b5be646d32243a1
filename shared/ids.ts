import { randomUUID } from 'node:crypto';

/** A fresh row identifier (UUID v4, lower case). Passed as a function wherever a test must know the value. */
export type NewId = () => string;

export const newId: NewId = () => randomUUID();

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Whether `text` is a UUID as the HTTP contract writes it (section 1.5: lower case). */
export function isUuid(text: string): boolean {
  return uuidForm.test(text);
}
