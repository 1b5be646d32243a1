import type { Shape } from '#shared/shapes.ts';

/** Of a message whose sound is not base64: a part of it would be noise. */
export const brokenSound = 'sound was left out: it is not base64';

/**
 * Whether a message of the server has the form of its protocol. One that does not is left out, and reported: a server that
 * sends nothing else would be silent for no visible reason.
 */
export function understood<T>(
  shape: Shape<T>,
  received: unknown,
  problem: (why: string) => void,
): received is T {
  const fault = shape.fault(received);
  if (fault !== null) problem(`a message was left out: ${fault.at || 'it'} ${fault.what}`);
  return fault === null;
}
