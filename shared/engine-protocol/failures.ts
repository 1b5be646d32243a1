/** The value of `privateHeaders.failure`: why the engine could not reach a peer, as JSON in ASCII. */
import { type ConnectionFailure, connectionFaults } from '../connection-faults.ts';
import { fits, objectOf, oneOf, type Shaped, text } from '../shapes.ts';

const failureShape = objectOf({ fault: oneOf(...connectionFaults), detail: text });

/** The text goes into the Warning header, where people and other engines look for it. */
export function writeFailure({ fault, detail }: ConnectionFailure): string {
  const value: Shaped<typeof failureShape> = { fault, detail };
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** @returns null for any other value */
export function readFailure(value: string | undefined): Omit<ConnectionFailure, 'text'> | null {
  if (value === undefined) return null;
  try {
    const failure: unknown = JSON.parse(value);
    return fits(failureShape, failure) ? failure : null;
  } catch {
    return null;
  }
}
