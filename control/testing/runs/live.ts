/** The current conversations of this process's runs, for streams; everything else is in the database. */
import type { ChatLine } from '../judging/ports.ts';

interface Saying {
  readonly attempt: number;
  readonly lines: ChatLine[];
}

export class LiveRuns {
  readonly #running = new Map<string, Saying>();
  readonly #tell: (runId: string) => void;

  /** @param tell called when a run has something new */
  constructor(tell: (runId: string) => void) {
    this.#tell = tell;
  }

  /** Another attempt restarts the conversation. */
  begin(runId: string, attempt: number): void {
    this.#running.set(runId, { attempt, lines: [] });
    this.#tell(runId);
  }

  said(runId: string, attempt: number, line: ChatLine): void {
    const saying = this.#running.get(runId);
    // Lines of an abandoned attempt are ignored.
    if (!saying || saying.attempt !== attempt) return;
    saying.lines.push(line);
    this.#tell(runId);
  }

  /** Undefined when the run is not running here. */
  lines(runId: string): readonly ChatLine[] | undefined {
    return this.#running.get(runId)?.lines;
  }

  end(runId: string): void {
    this.#running.delete(runId);
    this.#tell(runId);
  }
}

export const batchSubject = (id: string) => `test-batch ${id}`;
