import { randomUUID } from 'node:crypto';

/** A fresh row identifier (UUID v4, lower case). Passed as a function wherever a test must know the value. */
export type NewId = () => string;

export const newId: NewId = () => randomUUID();
