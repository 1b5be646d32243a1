/** The configuration of a system that has no file for it: what is entered in which of its web pages. */
import type { PbxAccess, PbxFile } from './facts.ts';

/** What is entered or chosen; words alone: to be entered exactly so. */
export type Entry =
  | string
  /** What only the reader knows, described. */
  | { readonly own: string };

export interface WebPage {
  /** As the menu of the system leads to it. */
  readonly place: string;
  /** What is made there; absent: settings that are there already. */
  readonly makes?: string;
  readonly fields: readonly (readonly [name: string, entry: Entry])[];
}

/** @param path where the reader finds the pages @param first what to know before */
export function asFile(path: string, pages: readonly WebPage[], first: readonly string[] = []): PbxFile {
  const blocks = [...(first.length > 0 ? [first.join('\n')] : []), ...pages.map(asText)];
  return { path, text: blocks.join('\n\n') };
}

function asText({ place, makes, fields }: WebPage): string {
  const wide = Math.max(...fields.map(([name]) => name.length));
  const rows = fields.map(
    ([name, entry]) => `  ${name.padEnd(wide)}  ${typeof entry === 'string' ? entry : `(${entry.own})`}`,
  );
  return [makes === undefined ? place : `${place}: ${makes}`, ...rows].join('\n');
}

/** What to know first about an SBC, which takes no registration of a trunk. */
export const registersNot = ({ how }: PbxAccess): readonly string[] =>
  how === 'register'
    ? ['The SBC takes no registration of a trunk here: attach the number with auth_mode ip or digest.']
    : [];
