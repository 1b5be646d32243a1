/** The answers of a model on their way to the caller: what of each has been played, and which of its words. */
import { heardPart } from '../ears/spoken-words.ts';
import { PlayQueue } from '../play-queue.ts';
import { Recording } from '../recording.ts';

/** An answer that the caller did not hear to its end. */
export interface CutAnswer {
  readonly item: string;
  /** What was played of it, ms. */
  readonly ms: number;
  /** The words that were heard. */
  readonly text: string;
}

interface Answer {
  readonly item: string;
  /** Sample of the queue at which it begins. */
  readonly start: number;
  readonly sound: Recording;
  text: string;
  complete: boolean;
}

/** Answers that are not played to the end: a server makes one after the other. */
const mostAnswers = 64;
/** Answers that have been cut, whose late sound is not played. */
const mostCut = 64;
/** Frames in which no more sound of an answer has come, and it may be over although nobody has said so: 1 s. */
const overAfterFrames = 50;
/** Characters of an answer. */
const longestText = 20_000;

export class Playback {
  readonly #sampleRate: number;
  readonly #maxSamples: number;
  readonly #queue: PlayQueue;
  /** Of those that are not played to the end, in order. */
  #answers: Answer[] = [];
  readonly #cut = new Set<string>();
  readonly #waiting = new Set<(whole: boolean) => void>();
  /** The answer whose sound came last, and is not known to be over. */
  #sounding: string | null = null;

  constructor(sampleRate: number, maxSeconds: number) {
    this.#sampleRate = sampleRate;
    this.#maxSamples = maxSeconds * sampleRate;
    this.#queue = new PlayQueue(this.#maxSamples);
  }

  /** Whether sound is playing, queued, or about to come: a gap in an answer is not its end. */
  get playing(): boolean {
    const isInGap = this.#sounding !== null && this.#queue.silentFrames < overAfterFrames;
    return this.#queue.playing || isInGap;
  }

  get queuedMs(): number {
    return (this.#queue.queuedSamples * 1000) / this.#sampleRate;
  }

  /** Whether sound of the answer would be queued. */
  hasRoom(item: string): boolean {
    return this.#queue.hasRoom && !this.#cut.has(item);
  }

  read(frame: Int16Array): boolean {
    return this.#queue.read(frame);
  }

  /** @returns the samples for which there was no room */
  push(item: string, samples: Int16Array): number {
    const answer = this.#answer(item);
    if (!answer || samples.length === 0) return 0;
    if (item !== this.#sounding) this.#queue.begin(false);
    this.#sounding = item;
    const dropped = this.#queue.push(samples);
    answer.sound.append(samples.subarray(0, samples.length - dropped));
    return dropped;
  }

  /** No more sound of the answer comes: what was gathered of it plays. */
  soundOver(item: string): void {
    if (item === this.#sounding) this.#noMoreSound();
  }

  #noMoreSound(): void {
    this.#sounding = null;
    this.#queue.complete();
  }

  words(item: string, more: string): void {
    const answer = this.#answer(item);
    if (answer) answer.text = (answer.text + more).slice(0, longestText);
  }

  /** The answer has no more sound or words. @returns its words; null: it was cut before */
  said(item: string, text: string | null): string | null {
    const answer = this.#answer(item);
    if (!answer) return null;
    if (text !== null) answer.text = text.slice(0, longestText);
    answer.complete = true;
    return answer.text;
  }

  /** No more comes of the answers so far; what there is of them is played. @returns those that were not complete */
  endOpen(): { readonly item: string; readonly text: string }[] {
    const open = this.#answers.filter(({ complete }) => !complete);
    for (const answer of open) answer.complete = true;
    this.#noMoreSound();
    return open;
  }

  /** Resolves when everything pushed so far has been played: true, or cut: false. */
  played(): Promise<boolean> {
    if (!this.#queue.playing) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (whole: boolean) => {
        this.#waiting.delete(done);
        resolve(whole);
      };
      this.#waiting.add(done);
      this.#queue.mark(() => done(true));
    });
  }

  /** Stops the sound at once. @returns the answers that were not heard to the end */
  cut(): CutAnswer[] {
    const played = this.#queue.playedSamples;
    for (const done of [...this.#waiting]) done(false);
    this.#sounding = null;
    this.#queue.clear();
    const unheard = this.#answers.filter(
      ({ start, sound, complete }) => !complete || start + sound.length > played,
    );
    this.#answers = [];
    for (const { item } of unheard) this.#cut.add(item);
    for (const oldest of this.#cut) {
      if (this.#cut.size <= mostCut) break;
      this.#cut.delete(oldest);
    }
    return unheard.map(({ item, start, sound, text }) => {
      const samples = Math.min(sound.length, Math.max(0, played - start));
      return {
        item,
        ms: Math.floor((samples * 1000) / this.#sampleRate),
        text: samples === 0 ? '' : heardPart(text, sound.copy(), samples, this.#sampleRate),
      };
    });
  }

  /** null: it has been cut */
  #answer(item: string): Answer | null {
    if (this.#cut.has(item)) return null;
    const known = this.#answers.find((answer) => answer.item === item);
    if (known) return known;
    const played = this.#queue.playedSamples;
    this.#answers = this.#answers.filter(
      ({ start, sound, complete }) => !complete || start + sound.length > played,
    );
    const start = played + this.#queue.queuedSamples;
    const answer = { item, start, sound: new Recording(this.#maxSamples), text: '', complete: false };
    this.#answers.push(answer);
    if (this.#answers.length > mostAnswers) this.#answers.shift();
    return answer;
  }
}
