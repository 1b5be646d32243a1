/** What the log says of files of the outbox that are damaged, missing or too short. */
import type { Outbox } from './outbox.ts';
import type { ReportingOptions } from './reporting-options.ts';

/** Of what earlier processes left. */
export function logFaults({ damage, newestLost }: Outbox, log: ReportingOptions['log']): void {
  if (damage.length > 0)
    log('warn', 'parts of the outbox are not readable, as after a loss of power: reports in them are lost', {
      parts: damage,
    });
  if (newestLost)
    log(
      'error',
      'the newest file of the outbox is missing, or shorter than what was on the disk: reports in it are lost; check the disk',
      { ...newestLost },
    );
}

/** While the edge runs. @param files without which the outbox goes on; none: nothing is logged @param lost in all */
export function logGone(files: readonly string[], lost: number, log: ReportingOptions['log']): void {
  if (files.length === 0) return;
  log(
    'error',
    'files of the outbox were deleted or cut while the edge runs: reports that are in memory are written once more; check the disk',
    { files, lost },
  );
}
