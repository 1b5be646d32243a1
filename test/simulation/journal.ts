/**
 * Every report, recorded at both ends: all that the outbox on the edge's disk ever stored, and all that control stored.
 * Independent of how either end detects repetitions.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import type { SequencedReport } from '../../control/edge-link/reports.ts';
import { Outbox } from '../../edge/reporting/outbox.ts';

export interface JournalEntry {
  readonly seq: number;
  readonly body: ReportBody;
}

function outboxOf(folder: string): string {
  return join(folder, 'outbox.db');
}

/** Makes the outbox in `folder` also keep every report, in the same transaction; copies of the folder continue. */
export function keepJournal(folder: string): void {
  const path = outboxOf(folder);
  if (existsSync(path)) return;
  new Outbox(path).close();
  const db = new Database(path);
  db.exec(`
    CREATE TABLE journal (seq INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
    CREATE TRIGGER journal_of_reports AFTER INSERT ON reports
    BEGIN INSERT INTO journal (seq, body) VALUES (new.seq, new.body); END;
  `);
  db.close();
}

/** All reports that were ever in the outbox, in order. The edge must have ended. */
export function readJournal(folder: string): JournalEntry[] {
  const db = new Database(outboxOf(folder), { readonly: true });
  try {
    const rows = db
      .prepare<[], { seq: number; body: string }>('SELECT seq, body FROM journal ORDER BY rowid')
      .all();
    return rows.map(({ seq, body }) => ({ seq, body: JSON.parse(body) as ReportBody }));
  } finally {
    db.close();
  }
}

/** What control stored, frame by frame, over all its processes. */
export class Arrivals {
  readonly #seqs: number[] = [];

  /** @param stored how many reports at the end of a frame were stored */
  took(frame: readonly SequencedReport[], stored: number): void {
    this.#seqs.push(...frame.slice(frame.length - stored).map(({ seq }) => seq));
  }

  /** The difference between arrivals and `journal`, one sentence; null: every report arrived once, in order. */
  differ(journal: readonly JournalEntry[]): string | null {
    const at = Array.from({ length: Math.max(journal.length, this.#seqs.length) }).findIndex(
      (_, index) => journal[index]?.seq !== this.#seqs[index],
    );
    if (at === -1) return null;
    const name = (seq: number | undefined) => (seq === undefined ? 'nothing' : `report ${seq}`);
    return `of ${journal.length} reports, ${this.#seqs.length} arrived: at place ${at} is ${name(this.#seqs[at])} instead of ${name(journal[at]?.seq)}`;
  }
}
