/** Notifications for runs that end without having run: their streams, and the batches that wait for them. */

/** Announced when a run changed. */
export const runSubject = (id: string) => `test-run ${id}`;
/** Announced when runs have ended outside the queue. */
export const runsEndedSubject = 'test-runs ended';

/** Call after the commit that canceled waiting runs. */
export function announceEnds(
  announcements: { announce(subject: string): void },
  runIds: readonly string[],
): void {
  if (runIds.length === 0) return;
  for (const id of runIds) announcements.announce(runSubject(id));
  announcements.announce(runsEndedSubject);
}
