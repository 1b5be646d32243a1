/**
 * What the frames of the journal say, one line each. Ids and times are our own and have no blanks; JSON text has no line
 * ends. Pure.
 *
 *     outbox <id> <last number given> <last heartbeat, or ->     the first line of a segment
 *     live <call> <record>                 a call that was up when the segment began
 *     alive <time>                         heartbeat
 *     call <call> <time> <body>            report with the record of a call that is up
 *     end <call> <time> <body>             report with the last record of a call
 *     report <time> <body>                 any other report
 */
import type { HeldReport } from '../held-reports.ts';

export type Entry =
  | { readonly kind: 'outbox'; readonly id: string; readonly last: number; readonly alive: string | null }
  | { readonly kind: 'live'; readonly id: string; readonly record: string }
  | { readonly kind: 'alive'; readonly at: string | null }
  | ({ readonly kind: 'report' } & HeldReport);

const recordStart = '{"type":"call","call":';
const none = '-';

/** The body of a report about a call. @param record JSON text */
export const callBody = (record: string): string => `${recordStart}${record}}`;

export const outboxLine = (id: string, last: number, alive: string | null): string =>
  `outbox ${id} ${last} ${alive ?? none}`;
export const liveLine = (id: string, record: string): string => `live ${id} ${record}`;
export const aliveLine = (at: string | null): string => `alive ${at ?? none}`;

export function reportLine({ at, body, call }: HeldReport): string {
  if (call === null) return `report ${at} ${body}`;
  return `${call.ended ? 'end' : 'call'} ${call.id} ${at} ${body}`;
}

/** @throws Error on a line that no version of this program writes */
export function entriesOf(text: Buffer): Entry[] {
  return text.toString('utf8').split('\n').map(entryOf);
}

function entryOf(line: string): Entry {
  const [kind, rest] = cut(line);
  switch (kind) {
    case 'outbox': {
      const [id, numbers] = cut(rest);
      const [last, alive] = cut(numbers);
      return { kind, id, last: Number(last), alive: alive === none ? null : alive };
    }
    case 'live': {
      const [id, record] = cut(rest);
      return { kind, id, record };
    }
    case 'alive':
      return { kind, at: rest === none ? null : rest };
    case 'call':
    case 'end': {
      const [id, more] = cut(rest);
      const [at, body] = cut(more);
      const record = body.slice(recordStart.length, -1);
      return { kind: 'report', at, body, call: { id, ended: kind === 'end', record } };
    }
    case 'report': {
      const [at, body] = cut(rest);
      return { kind, at, body, call: null };
    }
    default:
      throw new Error(`the outbox has an entry of an unknown kind: ${kind.slice(0, 20)}`);
  }
}

/** The text before the first blank, and after it. */
function cut(text: string): [string, string] {
  const blank = text.indexOf(' ');
  return blank === -1 ? [text, ''] : [text.slice(0, blank), text.slice(blank + 1)];
}
