/** The texts of an agent since the person's last input, and what was heard of each: it may be less than was said. */
import type { Talk } from '#shared/agent/conversation.ts';

interface Said {
  text: string;
  heard: string;
}

export class SaidTexts {
  #texts: Said[] = [];

  /** @returns a text of which nothing was heard so far */
  add(text: string): Said {
    const said = { text, heard: '' };
    this.#texts.push(said);
    return said;
  }

  /**
   * Tells the conversation what was heard, if that is not all.
   * @param interrupted whether it may have said more than it was asked to speak
   */
  tell(talk: Talk, interrupted: boolean): void {
    const texts = this.#texts;
    if (!interrupted && texts.every(({ text, heard }) => heard === text)) return;
    talk.heard?.(texts);
    // The conversation has no other words now. One that sounds may still be cut off.
    this.#texts = texts.filter(({ heard }) => heard !== '');
    for (const said of this.#texts) said.text = said.heard;
  }

  /** The person's turn is over. */
  forget(): void {
    this.#texts = [];
  }
}
