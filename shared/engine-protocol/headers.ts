/** Ending of the version that the embedded engine reports, by which the edge knows it. */
export const embeddedVersion = '-trunkline';

/** How all header fields of our own begin, in lower case. */
export const ownPrefix = 'x-trunkline-';

/** Not of the engine: a SIP proxy in front of the edges names the source of a request (docs/fleet.md). */
export const sourceHeader = 'X-Trunkline-Source';

/**
 * Header fields by which edge and embedded engine extend the drachtio protocol. Each goes over the connection between
 * them only: the engine removes those that it gets from an application before it sends the message, and adds its own
 * only to messages that it makes itself. A drachtio-server would send them on, so the edge gives it none.
 */
export const privateHeaders = {
  /** On an INVITE of the application, `1`: 100 Trying is delivered too. */
  trying: 'X-Trunkline-Trying',
  /** On a request of the application, `1`: it may go to the engine's own listener (a test call). */
  self: 'X-Trunkline-Self',
  /** On a response of the application: seconds for which the engine blocks the request's source. */
  block: 'X-Trunkline-Block',
  /** On a response that the engine made because none can arrive: why (failures.ts). */
  failure: 'X-Trunkline-Failure',
  /** On a BYE or CANCEL that the engine made: why (ends.ts). */
  end: 'X-Trunkline-End',
} as const;
