/** Answers of lists that have no pages: row by row, so that neither memory nor the process is one request's. */
import { Readable } from 'node:stream';

/**
 * JSON of a list, as a stream that reads no faster than its asker.
 * @param rows JSON text of one row each @param around what stands before and after the list
 */
export function rowStream(
  rows: AsyncIterable<string>,
  around: readonly [string, string] = ['', ''],
): Readable {
  return Readable.from(parts(rows, around), { objectMode: false, highWaterMark: 65_536 });
}

async function* parts(rows: AsyncIterable<string>, [before, after]: readonly [string, string]) {
  let separator = `${before}[`;
  for await (const row of rows) {
    yield separator + row;
    separator = ',';
  }
  yield separator === ',' ? `]${after}` : `${before}[]${after}`;
}
