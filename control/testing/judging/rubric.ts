/**
 * Rubrics: the part of a judge's prompt that can be decided without a language model. A prompt may end with a line
 * `Rubric:` and lines `- <statement>` under it, at most 30. Without a model the verdict is exactly these statements;
 * when there are none, one cannot be parsed, or one cannot be decided by rules, there is no verdict. Phrases are in
 * double quotes. The statements:
 *
 *     - agent says one of: "sorry", "understand"      (“I am not sorry” does not count)
 *     - agent tells one of: "is booked", "will call you"    (as the first, but not in a question)
 *     - agent never says: "calm down"
 *     - agent never insults
 *     - agent speaks at least 1 times        (also: at most)
 *     - agent asks at least 1 questions      (also: at most)
 *     - agent says at most 60 words at once
 *     - agent never says a line 3 times
 *     - agent answers every caller line
 *     - agent ends the call                  (also: never ends the call, ends or transfers the call)
 *     - agent leaves no gaps      (“So  on , is that right?”)
 *     - agent settles the matter  (says that it is done, asks whether there is more, or transfers the call)
 *     - caller never gives up     (of callers without a model)
 *     - agent transfers to +14155550100
 *     - conversation ends before the turn limit
 *     - variable appointment_date is known
 */
import { setImmediate } from 'node:timers/promises';
import { type Affirmation, affirmation, telling } from './affirmed.ts';
import { insultIn } from './insults.ts';
import { phraseIn, plainText } from './lexicon.ts';
import type { ConversationRecord, Evidence } from './ports.ts';
import { gap, givesUp, saysDone, statements } from './settled.ts';

interface Finding {
  /** Null: rules cannot tell. */
  readonly holds: boolean | null;
  readonly evidence: readonly Evidence[];
}

type Statement = (record: ConversationRecord) => Finding;

interface StatementForm {
  readonly pattern: RegExp;
  /** Null: it cannot be parsed. */
  readonly read: (match: RegExpExecArray) => Statement | null;
  /** The record alone decides it, not what words mean. */
  readonly isFact?: true;
  /** It only forbids words, so an agent that says nothing satisfies it. */
  readonly isProhibition?: true;
}

const forms: readonly StatementForm[] = [
  {
    pattern: /^agent says one of: (.+)$/i,
    read: ([, list = '']) =>
      withPhrases(list, (wanted) => (record) => affirmed(record, (text) => [affirmation(text, wanted)])),
  },
  {
    pattern: /^agent tells one of: (.+)$/i,
    read: ([, list = '']) =>
      withPhrases(
        list,
        (wanted) => (record) =>
          affirmed(record, (text) => statements(text).map((one) => telling(one, wanted))),
      ),
  },
  {
    isProhibition: true,
    pattern: /^agent never says: (.+)$/i,
    read: ([, list = '']) => withPhrases(list, (unwanted) => (record) => never(record, unwanted)),
  },
  { isProhibition: true, pattern: /^agent never insults$/i, read: () => insultsNobody },
  {
    pattern: /^agent speaks at (least|most) (\d+) times?$/i,
    read:
      ([, way, count]) =>
      (record) =>
        compare(agentLines(record).length, way, Number(count)),
  },
  {
    pattern: /^agent asks at (least|most) (\d+) questions?$/i,
    read:
      ([, way, count]) =>
      (record) => {
        const asked = agentLines(record).flatMap(({ text, turn }) =>
          text.includes('?') ? [{ text, turn }] : [],
        );
        const evidence = asked.slice(0, 3).map(({ text, turn }) => ({ turn, quote: text }));
        return { ...compare(asked.length, way, Number(count)), evidence };
      },
  },
  {
    isProhibition: true,
    pattern: /^agent says at most (\d+) words at once$/i,
    read:
      ([, most]) =>
      (record) => {
        const long = agentLines(record).find(({ text }) => words(text) > Number(most));
        return { holds: !long, evidence: long ? [{ turn: long.turn, quote: long.text }] : [] };
      },
  },
  {
    isProhibition: true,
    pattern: /^agent never says a line (\d+) times$/i,
    read:
      ([, times]) =>
      (record) => {
        const counts = new Map<string, number>();
        for (const { text, turn } of agentLines(record)) {
          const line = spokenText(text);
          const count = (counts.get(line) ?? 0) + 1;
          counts.set(line, count);
          if (count >= Number(times)) return { holds: false, evidence: [{ turn, quote: text }] };
        }
        return { holds: true, evidence: [] };
      },
  },
  {
    pattern: /^agent answers every caller line$/i,
    read:
      () =>
      ({ chat_history: lines, ending }) => {
        const silent = lines.findIndex(({ role }, index) => {
          // No answer is expected to the words with which a caller hangs up.
          const last = index === lines.length - 1 && ending.by === 'caller';
          return role === 'user' && !last && lines[index + 1]?.role !== 'assistant';
        });
        const quote = lines[silent]?.content ?? '';
        return { holds: silent < 0, evidence: quote === '' ? [] : [{ turn: silent, quote }] };
      },
  },
  {
    isProhibition: true,
    pattern: /^agent leaves no gaps$/i,
    read: () => (record) => {
      const said = firstSaid(record, (text) => gap.test(text));
      return { holds: said === null, evidence: said ? [said] : [] };
    },
  },
  {
    pattern: /^agent settles the matter$/i,
    read: () => (record) => {
      const found = affirmed(record, (text) => [saysDone(text)]);
      return record.ending.by === 'transfer' ? { ...found, holds: true } : found;
    },
  },
  {
    pattern: /^caller never gives up$/i,
    read:
      () =>
      ({ ending: { by, reason } }) => ({
        holds: !(by === 'caller' && Object.values(givesUp).some((one) => one === reason)),
        evidence: [],
      }),
  },
  { isFact: true, pattern: /^agent ends the call$/i, read: () => endedBy(['agent']) },
  {
    isFact: true,
    pattern: /^agent ends or transfers the call$/i,
    read: () => endedBy(['agent', 'transfer']),
  },
  {
    isFact: true,
    pattern: /^agent transfers to (\S+)$/i,
    read:
      ([, target = '']) =>
      ({ ending: { by, transferred_to } }) => ({
        holds: by === 'transfer' && transferred_to === target,
        evidence: [],
      }),
  },
  {
    isFact: true,
    pattern: /^agent never ends the call$/i,
    read:
      () =>
      ({ ending }) => ({ holds: ending.by !== 'agent', evidence: [] }),
  },
  {
    isFact: true,
    pattern: /^conversation ends before the turn limit$/i,
    read:
      () =>
      ({ ending }) => ({ holds: ending.by !== 'max_turns', evidence: [] }),
  },
  {
    isFact: true,
    pattern: /^variable (\S+) is known$/i,
    read:
      ([, name = '']) =>
      ({ variables }) => {
        const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
        return { holds: value !== undefined && value !== null && value !== '', evidence: [] };
      },
  },
];

