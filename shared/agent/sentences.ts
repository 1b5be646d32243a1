/** Splits text that arrives in pieces into sentences, so that the first can be spoken before the last is known. */

/** Longer text without a sentence end is split at a word, so that speech is not delayed. */
const longest = 300;
/** A period after these does not end a sentence. */
const abbreviation =
  /(?:^|[\s("'])(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|no|approx|dept|ext|[a-z])\.$/i;
const ending = /(?<![.!?…])[.!?…]+["')\]”’]*(?=\s)|[。！？]+|\n+/g;
/** Characters before a period in which an abbreviation is looked for: more than the longest has. */
const abbreviationLength = 10;

export class Sentences {
  #rest = '';

  /** Adds text. Returns the sentences it completes, trimmed and not empty. */
  push(text: string): string[] {
    this.#rest += text;
    const found: string[] = [];
    for (let end = this.#end(); end > 0; end = this.#end()) found.push(this.#take(end));
    while (this.#rest.length > longest) {
      const space = this.#rest.lastIndexOf(' ', longest);
      found.push(this.#take(space > 0 ? space + 1 : longest));
    }
    return found.filter((sentence) => sentence !== '');
  }

  /** Ends the text. Returns the remaining sentence, or null. */
  flush(): string | null {
    const rest = this.#rest.trim();
    this.#rest = '';
    return rest === '' ? null : rest;
  }

  /** End of the first sentence, 0 when it is not complete. */
  #end(): number {
    for (const match of this.#rest.matchAll(ending)) {
      const end = match.index + match[0].length;
      if (
        match[0] !== '.' ||
        !abbreviation.test(this.#rest.slice(Math.max(0, end - abbreviationLength), end))
      )
        return end;
    }
    return 0;
  }

  #take(length: number): string {
    const taken = this.#rest.slice(0, length).trim();
    this.#rest = this.#rest.slice(length);
    return taken;
  }
}

/** Text without marks that models often write and that cannot be spoken. */
export function spoken(text: string): string {
  return text
    .replace(/^\s*(?:#{1,6}|[-*•]|\d+\.)\s+(?=\S)/, '')
    .replace(/\*{1,3}([^*]+)\*{1,3}/g, '$1')
    .replace(/[`*_]{2,}|`/g, '')
    .replace(/\[([^\]]{1,300})\]\(https?:[^)\s]{1,2000}\)/g, '$1')
    .trim();
}
