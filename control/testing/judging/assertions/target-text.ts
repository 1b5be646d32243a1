/** The part of a conversation that a text assertion checks (contract 6.3 `target`). Pure. */
import type { ConversationRecord, Evidence } from '../ports.ts';

export interface TargetLine {
  readonly text: string;
  /** Index in chat_history; null: a variable. */
  readonly turn: number | null;
}

export interface TargetText {
  readonly name: string;
  /** The searched text. */
  readonly whole: string;
  /** What `equals`, `starts_with` and `ends_with` are applied to. */
  readonly lines: readonly TargetLine[];
  /** What was said in `whole`, by position; empty for a variable. */
  readonly said: readonly { readonly turn: number; readonly start: number; readonly text: string }[];
}

/** A value as text: JSON unless it is a scalar. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/**
 * Typographic quotation marks, apostrophes, dashes and spaces as they are on a keyboard, and accents as part of their
 * letters: texts are compared so, because who writes an assertion cannot see the difference. One character for one in a
 * text whose accents are so already.
 */
export function keyboardText(text: string): string {
  return text
    .normalize('NFC')
    .replaceAll(/[‘’‚‛ʼ´`]/g, "'")
    .replaceAll(/[“”„‟«»]/g, '"')
    .replaceAll(/[‐‑‒–—]/g, '-')
    .replaceAll(/[\s\u2800\u3164]/g, ' ');
}

/** Null: the variable does not exist. */
export function targetText(record: ConversationRecord, target = 'transcript'): TargetText | null {
  if (target.startsWith('variables.')) {
    const name = target.slice('variables.'.length);
    const value = Object.hasOwn(record.variables, name) ? record.variables[name] : undefined;
    if (value === undefined || value === null) return null;
    const text = valueText(value).normalize('NFC');
    return { name: target, whole: text, lines: [{ text, turn: null }], said: [] };
  }
  const spoken = record.chat_history.map(({ role, content }, turn) => ({
    role,
    text: content.normalize('NFC'),
    turn,
  }));
  if (target === 'agent' || target === 'user') {
    const role = target === 'agent' ? 'assistant' : 'user';
    const lines = spoken.filter((line) => line.role === role);
    return { name: target, ...joined(lines.map((line) => ({ ...line, prefix: '' }))), lines };
  }
  const all = joined(spoken.map((line) => ({ ...line, prefix: `${line.role}: ` })));
  return { name: target, ...all, lines: [{ text: all.whole, turn: null }] };
}

/** One line for each, and where its text is. */
function joined(
  lines: readonly { readonly prefix: string; readonly text: string; readonly turn: number }[],
): Pick<TargetText, 'whole' | 'said'> {
  let end = 0;
  const said = lines.map(({ prefix, text, turn }) => {
    const start = end + prefix.length;
    end = start + text.length + 1;
    return { turn, start, text };
  });
  return { whole: lines.map(({ prefix, text }) => prefix + text).join('\n'), said };
}

/** Where a part of the searched text was said: its first piece. */
export function evidenceAt({ whole, said }: TargetText, at: number, length: number): Evidence[] {
  for (const { turn, start, text } of said) {
    const [from, to] = [Math.max(at, start), Math.min(at + length, start + text.length)];
    if (from < to) return [{ turn, quote: whole.slice(from, to) }];
  }
  return [];
}

/** Keeps only literal quotes; a quote found in another line than claimed gets that line's turn. */
export function verifiedEvidence(record: ConversationRecord, claimed: readonly Evidence[]): Evidence[] {
  const seen = new Set<string>();
  return claimed.flatMap(({ turn, quote }) => {
    if (quote.trim() === '') return [];
    const there = record.chat_history[turn]?.content.includes(quote) ?? false;
    const found = there ? turn : record.chat_history.findIndex(({ content }) => content.includes(quote));
    const key = `${found} ${quote}`;
    if (found < 0 || seen.has(key)) return [];
    seen.add(key);
    return [{ turn: found, quote }];
  });
}
