import type { DialoguePart, ToolCall } from './dialogue.ts';
import { Sentences, spoken } from './sentences.ts';

/** One model answer as it streams in. Its record is correct at any moment, also when the stream breaks. */
export class Utterance {
  readonly calls: ToolCall[] = [];
  readonly #said: string[] = [];
  #written = '';

  /** As written by the model. */
  get written(): string {
    return this.#written.trim();
  }

  /** The sentences yielded so far. */
  get said(): string {
    return this.#said.join(' ');
  }

  /** Yields sentence by sentence. Throws what `parts` throws. */
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
