/**
 * Understanding with rules instead of a language model: for deployments without a model, and for tests that need the
 * same result every time. It has no randomness and never invents speech: a prompt yields the sentence it quotes, or
 * itself.
 */
import type {
  EdgeAnswer,
  EdgeQuestion,
  Evaluator,
  Option,
  Understanding,
  Variables,
  VariableWanted,
} from '#shared/agent/interfaces.ts';
import { asText } from '#shared/agent/template.ts';
import { quotedTexts } from '#shared/quoted-texts.ts';
import { conditionByRules } from './rule-conditions.ts';
import { valueIn } from './rule-values.ts';
import { stems } from './words.ts';

/** Name of the rules in results. */
export const ruleEvaluator: Evaluator = { provider: 'embedded', model: 'rules', deterministic: true };

/** Rules for each question of `Understanding`. */
export const ruleEngine: Understanding = {
  evaluator: ruleEvaluator,

  chooseEdge: async (question) => chooseByWords(question),

  extract: async ({ text, wanted, variables }) => {
    const found = wanted.map((variable) => [variable.name, valueIn(text, variable, false)] as const);
    const values = Object.fromEntries(found.filter(([, value]) => value !== undefined));
    const answered = wholeAnswer(wanted, variables, values);
    const whole = answered && valueIn(text, answered, true);
    return answered && whole !== undefined ? { ...values, [answered.name]: whole } : values;
  },

  generate: async ({ prompt, knowledge, history }) => {
    const note = 'no language model is configured';
    const asked = history.at(-1)?.role === 'user' ? history.at(-1)?.text : undefined;
    if (knowledge !== null && asked !== undefined) {
      const answer = bestSentence(knowledge, asked);
      if (answer !== null)
        return { text: answer, note: `${note}: the nearest sentence of the knowledge base is spoken` };
      if (prompt === '') {
        return {
          text: 'I have no answer to that.',
          note: `${note}, and the knowledge base has no matching sentence`,
        };
      }
    }
    const quoted = quotedSentence(prompt);
    return quoted === null
      ? { text: prompt, note: `${note}: the prompt itself is spoken` }
      : { text: quoted, note: `${note}: the sentence quoted in the prompt is spoken` };
  },

  conditionHolds: async (question) => conditionByRules(question),
};

/** The text that a whole sentence may be: the only one that is wanted, or the only one that is not known yet. */
function wholeAnswer(
  wanted: readonly VariableWanted[],
  variables: Variables,
  found: Variables,
): VariableWanted | undefined {
  const texts = wanted.filter(({ type }) => type === 'string');
  const [only, more] = texts.length > 1 ? texts.filter(({ name }) => asText(variables[name]) === '') : texts;
  // A sentence that names another variable answers for that one.
  const isTaken = texts.some(({ name }) => name in found);
  return more || (isTaken && texts.length > 1) ? undefined : only;
}

function chooseByWords({ text, options, otherwise }: EdgeQuestion): EdgeAnswer {
  const best = bestByWords(options, text);
  if (best) return { choice: best.index, reason: `best word match for "${text}"` };
  const own = options.filter((option) => !option.global);
  const [only] = own;
  if (only && own.length === 1 && !otherwise) {
    return { choice: options.indexOf(only), reason: 'it is the only option' };
  }
  return { choice: null, reason: `no option matches "${text}" by its words` };
}

type Labelled = Pick<Option, 'label' | 'description'>;

/**
 * The option that shares most words with a sentence, or null when none shares any. Words of a label weigh twice those
 * of a description; the share of the label's words that were said breaks ties.
 * @returns `score`: 1 for one word of a description, at least 2 for one of a label
 */
export function bestByWords(
  options: readonly Labelled[],
  text: string,
): { readonly index: number; readonly score: number } | null {
  const said = new Set(stems(text));
  let best: { index: number; score: number } | null = null;
  for (const [index, option] of options.entries()) {
    const score = overlap(option, said);
    if (score > 0 && (best === null || score > best.score)) best = { index, score };
  }
  return best;
}

function overlap(option: Labelled, said: ReadonlySet<string>): number {
  const label = stems(option.label);
  const description = stems(option.description).filter((word) => !label.includes(word));
  const inLabel = label.filter((word) => said.has(word)).length;
  const inDescription = description.filter((word) => said.has(word)).length;
  if (inLabel + inDescription === 0) return 0;
  return 2 * inLabel + inDescription + inLabel / (label.length + 1);
}

/** The sentence of a text that shares most words with a question, or null when none shares any. */
export function bestSentence(knowledge: string, question: string): string | null {
  const asked = new Set(stems(question));
  let best: { text: string; score: number } | null = null;
  for (const part of knowledge.split(/(?<=[.!?])\s+|\n+/)) {
    const score = stems(part).filter((word) => asked.has(word)).length;
    if (score > 0 && (best === null || score > best.score)) best = { text: part.trim(), score };
  }
  return best?.text ?? null;
}

/** The longest quoted text of at least two words: prompts often contain the sentence to say. */
export function quotedSentence(prompt: string): string | null {
  const quotes = quotedTexts(prompt, 3, 1000).map(({ text }) => text);
  const sentences = quotes.filter((text) => /\S\s+\S/.test(text)).sort((a, b) => b.length - a.length);
  return sentences[0] ?? null;
}
