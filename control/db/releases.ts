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
