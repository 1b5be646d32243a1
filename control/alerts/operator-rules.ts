/**
 * When the operator is told about disks. Pure: readings and time come in; what is wrong, and what to say, go out.
 *
 * Nobody is told of each change: what an address was told last is compared with what is so now, and one message says
 * the difference. What nobody saw is unknown: an edge that is not connected neither begins nor ends anything.
 */

/** `failing`: nothing can be written. `refusing`: and therefore no new call is taken. */
export type StorageLevel = 'failing' | 'refusing';

export interface StorageTrouble {
  readonly level: StorageLevel;
  /** ms since 1970, as are the others. */
  readonly since: number;
  /** Since when it has been good again; null while it is not. */
  readonly goodSince: number | null;
  readonly seenAt: number;
}

/** By `control` or `edge <id>`. */
export type Troubles = ReadonlyMap<string, StorageTrouble>;

/** Longer than a disk takes that is full again as soon as something was deleted. */
export const endsAfterMs = 60_000;
/** An edge that was taken out of service is not told of for ever. */
export const forgottenAfterMs = 86_400_000;
/** Between two messages to an address; the first comes at once. */
export const messageGapMs = 300_000;
/** Things that have a disk, at most: far more than a deployment's edges. */
const mostTroubles = 1_000;

/** @param readings of all that answered just now: null where all can be written */
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

/** What an address was told of each subject last. */
export type Told = ReadonlyMap<string, StorageLevel>;

/** What it is told of after a message about `troubles`. An edge that came to refuse calls goes on counting as that. */
export function toldAfter(told: Told, troubles: Troubles): Map<string, StorageLevel> {
  return new Map(
    [...troubles].map(([subject, { level }]) => [
      subject,
      told.get(subject) === 'refusing' ? 'refusing' : level,
    ]),
  );
}

export interface OperatorMessage {
  readonly subject: string;
  readonly text: string;
}

/**
 * What has to be said; null: nothing that is not known.
 * @param readings of all that answered just now: an end is told only of what was seen to be good
 */
export function messageOf(
  told: Told,
  troubles: Troubles,
  readings: ReadonlyMap<string, StorageLevel | null>,
  deployment: string,
): OperatorMessage | null {
  const begun = [...troubles].filter(
    ([subject, { level }]) => !told.has(subject) || (level === 'refusing' && told.get(subject) === 'failing'),
  );
  const ended = [...told.keys()].filter(
    (subject) => !troubles.has(subject) && readings.get(subject) === null,
  );
  if (begun.length === 0 && ended.length === 0) return null;
  const rest = [...troubles].filter((trouble) => !begun.some(([subject]) => subject === trouble[0]));
  const first = begun[0]?.[0] ?? ended[0] ?? '';
  const others = (begun.length || ended.length) - 1;
  const whose = `${first}${others > 0 ? ` and ${others} more` : ''}`;
  const title = begun.length > 0 ? 'Alert: disk not writable' : 'Resolved: disk writable again';
  return {
    subject: `${title}, ${whose}`,
    text: `${[
      ...begun.map(line),
      ...ended.map((subject) => `${subject}: writes succeed again.`),
      ...(rest.length > 0 && begun.length > 0 ? ['', 'As before:'] : []),
      ...(rest.length > 0 && begun.length === 0 ? ['', 'Not yet resolved:'] : []),
      ...rest.map(line),
      ...(troubles.size > 0
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

function line([subject, { level, since, goodSince }]: readonly [string, StorageTrouble]): string {
  const at = new Date(since).toISOString();
  if (goodSince !== null)
    return `${subject}: was not writable since ${at}; writes have just succeeded again.`;
  if (subject === 'control')
    return `${subject}: its database has not been writable since ${at}; API requests that write get 503.`;
  if (level === 'refusing')
    return `${subject}: its disk has not been writable since ${at}, and it rejects new calls (503).`;
  return `${subject}: its disk has not been writable since ${at}; its reports wait in memory.`;
}
