/** Who is told when runs end without having run: their streams, and the batches that wait for them. */

/** Announced when something is new about a run. */
export const runSubject = (id: string) => `test-run ${id}`;
/** Announced when runs have ended elsewhere than in the queue. */
export const runsEndedSubject = 'test-runs ended';

/** To be called after the commit that cancelled waiting runs. */
export function announceEnds(
  announcements: { announce(subject: string): void },
  runIds: readonly string[],
): void {
  if (runIds.length === 0) return;
  for (const id of runIds) announcements.announce(runSubject(id));
  announcements.announce(runsEndedSubject);
}
