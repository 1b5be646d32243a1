/** Cuts texts to the words that a person has heard of them. */

/** A text that was to be spoken, and the part of it that was heard, from its first word on. */
export interface SaidText {
  readonly text: string;
  readonly heard: string;
}

/** Takes the words that were not heard out of several texts, one after the other. */
export class WordsHeard {
  /** Whether each word was heard. */
  readonly #heard: boolean[];
  #at = 0;

  /** @param said all texts together, perhaps in other pieces; what comes after them was not heard */
  constructor(said: readonly SaidText[]) {
    this.#heard = said.flatMap(({ text, heard }) => {
      const count = wordsOf(heard).length;
      return wordsOf(text).map((_, i) => i < count);
    });
  }

  /** The part of the next text that was heard; empty when none of it was. */
  of(text: string): string {
    const words = wordsOf(text);
    const heard = words.map((_, i) => this.#heard[this.#at + i] === true);
    this.#at += words.length;
    if (heard.every(Boolean)) return text;
    let end = 0;
    let kept = '';
    for (const [i, { 0: word, index }] of words.entries()) {
      if (heard[i]) kept += text.slice(end, index + word.length);
      end = index + word.length;
    }
    return kept.trimStart();
  }
}

function wordsOf(text: string) {
  return [...text.matchAll(/\S+/g)];
}
