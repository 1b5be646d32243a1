/** Reports as they are read from the journal's files. */
import { entriesOf } from './journal/entry.ts';
import type { Journal } from './journal/journal.ts';

/** A stored report with its body as JSON text, which is sent without being parsed again. */
export interface StoredReport {
  readonly seq: number;
  readonly at: string;
  readonly body: string;
}

/** The next reports after `after`, oldest first. */
export function reportsAfter(journal: Journal, after: number, limit: number): StoredReport[] {
  const found: StoredReport[] = [];
  let last = after;
  for (const { first, text } of journal.framesAfter(after)) {
    const reports = entriesOf(text).filter((entry) => entry.kind === 'report');
    for (const [index, { at, body }] of reports.entries()) {
      if (first + index <= last) continue;
      if (found.length === limit) return found;
      last = first + index;
      found.push({ seq: last, at, body });
    }
  }
  return found;
}
