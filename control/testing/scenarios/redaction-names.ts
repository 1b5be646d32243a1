/**
 * Names of people revealed in a call: by introducing themselves, by answering who they are, by addressing each other;
 * and well-known names. Rather too many than too few.
 */
import { setImmediate } from 'node:timers/promises';
import { english } from '../judging/english.ts';

interface Line {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

const name = "\\p{Lu}[\\p{L}'’-]+";
const names = `(${name}(?: ${name}){0,2})`;
/**
 * After the first of each, in any case, the second finds a capitalized name. Two patterns, because V8 may find nothing
 * with one that ignores case in a part, `(?i:…)`, depending on the first text it was used on.
 */
const capitals: readonly (readonly [lead: RegExp, name: RegExp])[] = [
  /\b(?:my name is|my name['’]s|name is|name:|this is|i am|i['’]m|it is|it['’]s|call me|speaking with|speak to|speak with|speaking to)/giu,
  /\b(?:mr|mrs|ms|miss|dr|prof|herr|frau|señora?)\.?/giu,
  /\b(?:mein name ist|ich heiße|ich bin|me llamo|mi nombre es|je m['’]appelle)/giu,
].map((lead) => [lead, new RegExp(`[ :]{1,2}${names}`, 'yu')]);
const greeted = /\b(?:thank you|thanks|hi|hello|hey|dear)/giu;
const afterGreeting = new RegExp(`,? (${name})(?=[.,!?])`, 'yu');
const speaker = new RegExp(`(?<![\\p{L}'’-])${names},? (?:here|speaking)\\b`, 'gu');
/** After these the name may be lower case, as in many transcripts. */
const anyCase =
  /\b(?:my name is|my name['’]s|name:|mein name ist|me llamo|mi nombre es) ?([\p{L}'’-]+)(?: ([\p{L}'’-]+))?/giu;
const whoIs =
  /\b(?:name\b[^.!]*\?|who am i speaking|who(?: is|'s|’s) (?:this|calling|speaking)|who do i have|spell (?:that|it|your)|(?:your|the) (?:first |last |full )?name, please)/i;
/** Longer answers are more than a name. */
const answerWords = 3;

/** Words around a name, or after an apparent introduction, that are not names. */
const noNames = new Set(
  `the a an and or but i im it its is are am was be been not no yes yeah yep sure okay ok well so just here there please
  calling speaking mr mrs ms miss dr sorry thanks thank you your my me we he she they that this with from for to of at on in about by as
  his her our their hi hello hey good great fine right correct sir madam maam back later again now today tomorrow when
  if what who how why name names first last full spelled spell need want would like have has do does can could should
  monday tuesday wednesday thursday friday saturday sunday january february july september october november december rather tell unacceptable ridiculous outrageous frustrated angry upset interested looking trying
  ist mein ich und der die das el la de y le et`.split(/\s+/),
);

/** Most characters in which compromise looks for people; it reads some 50 of them in a millisecond. */
const mostCharacters = 40_000;
const mostOfLine = 1000;

/** Words that may be part of a name, in any case. Yields to other work between two lines. */
export async function namesSaid(lines: readonly Line[]): Promise<string[]> {
  const found = answered(lines);
  let left = mostCharacters;
  // The caller's words go into the scenario, so they come first.
  for (const { content } of lines.toSorted((a, b) => Number(a.role !== 'user') - Number(b.role !== 'user'))) {
    found.push(...introduced(content));
    await setImmediate();
    const part = content.slice(0, Math.min(mostOfLine, left));
    if (part === '') continue;
    left -= part.length;
    for (const person of english(part).people().out('array') as string[]) found.push(...nameParts(person));
    await setImmediate();
  }
  return [...new Set(found.map((one) => one.toLowerCase()))];
}

function introduced(text: string): string[] {
  const found = [...capitals, [greeted, afterGreeting] as const].flatMap((pair) => after(text, ...pair));
  for (const [, said = ''] of text.matchAll(speaker)) found.push(said);
  for (const [, first = '', second = ''] of text.matchAll(anyCase)) {
    found.push(first);
    // A surname follows directly or not at all.
    if (isName(first)) found.push(second);
  }
  return found.flatMap(nameParts);
}

/** Matches of the sticky `name` at the end of each `lead`. */
function after(text: string, lead: RegExp, name: RegExp): string[] {
  return [...text.matchAll(lead)].flatMap(({ 0: words, index }) => {
    name.lastIndex = index + words.length;
    return name.exec(text)?.[1] ?? [];
  });
}

/** Short answers to a question for the name. */
function answered(lines: readonly Line[]): string[] {
  return lines.flatMap(({ role, content }, index) => {
    const before = lines[index - 1];
    if (role !== 'user' || before?.role !== 'assistant' || !whoIs.test(before.content)) return [];
    const parts = content.includes('?') ? [] : nameParts(content);
    return parts.length > answerWords ? [] : parts;
  });
}

function nameParts(text: string): string[] {
  return text
    .split(/[^\p{L}'’-]+/u)
    .map((part) => part.replace(/^['’-]+|(?<!['’-])['’-]+$|['’]s$/g, ''))
    .filter(isName);
}

function isName(word: string): boolean {
  return word.length > 1 && !noNames.has(word.toLowerCase().replaceAll(/['’]/g, ''));
}

/** Names that are also everyday words: distinguished by a capital, or by the preceding words. */
const everyday = new Set(
  `al an angel art baker banks bell bill bishop black bob brown buck case chase christian cook day dawn dean do drew duke
  earl eve faith fields ford frank glass good grace grant gray green guy hall he hill hope in ivy jack jean joy king lane
  law lily little long love mark may max miles major mason miller north olive page pat penny pier price prince ray rex
  rich rob rose see she short sky small so star stone street strong sue summer taylor tom van von west white will winter
  wise wood woods young`.split(/\s+/),
);

const leadsToName = /\b(?:name(?: is|['’]s|:)) $/i;

/**
 * Whether a word of a text is one of these names (lower case).
 * @param before at least the preceding ten characters
 */
export function isSaidName(word: string, known: ReadonlySet<string>, before: string): boolean {
  const plain = word.toLowerCase();
  if (!known.has(plain)) return false;
  return word !== plain || !everyday.has(plain) || leadsToName.test(before);
}
