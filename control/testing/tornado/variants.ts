/**
 * Held-out variants of a scenario: the same caller with other values, other words and another seed. No fix is made from
 * them, so a fix that has learned its scenario by heart fails on them. Pure.
 */
import type { Scenario } from '#shared/api/agent-testing/scenarios.ts';
import { factsIn } from '../callers/facts.ts';

/** Variants of each scenario that a fix made pass. */
export const variantsEach = 3;

/** @param number from 1 */
export function variantOf(scenario: Scenario, number: number): Scenario {
  const others = otherValues(scenario, number);
  const { assertions, input_messages, metadata, request_data, tester_persona_prompt } = scenario;
  return {
    ...scenario,
    tester_persona_prompt: tester_persona_prompt && withOthers(tester_persona_prompt, others),
    input_messages:
      input_messages?.map((line) =>
        line.role === 'user'
          ? { ...line, content: reworded(withOthers(line.content, others, true), number) }
          : line,
      ) ?? null,
    metadata: metadata && changed(metadata, others),
    request_data: request_data && changed(request_data, others),
    assertions: assertions.map((one) => ({ ...one, config: changed(one.config, others) })),
  };
}

/** Lines are said with and without hesitation. */
function reworded(line: string, number: number): string {
  return number % 2 === 1 ? line : `Um, ${line}`;
}

/** By value. */
type Others = ReadonlyMap<string, string>;

function otherValues(scenario: Scenario, number: number): Others {
  const facts: unknown = scenario.metadata?.facts;
  const given = typeof facts === 'object' && facts !== null ? { ...facts } : {};
  const known = factsIn(scenario.tester_persona_prompt ?? '', given).map(({ value }) => value);
  const said = (scenario.input_messages ?? []).flatMap(({ content, role }) =>
    role === 'user' ? [...content.matchAll(/\b\d[\d-]*\b/g)].map(([digits]) => digits) : [],
  );
  const found = new Map<string, string>();
  for (const value of [...known, ...said]) {
    const other = otherValue(value, number);
    if (other !== value && !isExpected(scenario, value)) found.set(value, other);
  }
  return found;
}

/**
 * Whether an assertion expects a value where no other one is put in its place: in a pattern or URL, or a figure within a
 * sentence, which may count something else. The caller keeps it, so that a right agent passes the variant.
 */
function isExpected({ assertions }: Scenario, value: string): boolean {
  const alone = new RegExp(`(?<![\\p{L}\\p{N}])${escaped(value)}(?![\\p{L}\\p{N}])`, 'u');
  let found = false;
  JSON.stringify(
    assertions.map(({ config }) => config),
    (name, member: unknown) => {
      if (typeof member === 'string' && !/_ids?$/.test(name)) {
        const fixed = /^url$|^pattern$/.test(name) || (value.length < 3 && member.trim() !== value);
        found ||= fixed && alone.test(member);
      }
      return member;
    },
  );
  return found;
}

const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const month = /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\d{4}-\d{2}-\d{2}|\d\/\d/i;

/** Of the same form. A date stays: the form in which an assertion expects it is not known. */
function otherValue(value: string, number: number): string {
  if (month.test(value)) return value;
  const day = days.findIndex((one) => value.includes(one));
  const name = days[day];
  if (name !== undefined) return value.replace(name, days[(day + number) % days.length] ?? name);
  // The hour of a time, never more than there are.
  const hour = /^\d{1,2}(?=:[0-5]\d\b)/.exec(value)?.[0];
  if (hour !== undefined) {
    const late = Number(hour) > 12 || Number(hour) === 0;
    const next = late ? 13 + ((Number(hour) + 9 + number) % 11) : ((Number(hour) - 1 + number) % 12) + 1;
    return value.replace(hour, hour.startsWith('0') ? String(next).padStart(2, '0') : String(next));
  }
  // A single figure may be a rating or a count: it stays above zero.
  if (/^\d$/.test(value)) return String(((Number(value) - 1 + 2 * number) % 9) + 1);
  return value.replaceAll(/\d/g, (digit, at: number) => {
    const isFirst = at === 0 || /\D/.test(value[at - 1] ?? '');
    if (!isFirst) return String((Number(digit) + 3 * number) % 10);
    const leads = digit === '0' && /\d/.test(value[at + 1] ?? '');
    return leads ? digit : String(((Number(digit) + number - 1) % 9) + 1);
  });
}

/**
 * In one pass: the other value of one may be the value of another.
 * @param everywhere also a single figure within a sentence, which elsewhere may count something else
 */
function withOthers(text: string, others: Others, everywhere = false): string {
  if (others.size === 0) return text;
  const places = [...others.keys()]
    .toSorted((a, b) => b.length - a.length)
    .map((value) =>
      value.length < 3 && !everywhere
        ? `(?<=[:=] ?|^)${escaped(value)}(?= ?$)`
        : `(?<![\\p{L}\\p{N}])${escaped(value)}(?![\\p{L}\\p{N}])`,
    );
  return text.replaceAll(new RegExp(places.join('|'), 'gmu'), (value) => others.get(value) ?? value);
}

/** Values are replaced; names of members, and ids of nodes, stay. */
function changed<T>(value: T, others: Others): T {
  return JSON.parse(JSON.stringify(value), (name, member: unknown) => {
    if (/_ids?$|^reference_path$|^url$|^pattern$/.test(name)) return member;
    if (typeof member === 'string') return withOthers(member, others);
    const other = typeof member === 'number' ? others.get(String(member)) : undefined;
    return other === undefined || Number.isNaN(Number(other)) ? member : Number(other);
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
