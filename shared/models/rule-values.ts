import type { VariableWanted } from '#shared/agent/interfaces.ts';
import { isoDate } from '#shared/agent/key-values.ts';
import { stem, yesOrNo } from './words.ts';

const months = 'january february march april may june july august september october november december'.split(
  ' ',
);

/**
 * Takes a value of a type out of a sentence by plain patterns, or undefined.
 * @param alone whether the sentence answers for this variable only: then a text may be the whole sentence
 */
export function valueIn(
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
    return /[^\s@<>]+@[^\s@<>]+\.[a-z]{2,}/i.exec(text)?.[0];
  if (about.includes('phone')) return /\+?\d[\d\s().-]{5,}\d/.exec(text)?.[0].replace(/[^\d+]/g, '');
  if (/\bname\b|_name\b/.test(about)) {
    const named = /\b(?:my name is|this is|i am|i'm|call me|name's|it's)\s+([\p{L}'’. -]{1,60})/iu.exec(text);
    if (named?.[1] !== undefined) return named[1].replace(/[.\s]+$/, '').split(/\s+(?:and|but)\s+/)[0];
    if (!/^[\p{L}'’.-]+(?:\s+[\p{L}'’.-]+){0,3}$/u.test(text.trim())) return undefined;
  }
  return alone ? text.trim() : undefined;
}
