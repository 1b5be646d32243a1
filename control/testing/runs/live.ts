/**
 * The current conversations of running runs, for streams; everything else is in the database. Those of other replicas
 * are known while they are watched here: the replica of the run sends each line, and says which line of which attempt it
 * is, so a lost or repeated one is noticed.
 */
import { outsideFences } from '../../db/index.ts';
import { type Bus, Interests, MessageTooLarge, type Topic } from '../../replicas/index.ts';
import type { ChatLine } from '../judging/ports.ts';

interface Saying {
  readonly attempt: number;
  readonly lines: ChatLine[];
}

/** A line of a run. */
interface Said {
  readonly runId: string;
  readonly attempt: number;
  /** From 0. */
  readonly place: number;
  /** Null: the conversation begins. */
  readonly line: ChatLine | null;
}

export class LiveRuns {
  readonly #running = new Map<string, Saying>();
  /** Of other replicas, while watched here. */
  readonly #elsewhere = new Map<string, Saying>();
  readonly #tell: (runId: string) => void;
  readonly #interests: Interests | null;
  readonly #said: Topic<Said> | undefined;

  /**
   * @param tell called when a run has something new, on the replica that runs it; it tells the others
   * @param bus to the other replicas; null: there are none
   */
  constructor(
    tell: (runId: string) => void,
    bus: Pick<Bus, 'transients' | 'topic' | 'onMissed'> | null = null,
  ) {
    this.#tell = tell;
    this.#interests = bus && new Interests(bus.transients, 'test runs');
    this.#said = bus?.topic('test run lines');
    this.#interests?.onWatch((runId, replica) => this.#sendAll(runId, replica));
    this.#said?.on((said) => this.#heard(said));
    bus?.onMissed(() => this.#interests?.renew());
  }

  /** Another attempt restarts the conversation. */
  begin(runId: string, attempt: number): void {
    const saying = { attempt, lines: [] };
    this.#running.set(runId, saying);
    for (const replica of this.#watching(runId)) this.#send(runId, saying, 0, null, replica);
    this.#tell(runId);
  }

  said(runId: string, attempt: number, line: ChatLine): void {
    const saying = this.#running.get(runId);
    // Lines of an abandoned attempt are ignored.
    if (!saying || saying.attempt !== attempt) return;
    saying.lines.push(line);
    for (const replica of this.#watching(runId))
      this.#send(runId, saying, saying.lines.length - 1, line, replica);
    this.#tell(runId);
  }

  /** Undefined when nothing is known of it here. */
  lines(runId: string): readonly ChatLine[] | undefined {
    return (this.#running.get(runId) ?? this.#elsewhere.get(runId))?.lines;
  }

  /** Follows a run, wherever it is. @returns what ends it; to be called once */
  watch(runId: string): () => void {
    if (!this.#interests) return () => undefined;
    const interests = this.#interests;
    const stop = interests.watch(runId);
    return () => {
      stop();
      if (!interests.isWatchedHere(runId)) this.#elsewhere.delete(runId);
    };
  }

  end(runId: string): void {
    this.#running.delete(runId);
    this.#tell(runId);
  }

  #watching(runId: string): readonly string[] {
    return this.#interests?.watching(runId) ?? [];
  }

  #sendAll(runId: string, replica: string): void {
    const saying = this.#running.get(runId);
    if (!saying) return;
    this.#send(runId, saying, 0, null, replica);
    for (const [place, line] of saying.lines.entries()) this.#send(runId, saying, place, line, replica);
    // After the lines, so that the reader there finds them.
    this.#tell(runId);
  }

  #send(runId: string, { attempt }: Saying, place: number, line: ChatLine | null, replica: string): void {
    try {
      outsideFences(() => this.#said?.post({ runId, attempt, place, line }, replica));
    } catch (error) {
      // The reader there gets this line and later ones when the run has ended.
      if (!(error instanceof MessageTooLarge)) throw error;
    }
  }

  #heard({ attempt, line, place, runId }: Said): void {
    if (!this.#interests?.isWatchedHere(runId)) return;
    const known = this.#elsewhere.get(runId);
    if (line === null) {
      if (known?.attempt !== attempt) this.#elsewhere.set(runId, { attempt, lines: [] });
    } else if (known?.attempt === attempt && known.lines.length === place) known.lines.push(line);
  }
}

export const batchSubject = (id: string) => `test-batch ${id}`;
