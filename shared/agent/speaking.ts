/** What the conversation says and listens for at a node: fixed words, generated ones, and the fallback ones. */
import type { Account } from './account.ts';
import type { ConversationLimits } from './conversation-options.ts';
import { turnPlan } from './end-of-turn.ts';
import type { GraphNode } from './graph.ts';
import type { Understanding } from './interfaces.ts';
import { expectsKeys, keyPlan } from './keys.ts';
import type { Learning } from './learning.ts';
import { likelyTexts } from './likely-texts.ts';
import type { Memory } from './memory.ts';
import type { Position } from './position.ts';
import { asText, fillQuoted, fillTemplate } from './template.ts';

interface SpeakingParts {
  readonly position: Position;
  readonly memory: Memory;
  readonly account: Account;
  readonly learning: Learning;
  readonly understanding: Understanding;
  readonly limits: ConversationLimits;
}

/** Whether a node answers what fits none of its edges. */
export function answersFreely({ type }: GraphNode): boolean {
  return type === 'Knowledge Base' || type === 'Realtime';
}

export class Speaking {
  readonly #parts: SpeakingParts;
  /** Spoken instead of the first words of a node; null once spoken. */
  firstSentence: string | null;

  constructor(parts: SpeakingParts, firstSentence: string | null) {
    this.#parts = parts;
    this.firstSentence = firstSentence;
  }

  /** The sentence in place of the first words; null: they were spoken. */
  takeFirst(): string | null {
    const first = this.firstSentence;
    this.firstSentence = null;
    return first;
  }

  /** Says the words of a node, if it has any. Rejects when the model does. */
  async speak(node: GraphNode): Promise<void> {
    const { variables, unanswered } = this.#parts.memory;
    const first = this.takeFirst();
    if (first !== null) return this.say(fillTemplate(first, variables));
    if (node.text !== '') return this.say(fillTemplate(node.text, variables));
    const answers = node.type === 'Knowledge Base' && unanswered;
    if (node.prompt !== '' || answers) await this.generate(node);
  }

  /** Says words that the model makes from the node's prompt. */
  async generate(node: GraphNode): Promise<void> {
    const { position, account, learning, memory, understanding } = this.#parts;
    const { instructions, variables } = memory;
    const { globalPrompt } = position.graph;
    const withInstructions = (text: string) =>
      [text, instructions].filter((part) => part !== '').join('\n\n');
    const speech = await understanding.generate({
      ...learning.situation(),
      prompt: fillTemplate(node.prompt, variables),
      globalPrompt: withInstructions(fillTemplate(globalPrompt, variables)),
      quoted: {
        prompt: fillQuoted(node.prompt, variables),
        globalPrompt: withInstructions(fillQuoted(globalPrompt, variables)),
      },
      knowledge: node.type === 'Knowledge Base' ? asText(node.data.kb) : null,
      temperature: node.temperature,
    });
    if (speech.note !== undefined) account.note({ kind: 'speech_generated', note: speech.note });
    this.say(speech.text);
  }

  say(text: string): void {
    this.#parts.account.say(text, this.#keysExpected);
  }

  /** Says the fallback words if this step has said nothing. */
  breakSilence(): void {
    const { account, limits } = this.#parts;
    if (limits.wordlessRepeat !== null && !account.hasSpoken) this.say(limits.wordlessRepeat);
  }

  /** Listens for speech and keys at the current node. */
  listen(): void {
    const { account, learning, limits, position } = this.#parts;
    const likely = likelyTexts(position);
    account.act({
      type: 'listen',
      keys: keyPlan(learning.asking, position.options),
      ...(this.#keysExpected && { keysExpected: true }),
      timeoutMs: limits.listenMs,
      interruptionThreshold: position.node.interruptionThreshold,
      turn: turnPlan(learning.asking, position.options),
      ...(likely.length > 0 && { likely }),
    });
  }

  get #keysExpected(): boolean {
    return expectsKeys(this.#parts.learning.asking, this.#parts.position.options);
  }
}
