/**
 * Which newer schemas this version of the program may use: that of the next release, so that replicas are upgraded one
 * after another. The names of migrations say it, which an earlier version can read without knowing the migrations:
 *
 *     0041-…            this release can read and write what it makes: it adds, and changes no meaning
 *     0042-release-8    the last migration of a release
 *     0043-…-breaking   the release before must be stopped first
 */
const endOfRelease = /-release-\d+$/;
const breaking = /-breaking$/;

/** How the migrations of a database differ from those of this version. */
export interface Difference {
  /** Migrations of this version that the database does not have. */
  readonly missing: readonly string[];
  /** Migrations of the database that this version does not have. */
  readonly unknown: readonly string[];
}

/**
 * Null: this version may use the database. Otherwise why not.
 * @param isServer without a replica that serves beside it, there is no reason to go back to an earlier version
 */
export function whyUnusable({ missing, unknown }: Difference, isServer: boolean): string | null {
  if (unknown.length === 0) return null;
  return isServer && missing.length === 0 ? whyTooNew(unknown) : `${unknown.join(', ')} is not known here`;
}

/** Null: the program may use a database with these migrations, which it does not know. Otherwise why not. */
export function whyTooNew(unknown: readonly string[]): string | null {
  const broken = unknown.find((name) => breaking.test(name));
  if (broken !== undefined) return `${broken} cannot be used by earlier versions`;
  // What follows the end of one release belongs to the one after it.
  const names = unknown.toSorted();
  const end = names.findIndex((name) => endOfRelease.test(name));
  const beyond = end < 0 ? undefined : names[end + 1];
  return beyond === undefined ? null : `${beyond} is more than one release newer`;
}
