/**
 * Numbers of the texts that a voice's server has ended on one connection: the end of a former text that comes late, or
 * once more, does not end the present one. A server may give all texts one number, as it is not published that they differ.
 */
export class EndedTexts {
  #latest: number | null = null;
  #areDifferent = false;

  /** @param hasSound whether there was sound since the text began. @returns whether this ends the present text */
  isNew(text: number, hasSound: boolean): boolean {
    const latest = this.#latest;
    if (latest === null || text > latest) {
      this.#areDifferent = latest !== null;
      this.#latest = text;
      return true;
    }
    return text === latest && hasSound && !this.#areDifferent;
  }
}
