/** What is being said in the runs of this process, for those who watch; everything else is in the database. */
import type { ChatLine } from '../judging/ports.ts';

interface Saying {
  readonly attempt: number;
  readonly lines: ChatLine[];
}

export class LiveRuns {
  readonly #running = new Map<string, Saying>();
  readonly #tell: (runId: string) => void;

  /** @param tell called when something of a run is new */
  constructor(tell: (runId: string) => void) {
    this.#tell = tell;
  }

  /** A further attempt begins the conversation anew. */
  begin(runId: string, attempt: number): void {
    this.#running.set(runId, { attempt, lines: [] });
    this.#tell(runId);
  }

  said(runId: string, attempt: number, line: ChatLine): void {
    const saying = this.#running.get(runId);
    // What an attempt says that was given up is of no interest.
    if (!saying || saying.attempt !== attempt) return;
    saying.lines.push(line);
    this.#tell(runId);
  }

  /** Undefined when the run is not under way here. */
  lines(runId: string): readonly ChatLine[] | undefined {
    return this.#running.get(runId)?.lines;
  }

  end(runId: string): void {
    this.#running.delete(runId);
    this.#tell(runId);
  }
}

export const batchSubject = (id: string) => `test-batch ${id}`;
