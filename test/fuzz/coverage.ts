/** What an input makes the code do, by V8's own block coverage of the project's files. */

import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector';

export class Coverage {
  readonly #session = new Session();
  readonly #seen = new Set<string>();

  /** Blocks that some input has reached. */
  get size(): number {
    return this.#seen.size;
  }

  start(): void {
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The process runs at full speed again. */
  stop(): void {
    this.#post('Profiler.stopPreciseCoverage');
    this.#post('Profiler.disable');
    this.#session.disconnect();
  }

  /** Notes what was reached since the last time. @returns whether something of it is new */
  take(): boolean {
    const before = this.#seen.size;
    const { result } = this.#post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType;
    for (const { url, functions } of result) {
      if (!/\/(edge|shared)\//.test(url)) continue;
      for (const { ranges } of functions) {
        for (const { startOffset, endOffset, count } of ranges) {
          if (count > 0) this.#seen.add(`${url} ${startOffset} ${endOffset} ${magnitude(count)}`);
        }
      }
    }
    return this.#seen.size > before;
  }

  /** The inspector answers within the call. */
  #post(method: string, parameters: object = {}): object {
    let answer: object = {};
    this.#session.post(method, parameters, (error, result) => {
      if (error) throw error;
      answer = result ?? {};
    });
    return answer;
  }
}

/** 1, 2, 3, 4 to 7, 8 to 15 and so on: a loop that runs once more is no news, one that runs twice as often is. */
function magnitude(count: number): number {
  return count < 4 ? count : 4 + Math.floor(Math.log2(count));
}
