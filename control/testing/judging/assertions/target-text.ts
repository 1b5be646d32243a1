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
}

/** A value as text: JSON unless it is a scalar. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Null: the variable does not exist. */
export function targetText(record: ConversationRecord, target = 'transcript'): TargetText | null {
  if (target.startsWith('variables.')) {
    const name = target.slice('variables.'.length);
    const value = Object.hasOwn(record.variables, name) ? record.variables[name] : undefined;
    if (value === undefined || value === null) return null;
    const text = valueText(value);
    return { name: target, whole: text, lines: [{ text, turn: null }] };
  }
  const spoken = record.chat_history.map(({ role, content }, turn) => ({ role, text: content, turn }));
  if (target === 'agent' || target === 'user') {
    const role = target === 'agent' ? 'assistant' : 'user';
    const lines = spoken.filter((line) => line.role === role);
    return { name: target, whole: lines.map(({ text }) => text).join('\n'), lines };
  }
  const whole = spoken.map(({ role, text }) => `${role}: ${text}`).join('\n');
  return { name: target, whole, lines: [{ text: whole, turn: null }] };
}

/** Where a part of the searched text was said: the first line that contains it. */
export function evidenceOf(record: ConversationRecord, target: TargetText, quote: string): Evidence[] {
  if (target.name.startsWith('variables.')) return [];
  const role = { agent: 'assistant', user: 'user' }[target.name];
  for (const part of quote.split('\n')) {
    const said = part.replace(/^(user|assistant): /, '');
    if (said === '') continue;
    const turn = record.chat_history.findIndex(
      (line) => (role === undefined || line.role === role) && line.content.includes(said),
    );
    if (turn >= 0) return [{ turn, quote: said }];
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
