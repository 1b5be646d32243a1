/**
 * What happens in threads at other replicas: an event stream here sees it, and theirs see what happens here. Pieces of
 * an unfinished answer gather for a moment. Each says where in the answer it begins, so what comes twice is known, and
 * after a lost piece the rest is left out: the whole message follows.
 */
import { type Clock, systemClock, type Timer } from '#shared/clock.ts';
import { type Hearing, Interests } from '../replicas/index.ts';

/** `at`: characters of the answer before the piece. */
type News =
  | { readonly kind: 'changed'; readonly thread: string }
  | {
      readonly kind: 'piece';
      readonly thread: string;
      readonly id: string;
      readonly at: number;
      readonly text: string;
    }
  | { readonly kind: 'written'; readonly thread: string; readonly id: string };

/** What the streams of this replica hear. */
export interface LiveHere {
  changed(threadId: string): void;
  piece(threadId: string, id: string, at: number, text: string, replica: string): void;
  written(threadId: string, id: string): void;
  /** Unfinished answers of this replica in a thread. */
  unfinished(threadId: string): readonly { readonly id: string; readonly text: string }[];
  /** Something may have been missed: of one replica, or of all. */
  missed(replica: string | null): void;
  left(replica: string): void;
}

/** Pieces gather for this long. */
const gatherMs = 50;
/** Of one message: a character takes up to seven octets. */
const pieceCharacters = 1_000;

interface Gathering {
  readonly thread: string;
  readonly at: number;
  text: string;
}

export class LiveElsewhere {
  readonly #interests: Interests;
  readonly #topic;
  readonly #clock: Clock;
  readonly #gathering = new Map<string, Gathering>();
  #timer: Timer | null = null;

  /** @param clock real time: readers elsewhere wait */
  constructor(transients: Hearing, here: LiveHere, clock: Clock = systemClock) {
    this.#clock = clock;
    this.#interests = new Interests(transients, 'threads');
    this.#topic = transients.topic<News>('threads');
    this.#topic.on((news, sender) => {
      if (!this.#interests.isWatchedHere(news.thread)) return;
      if (news.kind === 'changed') here.changed(news.thread);
      else if (news.kind === 'written') here.written(news.thread, news.id);
      else here.piece(news.thread, news.id, news.at, news.text, sender);
    });
    this.#interests.onWatch((thread, replica) => {
      // It has read the thread before this replica knew that it watches.
      void this.#topic.send({ kind: 'changed', thread }, replica);
      for (const { id, text } of here.unfinished(thread)) this.#sendPieces(thread, id, 0, text, replica);
    });
    transients.onGap((replica) => here.missed(replica));
    transients.onLeft((replica) => here.left(replica));
  }

  /** @returns what ends it */
  watch(threadId: string): () => void {
    return this.#interests.watch(threadId);
  }

  changed(thread: string): void {
    if (this.#isWatched(thread)) void this.#topic.send({ kind: 'changed', thread });
  }

  /** @param at characters of the answer before `text` */
  wrote(thread: string, id: string, at: number, text: string): void {
    if (!this.#isWatched(thread)) return;
    const gathering = this.#gathering.get(id) ?? { thread, at, text: '' };
    gathering.text += text;
    this.#gathering.set(id, gathering);
    this.#timer ??= this.#clock.after(gatherMs, () => this.#sendGathered());
  }

  written(thread: string, id: string): void {
    this.#gathering.delete(id);
    if (this.#isWatched(thread)) void this.#topic.send({ kind: 'written', thread, id });
  }

  close(): void {
    this.#timer?.cancel();
  }

  #isWatched(thread: string): boolean {
    return this.#interests.watching(thread).length > 0;
  }

  #sendGathered(): void {
    this.#timer = null;
    for (const [id, { thread, at, text }] of this.#gathering) this.#sendPieces(thread, id, at, text);
    this.#gathering.clear();
  }

  #sendPieces(thread: string, id: string, at: number, text: string, recipient?: string): void {
    for (let begin = 0; begin < text.length; begin += pieceCharacters) {
      const piece = text.slice(begin, begin + pieceCharacters);
      void this.#topic.send({ kind: 'piece', thread, id, at: at + begin, text: piece }, recipient);
    }
  }
}