export type RubricAnswer =
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly line: string }
  /** All statements forbid words, and the agent said none. */
  | { readonly kind: 'silent' }
  | {
      readonly kind: 'decided';
      /** 0..1: share of the statements that hold */
      readonly share: number;
      readonly reasoning: string;
      readonly evidence: readonly Evidence[];
    }
  /** A statement can only be decided by reading. */
  | {
      readonly kind: 'doubtful';
      readonly line: string;
      readonly quote: string;
      /** Whether another statement does not hold, so that not all of them can. */
      readonly fails: boolean;
      readonly reasoning: string;
      readonly evidence: readonly Evidence[];
    };

/** Why there is no verdict on an agent that is `silent`. */
export const saidNothing = 'The agent said nothing, and the rubric only says what it must not say.';

/** Statements per prompt, and phrases per statement. */
const mostStatements = 30;
const mostPhrases = 30;

/** Evaluates a prompt's rubric on a conversation. Yields to other work between two statements. */
export async function applyRubric(prompt: string, record: ConversationRecord): Promise<RubricAnswer> {
  const lines = rubricLines(prompt);
  if (lines.length === 0) return { kind: 'none' };
  if (lines.length > mostStatements) {
    return { kind: 'unreadable', line: `more than ${mostStatements} statements` };
  }
  const statements = lines.map((line) => ({ line, statement: readStatement(line) }));
  const findings: (Finding & { line: string })[] = [];
  for (const { line, statement } of statements) {
    if (!statement) return { kind: 'unreadable', line };
    findings.push({ line: line.replace(/\.$/, ''), ...statement(record) });
    await setImmediate();
  }
  const isSilent = agentLines(record).every(({ text }) => text.trim() === '');
  if (isSilent && lines.every(isProhibition)) return { kind: 'silent' };
  const facts = {
    reasoning: findings.map(({ line, holds }) => `${found(holds)}: ${line}.`).join(' '),
    evidence: findings.flatMap(({ evidence }) => evidence),
  };
  const open = findings.find(({ holds }) => holds === null);
  if (open) {
    const fails = findings.some(({ holds }) => holds === false);
    return { kind: 'doubtful', line: open.line, quote: open.evidence[0]?.quote ?? '', fails, ...facts };
  }
  const held = findings.filter(({ holds }) => holds).length;
  return { kind: 'decided', share: held / findings.length, ...facts };
}

