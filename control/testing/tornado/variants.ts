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
  const known = factsIn(scenario.tester_persona_prompt ?? '', given);
  const lines = (scenario.input_messages ?? []).flatMap(({ content, role }) =>
    role === 'user' ? [content] : [],
  );
  const said = lines.flatMap((line) => [...line.matchAll(saidValue)].map(([value]) => value));
  const hours = new Set([
    ...known.flatMap(({ key, value }) =>
      /\b(?:time|hour)s?\b/.test(key) && plainTime.test(value) ? [value] : [],
    ),
    ...[...known.map(({ value }) => value), ...lines].flatMap((text) =>
      [...text.matchAll(spokenHour)].map(([hour]) => hour),
    ),
  ]);
  const found = new Map<string, string>();
  for (const value of [...known.map((fact) => fact.value), ...said]) {
    const other = hours.has(value) ? otherHour(value, number) : otherValue(value, number);
    // One that stays is told, too: its other forms then stay with it.
    found.set(value, isExpected(scenario, value) ? value : other);
  }
  return withoutOtherForms(scenario, found);
}

/** Times as a whole, and other figures. */
const saidValue =
  /\bat \d{1,2}\b(?![:.-]?\d)|\b\d{1,2}(?: ?[ap]\.?m\b| o['’]clock\b)|\b\d{1,2}:[0-5]\d(?:[ap]m)?\b|\b\d[\d-]*\b/gi;
/** The hour of `10:30`, `10 am`, `10 o'clock` and `at 10`. */
const spokenHour =
  /(?<![\d:.-])\d{1,2}(?=:[0-5]\d(?!\d)| ?[ap]\.?m\b| o['’]clock\b)|(?<=\bat )\d{1,2}(?![:.-]?\d)/gi;
/** `10`, or with minutes `1030`, of what is called a time. */
const plainTime = /^(\d{1,2})([0-5]\d)?$/;

/** Of the same part of the day and with as many figures, so that what counts figures or knows opening hours still holds. */
const hoursAlike: readonly (readonly string[])[] = [
  ['1', '2', '3', '4', '5'],
  ['6', '7', '8', '9'],
  ['01', '02', '03', '04', '05'],
  ['06', '07', '08', '09'],
  ['10', '11'],
  ['13', '14', '15', '16', '17'],
  ['18', '19', '20', '21', '22', '23', '00'],
];

/** Noon and midnight stay: with "am" and "pm" they are the other way round than the hours beside them. */
function otherHour(time: string, number: number): string {
  const [, hour = time, minutes = ''] = plainTime.exec(time) ?? [];
  const alike = hoursAlike.find((hours) => hours.includes(hour));
  if (!alike) return time;
  // Not the same hour again, whatever the number of the variant.
  const step = 1 + ((number - 1) % (alike.length - 1));
  return `${alike[(alike.indexOf(hour) + step) % alike.length]}${minutes}`;
}

/**
 * Without values that the scenario has in another form, too, which would not be replaced alike: `10:30` is keyed as
 * `1030`, or an assertion expects the `7` of `7 pm`.
 */
function withoutOtherForms({ assertions }: Scenario, found: ReadonlyMap<string, string>): Others {
  const left: string[] = [];
  JSON.stringify(
    assertions.map(({ config }) => config),
    (name, member: unknown) => {
      if (typeof member === 'string' && !/_ids?$/.test(name)) left.push(withOthers(member, blanked(found)));
      return member;
    },
  );
  const joined = (text: string) => text.match(/\d[\d:-]*/g)?.map((one) => figuresOf(one).join('')) ?? [];
  const expected = new Set(left.flatMap((text) => [...figuresOf(text), ...joined(text)]));
  const forms = Map.groupBy(found.keys(), (value) => figuresOf(value).join(''));
  const isUnlike = (value: string) => {
    const figures = figuresOf(value);
    const all = figures.join('');
    const others = (forms.get(all) ?? []).map((form) => figuresOf(found.get(form) ?? '').join(''));
    if (new Set(others).size > 1) return true;
    // A single figure of a long number says little.
    const isPart = (one: string) =>
      one === all || (one.length > 3 && (all.includes(one) || (all.length > 3 && one.includes(all))));
    return (
      figures.some((one) => (one.length > 1 || all.length < 5) && expected.has(one)) ||
      [...expected].some(isPart)
    );
  };
  return new Map([...found].filter(([value, other]) => other !== value && !isUnlike(value)));
}

function figuresOf(text: string): string[] {
  return text.match(/\d+/g) ?? [];
}

function blanked(found: ReadonlyMap<string, string>): Others {
  return new Map([...found.keys()].map((value) => [value, ' ']));
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
  const { 0: hour, index = 0 } = [...value.matchAll(spokenHour)][0] ?? {};
  if (hour !== undefined)
    return value.slice(0, index) + otherHour(hour, number) + value.slice(index + hour.length);
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
