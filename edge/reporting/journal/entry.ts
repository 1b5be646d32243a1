/**
 * What the frames of the journal say, one line each. Ids and times are our own and have no blanks; JSON text has no line
 * ends. Pure.
 *
 *     outbox <id> <last number given> <last heartbeat, or -> <numbers>     the first line of a segment
 *                                          `5-17,20-20`: reports that are not acknowledged, in earlier segments
 *     live <call> <record>                 a call that was up when the segment began
 *     alive <time>                         heartbeat
 *     call <call> <time> <body>            report with the record of a call that is up
 *     end <call> <time> <body>             report with the last record of a call
 *     report <time> <body>                 any other report
 */
import type { HeldReport } from '../held-reports.ts';
import type { NumberRun } from '../number-runs.ts';

/** The first line of a segment. */
export interface OutboxHead {
  readonly kind: 'outbox';
  readonly id: string;
  readonly last: number;
  readonly alive: string | null;
  /** Of reports in earlier segments that are not acknowledged. */
  readonly waiting: readonly NumberRun[];
}

export type Entry =
  | OutboxHead
  | { readonly kind: 'live'; readonly id: string; readonly record: string }
  | { readonly kind: 'alive'; readonly at: string | null }
  | ({ readonly kind: 'report' } & HeldReport);

const recordStart = '{"type":"call","call":';
const none = '-';

/** The body of a report about a call. @param record JSON text */
export const callBody = (record: string): string => `${recordStart}${record}}`;

/** Each start of an edge that cannot deliver adds a run; the oldest are written. */
const mostRuns = 100;

export function outboxLine(
  id: string,
  last: number,
  alive: string | null,
  waiting: readonly NumberRun[],
): string {
  const runs = waiting.slice(0, mostRuns).map((run) => `${run.first}-${run.last}`);
  return `outbox ${id} ${last} ${alive ?? none} ${runs.join(',')}`;
}
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
      const [last, more] = cut(numbers);
      const [alive, runs] = cut(more);
      return { kind, id, last: Number(last), alive: alive === none ? null : alive, waiting: runsOf(runs) };
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

function runsOf(text: string): NumberRun[] {
  if (text === '') return [];
  return text.split(',').map((run) => {
    const [first, last] = run.split('-').map(Number);
    return { first: first ?? 0, last: last ?? 0 };
  });
}

/** The text before the first blank, and after it. */
function cut(text: string): [string, string] {
  const blank = text.indexOf(' ');
  return blank === -1 ? [text, ''] : [text.slice(0, blank), text.slice(blank + 1)];
}
