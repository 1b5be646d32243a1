/** What earlier processes have left of an outbox: its id, its numbers, and which reports must be there. Pure. */
import { entriesOf, type OutboxHead } from './journal/entry.ts';

/**
 * @param heads of the segments, oldest first
 * @param noted a later head, of the note beside them
 * @returns null: there was no outbox
 */
export function knownOutbox(
  heads: readonly OutboxHead[],
  noted: Buffer | null,
): Pick<OutboxHead, 'id' | 'last' | 'waiting'> | null {
  const head = heads.at(-1);
  const note = noted && entriesOf(noted).find((entry) => entry.kind === 'outbox');
  if (!note || (head && head.id !== note.id)) return head ?? null;
  const last = Math.max(head?.last ?? 0, note.last);
  return { id: note.id, last, waiting: [...(head?.waiting ?? []), ...note.waiting] };
}
