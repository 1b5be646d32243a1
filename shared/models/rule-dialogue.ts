/**
 * Speaks for a persona without a language model. It follows no instructions; it can greet, transfer, enter a pathway,
 * quote a fact from its author's text, and say goodbye. The same words always get the same answer.
 */
import { isDeepStrictEqual } from 'node:util';
import type { DialogueModel, DialogueQuestion, DialogueTool } from '#shared/agent/dialogue.ts';
import { silenceMark } from '#shared/agent/persona-prompt.ts';
import { endTool, transferTool } from '#shared/agent/persona-tools.ts';
import { bestByWords, bestSentence, quotedSentence, ruleEvaluator } from './rule-engine.ts';
import { yesOrNo } from './words.ts';

const goodbye =
  /\b(?:good ?bye|bye|hang up|that(?:'s| is|s) (?:all|it|everything)|nothing else|no thanks)\b/i;
const offer = 'Shall I connect you to a person?';
const unknown = 'I am sorry, I cannot answer that.';
/** The target without a name. */
const anybody = { to: 'default' };
/** Minimum score: one word of a label, or two of a description. */
const enough = 2;

/** Sentences that instruct the agent and must not be spoken. */
const instruction =
  /^(?:you\b|your\b|never\b|always\b|do\b|don't\b|be\b|act\b|ask\b|if\b|when\b|unless\b|say\b|tell\b|speak\b|greet\b|offer\b|transfer\b|use\b|keep\b|avoid\b|make\b|only\b|please\b|answer\b|help\b|remember\b|confirm\b|collect\b|get\b|then\b|first\b|start\b|begin\b|end\b|stay\b|try\b|let\b|hang\b|#)/i;

export const ruleDialogue: DialogueModel = {
  evaluator: ruleEvaluator,

  async *reply(question) {
    const { text, call } = answer(question);
    if (text !== '') yield { type: 'text', text };
    if (call) yield { type: 'call', call: { id: `rule-${question.messages.length}`, ...call } };
  },
};

interface Answer {
  readonly text: string;
  readonly call?: { readonly name: string; readonly input: unknown };
}

function answer({ messages, tools, authored }: DialogueQuestion): Answer {
  const last = messages.at(-1);
  if (last === undefined) return { text: quotedSentence(authored) ?? 'Hello, how can I help you?' };
  if (last.role === 'tool') return { text: 'I am sorry, that did not work. What else can I do for you?' };
  if (last.role === 'assistant') return { text: '' };
  if (last.text === silenceMark) return { text: 'Are you still there?' };
  if (goodbye.test(last.text)) return { text: 'Goodbye.', call: { name: endTool, input: {} } };
  const before = messages.findLast(({ role }) => role === 'assistant');
  const offered = before?.role === 'assistant' && before.text.includes(offer);
  if (offered && yesOrNo(last.text) === true && transferable(tools)) return handOver(anybody);
  return chosen(tools, last.text) ?? quoted(authored, last.text, transferable(tools));
}

/** An option named in the person's words. */
function chosen(tools: readonly DialogueTool[], text: string): Answer | null {
  const choices = tools.flatMap(({ name, choices }) => choices.map((choice) => ({ name, ...choice })));
  const best = bestByWords(choices, text);
  const choice = best && best.score >= enough ? choices[best.index] : undefined;
  if (!choice) return null;
  return choice.name === transferTool
    ? handOver(choice.input)
    : { text: '', call: { name: choice.name, input: choice.input } };
}

function handOver(input: unknown): Answer {
  return { text: 'One moment, I am connecting you.', call: { name: transferTool, input } };
}

function transferable(tools: readonly DialogueTool[]): boolean {
  const transfer = tools.find(({ name }) => name === transferTool);
  return transfer?.choices.some(({ input }) => isDeepStrictEqual(input, anybody)) ?? false;
}

function quoted(authored: string, text: string, mayOffer: boolean): Answer {
  const facts = authored
    .split(/(?<=[.!?]["”']?)\s+|\n+/)
    .filter((sentence) => !instruction.test(sentence.replace(/^[\s\-*•\d.)]+/, '')))
    .join('\n');
  const fact = bestSentence(facts, text);
  if (fact !== null) return { text: fact };
  return { text: mayOffer ? `${unknown} ${offer}` : `${unknown} What else can I do for you?` };
}
