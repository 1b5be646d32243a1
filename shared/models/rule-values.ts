import type { VariableWanted } from '#shared/agent/interfaces.ts';
import { isoDate } from '#shared/agent/key-values.ts';
import { stem, yesOrNo } from './words.ts';

const months = 'january february march april may june july august september october november december'.split(
  ' ',
);

/**
 * Extracts a value of a type from a sentence with simple patterns, or undefined.
 * @param alone whether the sentence answers for this variable only: then a text may be the whole sentence
 */
export function valueIn(
  text: string,
  wanted: VariableWanted,
  alone: boolean,
): string | number | boolean | undefined {
  // "Tuesday, no wait, Thursday": what follows the correction counts, if it has a value.
  const corrected = text.split(correction).at(-1);
  if (corrected === undefined || corrected === text || wanted.type === 'boolean') {
    return plainValueIn(text, wanted, alone);
  }
  return plainValueIn(corrected, wanted, alone) ?? plainValueIn(text, wanted, alone);
}

const correction =
  /[,.]?\s(?:no,? (?:wait|sorry)|(?:oh )?sorry,? (?:i mean|no|make that)|i mean|or rather|make that|i meant)\b[,.]?/i;

function plainValueIn(
  text: string,
  wanted: VariableWanted,
  alone: boolean,
): string | number | boolean | undefined {
  switch (wanted.type) {
    case 'integer':
    case 'number':
      return numberIn(text, wanted.type === 'integer');
    case 'boolean':
      return yesOrNo(text) ?? undefined;
    case 'date':
      return dateIn(text);
    case 'string':
      return textIn(text, wanted, alone);
  }
}

function numberIn(text: string, whole: boolean): number | undefined {
  const match = /(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.])-?\d+(?:\.\d+)?/.exec(text);
  if (match) {
    const value = Number(match[0].replaceAll(',', ''));
    return whole && !Number.isInteger(value) ? undefined : value;
  }
  for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
    const digit = stem(word);
    if (/^\d+$/.test(digit)) return Number(digit);
  }
  return undefined;
}

function dateIn(text: string): string | undefined {
  const iso = /\b(\d{4})-(\d{1,2})-(\d{1,2})\b/.exec(text);
  if (iso) return isoDate(iso[1] ?? '', iso[2] ?? '', iso[3] ?? '');
  const slashed = /\b(\d{1,2})\/(\d{1,2})\/(\d{4})\b/.exec(text);
  if (slashed) return isoDate(slashed[3] ?? '', slashed[1] ?? '', slashed[2] ?? '');
  const named =
    /\b([a-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b/i.exec(text) ??
    /\b(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?([a-z]{3,9})\.?,?\s+(\d{4})\b/i.exec(text);
  if (!named) return undefined;
  const [, first = '', second = '', year = ''] = named;
  const [month, day] = /\d/.test(first) ? [second, first] : [first, second];
  const index = months.findIndex((name) => name.startsWith(month.toLowerCase()));
  return index < 0 ? undefined : isoDate(year, String(index + 1), day);
}

function textIn(text: string, wanted: VariableWanted, alone: boolean): string | undefined {
  const about = `${wanted.name} ${wanted.description}`.toLowerCase();
  if (about.includes('email') || about.includes('e-mail'))
    return /(?<![^\s@<>])[^\s@<>]+@[^\s@<>]+\.[a-z]{2,}/i.exec(text)?.[0];
  if (about.includes('phone')) return /\+?\d[\d\s().-]{5,}\d/.exec(text)?.[0].replace(/[^\d+]/g, '');
  if (/\bname\b|_name\b/.test(about)) {
    const named = /\b(?:my name is|this is|i am|i'm|call me|name's|it's)\s+([\p{L}'’. -]{1,60})/iu.exec(text);
    if (named?.[1] !== undefined)
      return named[1].replace(/(?<![.\s])[.\s]+$/, '').split(/(?<!\s)\s+(?:and|but)\s+/)[0];
    if (!/^[\p{L}'’.-]+(?:\s+[\p{L}'’.-]+){0,3}$/u.test(text.trim())) return namedValueIn(text, wanted.name);
  }
  const said = namedValueIn(text, wanted.name);
  if (identifier.test(about)) return identifierIn(said ?? text);
  return said ?? (alone ? withoutLead(text) : undefined);
}

/** "Um, it's Tuesday, please." has `Tuesday`. A text of such words only stays as it is. */
function withoutLead(text: string): string {
  const bare = text
    .trim()
    .replace(/^(?:(?:um+|uh+|er+|hm+|oh|well|so|sure|okay)[,.]?\s+)+/i, '')
    .replace(
      /^(?:it(?:['’]s| is)|that(?:['’]s| is| would be)|i['’]d (?:say|prefer)|make it|let['’]s say)\s+/i,
      '',
    )
    .replace(/,?\s(?:please|thanks|thank you)[.!]*$/i, '')
    .replace(/(?<![.!])[.!]+$/, '')
    .trim();
  return bare === '' ? text.trim() : bare;
}

/** A value that identifies something: digits, letters and marks, not a sentence. */
const identifier =
  /\b(?:number|code|id|pin|reference|zip|postcode|postal code|serial)\b|_(?:number|code|id|pin|ref|zip)\b/;

/** The value after the variable's name: `my account number is 4711, thanks` has `4711`. */
function namedValueIn(text: string, name: string): string | undefined {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  if (words.length === 0) return undefined;
  const named = words.map((word) => word.replaceAll(/[^\p{L}\p{N}]/gu, '')).join('[\\s_-]+');
  const after = new RegExp(
    `\\b${named}(?:\\s+(?:is|are|was|would be|will be)|'s|\\s*[:=])\\s+([^,;!?]+)`,
    'iu',
  );
  const value = after
    .exec(text)?.[1]
    ?.split(/\.(?:\s|$)|(?<!\s)\s+(?:and|but)\s+/)[0]
    ?.trim();
  return value === '' ? undefined : value;
}

const hyphenated = /[\p{L}\d]+(?:-[\p{L}\d]+)*/gu;
const identifierFrom = /[\p{L}\d]+(?:[-/][\p{L}\d]+|[ ]\d+)*/uy;

/** Digits, written or spoken; a single word may be one without a digit. */
function identifierIn(text: string): string | undefined {
  const written = [...text.matchAll(hyphenated)].find(([word]) => /\d/.test(word));
  if (written) {
    identifierFrom.lastIndex = written.index;
    return (identifierFrom.exec(text)?.[0] ?? '').replaceAll(/(?<=\d) (?=\d)/g, '');
  }
  const figures = (text.toLowerCase().match(/[a-z]+/g) ?? []).map(stem).filter((word) => /^\d$/.test(word));
  if (figures.length > 1) return figures.join('');
  const word = text.trim().replace(/(?<![.!?])[.!?]+$/, '');
  return /^[\p{L}\d_-]+$/u.test(word) && yesOrNo(word) === null ? word : undefined;
}
