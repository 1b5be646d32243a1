import type { DialoguePart, ToolCall } from './dialogue.ts';
import { Sentences, spoken } from './sentences.ts';

/** One answer of a model while it comes: what is kept of it is right at any moment, also when it breaks off. */
export class Utterance {
  readonly calls: ToolCall[] = [];
  readonly #said: string[] = [];
  #written = '';

  /** As the model wrote it. */
  get written(): string {
    return this.#written.trim();
  }

  /** The sentences that were given out. */
  get said(): string {
    return this.#said.join(' ');
  }

  /** Gives out sentence by sentence. Throws what `parts` throws. */
  async *sentences(parts: AsyncIterable<DialoguePart>, channel: 'call' | 'chat'): AsyncGenerator<string> {
    const sentences = new Sentences();
    for await (const part of parts) {
      if (part.type === 'call') this.calls.push(part.call);
      else {
        this.#written += part.text;
        for (const sentence of sentences.push(part.text)) yield* this.#give(sentence, channel);
      }
    }
    yield* this.#give(sentences.flush() ?? '', channel);
  }

  *#give(sentence: string, channel: 'call' | 'chat'): Generator<string> {
    const words = channel === 'call' ? spoken(sentence) : sentence;
    if (words === '') return;
    this.#said.push(words);
    yield words;
  }
}