function found(holds: boolean | null): string {
  if (holds === null) return 'Cannot be decided by rules';
  return holds ? 'Holds' : 'Does not hold';
}

/** What the record decides of a prompt's rubric: endings, transfers, variables. The rest is for a judge. */
export function recordFacts(prompt: string, record: ConversationRecord): { text: string; holds: boolean }[] {
  return rubricLines(prompt)
    .slice(0, mostStatements)
    .flatMap((line) => {
      const text = line.replace(/\.$/, '');
      const form = forms.find(({ isFact, pattern }) => isFact === true && pattern.test(text));
      const match = form?.pattern.exec(text);
      const statement = form && match ? form.read(match) : null;
      return statement ? [{ text, holds: statement(record).holds === true }] : [];
    });
}

/** The first statement that cannot be parsed, or null; for rubrics without other text. */
export function unreadableStatement(rubric: string): string | null {
  return rubricLines(`Rubric:\n${rubric}`).find((line) => readStatement(line) === null) ?? null;
}

/** Everything under the heading, so that a malformed line is not skipped. */
function rubricLines(prompt: string): string[] {
  const lines = prompt.split('\n').map((line) => line.trim());
  const start = lines.findLastIndex((line) => /^rubric:$/i.test(line));
  if (start < 0) return [];
  return lines.slice(start + 1).flatMap((line) => (line === '' ? [] : [line.replace(/^[-*•]\s+/, '')]));
}

function isProhibition(line: string): boolean {
  return forms.find(({ pattern }) => pattern.test(line.replace(/\.$/, '')))?.isProhibition === true;
}

function readStatement(line: string): Statement | null {
  const plain = line.replace(/\.$/, '');
  for (const { pattern, read } of forms) {
    const match = pattern.exec(plain);
    if (match) return read(match);
  }
  return null;
}

const quoted = /["“”]([^"“”]*)["“”]/g;

/** Null for a list with unquoted parts: without its phrases “never says” would always hold. */
function withPhrases(list: string, make: (phrases: readonly string[]) => Statement): Statement | null {
  const phrases = new Set([...list.matchAll(quoted)].map(([, phrase = '']) => phrase.trim()));
  const between = list.replaceAll(quoted, '');
  const readable = /^(?:\s|,|or)*$/i.test(between) && phrases.size > 0 && !phrases.has('');
  return readable && phrases.size <= mostPhrases ? make([...phrases]) : null;
}

function agentLines({ chat_history }: ConversationRecord): { text: string; turn: number }[] {
  return chat_history.flatMap(({ role, content: text }, turn) =>
    role === 'assistant' ? [{ text, turn }] : [],
  );
}

function firstSaid(record: ConversationRecord, isWanted: (text: string) => boolean): Evidence | null {
  for (const { text, turn } of agentLines(record)) if (isWanted(text)) return { turn, quote: text };
  return null;
}

/** Holds when one line says it for sure, and stays open when one may say it. */
function affirmed(record: ConversationRecord, read: (text: string) => readonly Affirmation[]): Finding {
  const said = firstSaid(record, (text) => read(text).includes('said'));
  if (said) return { holds: true, evidence: [said] };
  const doubt = firstSaid(record, (text) => read(text).includes('doubtful'));
  return doubt ? { holds: null, evidence: [doubt] } : { holds: false, evidence: [] };
}

function never(record: ConversationRecord, unwanted: readonly string[]): Finding {
  const said = firstSaid(record, (text) => phraseIn(text, unwanted) !== null);
  return { holds: said === null, evidence: said ? [said] : [] };
}

function insultsNobody(record: ConversationRecord): Finding {
  let doubt: Evidence | null = null;
  for (const { text, turn } of agentLines(record)) {
    const found = insultIn(text);
    if (found.kind === 'insult') return { holds: false, evidence: [{ turn, quote: found.quote }] };
    if (found.kind === 'doubtful') doubt ??= { turn, quote: found.quote };
  }
  return doubt === null ? { holds: true, evidence: [] } : { holds: null, evidence: [doubt] };
}

function endedBy(who: readonly string[]): Statement {
  return ({ ending }) => ({ holds: who.includes(ending.by), evidence: [] });
}

function compare(count: number, way: string | undefined, limit: number): Finding {
  return { holds: way?.toLowerCase() === 'least' ? count >= limit : count <= limit, evidence: [] };
}

/** Equal for lines that sound alike: without punctuation, which nobody hears. */
function spokenText(text: string): string {
  const words = plainText(text)
    .replaceAll(/[^\p{L}\p{N}']+/gu, ' ')
    .trim();
  return words === '' ? text : words;
}

/** Number of words. */
function words(text: string): number {
  return text.split(/\s+/).filter((part) => part !== '').length;
}
