/** Splits text that arrives in pieces into sentences, so that the first can be spoken before the last is known. */

/** Longer text without a sentence end is split at a word, so that speech is not delayed. */
const longest = 300;
/** A period after these does not end a sentence. */
const abbreviation =
  /(?:^|[\s("'])(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|no|approx|dept|ext|[a-z])\.$/i;
const ending = /[.!?…]+["')\]”’]*(?=\s)|[。！？]+|\n+/g;

export class Sentences {
  #rest = '';

  /** Adds text. Returns the sentences it completes, trimmed and not empty. */
  push(text: string): string[] {
    this.#rest += text;
    const found: string[] = [];
    for (let cut = this.#cut(); cut > 0; cut = this.#cut()) {
      found.push(this.#rest.slice(0, cut).trim());
      this.#rest = this.#rest.slice(cut);
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
  #cut(): number {
    for (const match of this.#rest.matchAll(ending)) {
      const end = match.index + match[0].length;
      if (match[0] !== '.' || !abbreviation.test(this.#rest.slice(0, end))) return end;
    }
    if (this.#rest.length <= longest) return 0;
    const space = this.#rest.lastIndexOf(' ', longest);
    return space > 0 ? space + 1 : longest;
  }
}

/** Text without marks that models often write and that cannot be spoken. */
export function spoken(text: string): string {
  return text
    .replace(/^\s*(?:#{1,6}|[-*•]|\d+\.)\s+(?=\S)/, '')
    .replace(/\*{1,3}([^*]+)\*{1,3}/g, '$1')
    .replace(/[`*_]{2,}|`/g, '')
    .replace(/\[([^\]]+)\]\(https?:[^)\s]+\)/g, '$1')
    .trim();
}
