/**
 * Which frames and reports a program knows. Both say their revision when they connect. A new kind of frame or report gets
 * a new revision here, and is only sent to a program that knows it: while one of the two is not upgraded yet, it would
 * ignore the frame and never answer.
 */
export const edgeProtocol = {
  /** Of this version. A program that says none is older than revision 1. */
  revision: 9,
  /** From this one on control counts the calls of all edges (fleet.ts). */
  countsCalls: 1,
  /** From this one on control closes calls that an edge no longer has (`running` in reports.ts). */
  closesCalls: 1,
  /** From this one on control stores what is measured on calls (`measured` in reports.ts). */
  storesMeasured: 2,
  /** From this one on control stores refused INVITEs (`refused` in reports.ts), with all reasons of this version. */
  storesRefused: 8,
  /** From this one on edges know phone sessions that call out or are for an agent (phone-session.ts). */
  phonesCallMore: 5,
  /** From this one on edges test agents of others over a call (`agent` and `to` of `agent_test.call` in commands.ts). */
  testsOthers: 7,
  /** From this one on edges let supervisors join calls (`supervise.*` of commands.ts, `supervise` of phone-session.ts). */
  supervises: 8,
  /** From this one on edges take given noises for the weather of test runs (`noise` of agent-test-protocol.ts). */
  givenNoise: 9,
} as const;

/** The other program compared with this one, by its revision. */
export function comparedRevision(revision: number | undefined): 'older' | 'same' | 'newer' {
  const theirs = revision ?? 0;
  if (theirs === edgeProtocol.revision) return 'same';
  return theirs < edgeProtocol.revision ? 'older' : 'newer';
}
