import { randomUUID } from 'node:crypto';

/** A new row identifier (UUID v4, lower case). Passed as a function so that tests can fix the value. */
export type NewId = () => string;

export const newId: NewId = () => randomUUID();
