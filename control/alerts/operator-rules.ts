/**
 * When the operator is notified about disks, and about storages of recordings. Pure: takes readings and time, returns
 * troubles and messages.
 *
 * Not every change is sent: each address gets one message with the difference between what it last got and the
 * current state. An edge that is not connected is unknown: it neither starts nor ends a trouble.
 */

/** `failing`: nothing can be written. `refusing`: so new calls are rejected. `away`: no disk, but a storage of recordings. */
export type StorageLevel = 'failing' | 'refusing' | 'away';

export interface StorageTrouble {
  readonly level: StorageLevel;
  /** ms since 1970, as are the others. */
  readonly since: number;
  /** When it recovered; null while it has not. */
  readonly goodSince: number | null;
  readonly seenAt: number;
}

/** By `control` or `edge <id>`. */
export type Troubles = ReadonlyMap<string, StorageTrouble>;

/** Longer than a full disk takes to fill up again after something was deleted. */
export const endsAfterMs = 60_000;
/** An edge taken out of service is forgotten after this time. */
export const forgottenAfterMs = 86_400_000;
/** Between two messages to an address; the first is sent at once. */
export const messageGapMs = 300_000;
/** Most disks tracked: far more than a deployment's edges. */
const mostTroubles = 1_000;

/** @param readings of everything that answered just now: null where the disk is writable */
export function observe(
  before: Troubles,
  readings: ReadonlyMap<string, StorageLevel | null>,
  now: number,
): Map<string, StorageTrouble> {
  const after = new Map<string, StorageTrouble>();
  for (const [subject, trouble] of before) {
    const level = readings.get(subject);
    if (level === undefined) {
      if (now - trouble.seenAt < forgottenAfterMs) after.set(subject, trouble);
    } else if (level === null) {
      const goodSince = trouble.goodSince ?? now;
      if (now - goodSince < endsAfterMs) after.set(subject, { ...trouble, goodSince, seenAt: now });
    } else after.set(subject, { level, since: trouble.since, goodSince: null, seenAt: now });
  }
  for (const [subject, level] of readings) {
    if (level === null || after.has(subject) || after.size >= mostTroubles) continue;
    after.set(subject, { level, since: now, goodSince: null, seenAt: now });
  }
  return after;
}

/** What was last sent to an address about each subject. */
export type Reported = ReadonlyMap<string, StorageLevel>;

/**
 * What has been sent after a message about `troubles`. An edge that got as far as rejecting calls still counts as
 * that.
 */
export function reportedAfter(reported: Reported, troubles: Troubles): Map<string, StorageLevel> {
  return new Map(
    [...troubles].map(([subject, { level }]) => [
      subject,
      reported.get(subject) === 'refusing' ? 'refusing' : level,
    ]),
  );
}

export interface OperatorMessage {
  readonly subject: string;
  readonly text: string;
}

/**
 * The message to send; null: nothing new.
 * @param readings of everything that answered just now: an end is only reported for what was seen to be good
 */
export function messageOf(
  reported: Reported,
  troubles: Troubles,
  readings: ReadonlyMap<string, StorageLevel | null>,
  deployment: string,
): OperatorMessage | null {
  const begun = [...troubles].filter(
    ([subject, { level }]) =>
      !reported.has(subject) || (level === 'refusing' && reported.get(subject) === 'failing'),
  );
  const ended = [...reported.keys()].filter(
    (subject) => !troubles.has(subject) && readings.get(subject) === null,
  );
  if (begun.length === 0 && ended.length === 0) return null;
  const rest = [...troubles].filter((trouble) => !begun.some(([subject]) => subject === trouble[0]));
  const first = begun[0]?.[0] ?? ended[0] ?? '';
  const others = (begun.length || ended.length) - 1;
  const whose = `${first}${others > 0 ? ` and ${others} more` : ''}`;
  const isDisk = begun.length > 0 ? begun.some(([, { level }]) => level !== 'away') : !areStorages(ended);
  const what = isDisk ? 'disk' : 'storage';
  const title = begun.length > 0 ? `Alert: ${what} not writable` : `Resolved: ${what} writable again`;
  return {
    subject: `${title}, ${whose}`,
    text: `${[
      ...begun.map(line),
      ...ended.map((subject) => `${subject}: writes succeed again.`),
      ...(rest.length > 0 && begun.length > 0 ? ['', 'As before:'] : []),
      ...(rest.length > 0 && begun.length === 0 ? ['', 'Not yet resolved:'] : []),
      ...rest.map(line),
      ...([...troubles.values()].some(({ level }) => level === 'away')
        ? [
            '',
            'What to do about a storage of recordings:',
            'Try it with POST /v1/admin/recording-storage/test, or ask its organization to try its own. Recordings stay in',
            'the deployment meanwhile, and are brought there when it works again.',
          ]
        : []),
      ...([...troubles.values()].some(({ level }) => level !== 'away')
        ? [
            '',
            'What to do:',
            'Free space on the disk of the data folder, or repair its file system. Programs recover without a restart;',
            'until then, do not restart an edge: it would lose the reports in its memory.',
          ]
        : []),
      '',
      `Deployment: ${deployment}`,
    ].join('\n')}\n`,
  };
}

function areStorages(subjects: readonly string[]): boolean {
  return subjects.every((subject) => subject.startsWith('storage of recordings'));
}

function line([subject, { level, since, goodSince }]: readonly [string, StorageTrouble]): string {
  const at = new Date(since).toISOString();
  if (goodSince !== null)
    return `${subject}: was not writable since ${at}; writes have just succeeded again.`;
  if (level === 'away') return `${subject}: recordings cannot be brought to it since ${at}.`;
  if (subject === 'control')
    return `${subject}: its database has not been writable since ${at}; API requests that write get 503.`;
  if (level === 'refusing')
    return `${subject}: its disk has not been writable since ${at}, and it rejects new calls (503).`;
  return `${subject}: its disk has not been writable since ${at}; its reports wait in memory.`;
}
