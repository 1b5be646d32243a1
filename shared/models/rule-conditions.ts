/**
 * Whether a node's condition holds, by rules: comparisons of variables joined by "and" and "or". Of other words rules
 * know only whether the variables that they name, and those of the node, are known.
 */
import type { Understanding, Variables, VariableWanted } from '#shared/agent/interfaces.ts';
import { asText, fillTemplate, lookUp } from '#shared/agent/template.ts';
import { compare } from '#shared/agent/webhook-node.ts';

type Question = Parameters<Understanding['conditionHolds']>[0];
interface Verdict {
  readonly holds: boolean;
  readonly reason: string;
}

interface Comparison {
  readonly name: string;
  readonly operator: string;
  readonly expected: string;
}

export function conditionByRules({ condition, template = condition, variables, wanted }: Question): Verdict {
  const known: Known = { variables, wanted };
  const verdicts: Verdict[] = [];
  let before: Comparison | null = null;
  const isCompared = parts(template, /\s(?:or|and)\s+|(?:\|\||&&)\s*/i).some((part) =>
    comparisonIn(part, known),
  );
  if (!isCompared) return prose(template, known);
  for (const alternative of parts(template, /\sor\s+|\|\|\s*/i)) {
    const all: Verdict[] = [];
    for (const part of parts(alternative, /\sand\s+|&&\s*/i)) {
      const found: Comparison | null = comparisonIn(part, known) ?? sameWith(part, before);
      before = found ?? before;
      all.push(found ? compared(found, known) : prose(part, known));
    }
    const broken = all.find(({ holds }) => !holds);
    verdicts.push(broken ?? { holds: true, reason: all.map(({ reason }) => reason).join(', ') });
  }
  const [first] = verdicts;
  const holding = verdicts.find(({ holds }) => holds);
  if (holding) return holding;
  return verdicts.length > 1 || !first
    ? { holds: false, reason: verdicts.map(({ reason }) => reason).join(', ') }
    : first;
}

type Known = { readonly variables: Variables; readonly wanted: readonly VariableWanted[] };

/** Splits outside of quotation marks; the parts are trimmed. */
function parts(text: string, by: RegExp): string[] {
  const quotes: string[] = [];
  const bare = text.replaceAll(/"[^"]*"|'[^']*'/g, (quoted) => `\u0000${quotes.push(quoted) - 1}\u0000`);
  return bare
    .split(by)
    .map((part) => part.replaceAll(/\0(\d+)\0/g, (_all, index) => quotes[Number(index)] ?? '').trim());
}

const name = String.raw`(?:\{\{\s*([^{}\s]+)\s*\}\}|([A-Za-z_][\w.]*))`;
const symbols = new RegExp(
  `^${name}\\s*(===?|=|!==?|>=|<=|>|<|\\s(?:contains|not contains|does not contain)\\s)\\s*(.*)$`,
  'is',
);
const words = new RegExp(`^${name}\\s+(is not|is|equals|not equals)\\s+(.*)$`, 'is');
const presence = /^(?:known|set|given|filled|present|not empty)\.?$/i;
const absence = /^(?:unknown|missing|empty|not (?:known|set|given|filled|present))\.?$/i;

function comparisonIn(part: string, known: Known): Comparison | null {
  const bare = part.startsWith('(') && part.endsWith(')') ? part.slice(1, -1).trim() : part;
  const signs = symbols.exec(bare);
  const said = signs ?? words.exec(bare);
  if (!said) return null;
  const [, referred, plain = '', operator = '', value = ''] = said;
  const comparison = {
    name: referred ?? plain,
    operator: operator.trim().toLowerCase(),
    expected: unquoted(fillTemplate(value, known.variables)),
  };
  if (signs || referred !== undefined) return comparison;
  // "the order is confirmed" compares nothing, unless there is a variable of that name.
  const isVariable =
    lookUp(known.variables, plain) !== undefined || known.wanted.some((one) => one.name === plain);
  return isVariable || named(plain).length > 0 ? comparison : null;
}

/** "plan == gold or silver" compares the same variable twice. */
function sameWith(part: string, before: Comparison | null): Comparison | null {
  return before && /^(?:"[^"]*"|'[^']*'|[\w.-]+)$/.test(part)
    ? { ...before, expected: unquoted(part) }
    : null;
}

function unquoted(value: string): string {
  const text = value.trim();
  return /^(["']).*\1$/s.test(text) ? text.slice(1, -1) : text;
}

function compared({ name: path, operator, expected }: Comparison, { variables }: Known): Verdict {
  const value = lookUp(variables, path);
  const text = asText(value);
  const reason = text === '' ? `${path} is not known` : `${path} is "${text}"`;
  const isWord = operator === 'is' || operator === 'is not';
  if (isWord && presence.test(expected)) return { holds: (text !== '') === (operator === 'is'), reason };
  if (isWord && absence.test(expected)) return { holds: (text === '') === (operator === 'is'), reason };
  // What is not known is neither equal nor unequal to a value.
  return { holds: (text !== '' || expected === '') && compare(value, operator, expected), reason };
}

/** Names of variables in words: `{{plan}}`, and such as account_number. */
function named(text: string): string[] {
  const referred = [...text.matchAll(/\{\{\s*([^{}\s]+)\s*\}\}/g)].map(([, path = '']) => path);
  return [...referred, ...(text.match(/\b[A-Za-z]\w*_\w+\b/g) ?? [])];
}

function prose(text: string, { variables, wanted }: Known): Verdict {
  const names = new Set([...wanted.map((one) => one.name), ...named(text)]);
  const missing = [...names].filter((path) => asText(lookUp(variables, path)) === '');
  return missing.length === 0
    ? { holds: true, reason: 'every variable of the node is known' }
    : { holds: false, reason: `not known yet: ${missing.join(', ')}` };
}
