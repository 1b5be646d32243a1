/** Cuts texts to the words that a person has heard of them. */

/** Cuts the first of several texts, one after the other, until so many words are used up. */
export class WordsHeard {
  #left: number;

  /** @param words what was heard of all texts together */
  constructor(words: string) {
    this.#left = words.match(/\S+/g)?.length ?? 0;
  }

  /** The part of the next text that was heard; empty when none of it was. */
  of(text: string): string {
    const words = [...text.matchAll(/\S+/g)];
    const heard = words.slice(0, this.#left);
    this.#left -= heard.length;
    const last = heard.at(-1);
    if (heard.length === words.length) return text;
    return last ? text.slice(0, last.index + last[0].length) : '';
  }
}
