/** A tester persona in a form the rules can play: name, goal, facts, sentences to say, and patience with the agent. */
import { quotedTexts } from '#shared/quoted-texts.ts';
import { english } from '../judging/english.ts';
import { type Fact, factsIn } from './facts.ts';
import type { CallerBrief } from './ports.ts';

export interface CallerProfile {
  readonly name: string | null;
  /** The caller's goal, in the first person, as a sentence. */
  readonly goal: string;
  readonly facts: readonly Fact[];
  /** Sentences quoted in the prompt, in order. */
  readonly quotes: readonly string[];
  /** Unhelpful answers before the caller gives up. */
  readonly patience: number;
  /** The whole text, for specific behaviors. */
  readonly text: string;
}

const named =
  /\b(?:[Yy]ou are|[Yy]ou're|I am|[Mm]y name is|[Yy]our name is|named)\s+(\p{Lu}[\p{L}'’-]+(?:\s+\p{Lu}[\p{L}'’-]+){0,2})/u;
const goalLine =
  /^\s*[-*•]?\s*(?:goal|your goal|objective|reason(?: for (?:the|your) call)?)\s*(?::|is(?: to)?)\s*(.+)$/im;
const wish =
  /\b(?:you|i)\s+(?:only\s+|really\s+|just\s+)?(want(?:s)?|need(?:s)?|would like|'d like|wish|are calling|call|called|am calling)\s+(to|about|because|a|an|the|your|my)\b\s*([^.;!?\n]+)/i;
/** What has happened to the caller, in a prompt that names no wish: "You lost your card." */
const happened =
  /(?:^|[.!?]\s+)(You (?:have (?:just |already )?|have been |just |recently |already )?(?:lost|had|forgot|forgotten|broke|missed|got|bought|found|paid|hit|left|sent|received|ordered|crashed|locked|damaged|returned|changed|moved)\b[^.!?\n]*)/m;
/** The goal of a caller whose prompt names none. */
export const neutralGoal = 'I have a question and I need some help.';

/** Of a prompt that says nothing about it. */
export const usualPatience = 4;
const patient = /\b(?:very patient|endless patience|never hang up|patient)\b/i;
const impatient = /\b(?:impatient|in a hurry|short patience|little patience|no patience)\b/i;

/** Cached profiles of recent prompts: a simulation set plays the same persona many times. */
const known = new Map<string, CallerProfile>();
const mostKnown = 200;

/** Parses a scenario's persona. The same text always gives the same profile. */
export function callerProfile(brief: CallerBrief): CallerProfile {
  const prompt = [brief.tester_persona_prompt ?? '', brief.advanced_instructions ?? ''].join('\n');
  const text = madeUp(tidy(prompt));
  const given = factsGiven(brief.metadata);
  const key = JSON.stringify([text, brief.tester_persona_name, given]);
  const before = known.get(key);
  if (before) return before;
  const profile = read(text, brief.tester_persona_name, given);
  const [oldest] = known.keys();
  if (known.size >= mostKnown && oldest !== undefined) known.delete(oldest);
  known.set(key, profile);
  return profile;
}

/** Lines without surrounding or repeated blanks, so that no pattern tries each part of a long run of blanks. */
function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.replaceAll(/\s+/g, ' ').trim());
  return lines.filter((line) => line !== '').join('\n');
}

const inventions: Readonly<Record<string, string>> = {
  'phone number': '+1 415 555 0142',
  number: '4821',
  email: 'alex@example.com',
  url: 'example.com',
  address: '12 Example Street',
  key: 'K7421',
  name: 'Alex Morgan',
};

/** A scenario generated from a call has brackets where something was redacted. */
function madeUp(text: string): string {
  return text.replaceAll(/\[([a-z ]{3,12})\]/g, (found, what: string) => inventions[what] ?? found);
}

/** `metadata.facts`: what the caller knows, by name. */
function factsGiven(metadata: CallerBrief['metadata']): Record<string, unknown> {
  const facts = metadata?.facts;
  return typeof facts === 'object' && facts !== null && !Array.isArray(facts) ? { ...facts } : {};
}

function read(text: string, personaName: string | null, given: Record<string, unknown>): CallerProfile {
  const facts = factsIn(text, given);
  const name =
    facts.find(({ key }) => /^(?:full |first )?name$/.test(key))?.value ?? nameIn(text, personaName);
  const withName =
    name === null || facts.some(({ key }) => /\bname$/.test(key))
      ? facts
      : [...factsIn('', { name }), ...facts];
  return {
    name,
    goal: goalIn(text),
    facts: withName,
    quotes: quotedTexts(text, 3, 500, '\n').map((quoted) => quoted.text),
    patience: impatient.test(text) ? 2 : patient.test(text) ? 6 : usualPatience,
    text,
  };
}

function nameIn(text: string, personaName: string | null): string | null {
  const told = named.exec(text)?.[1];
  if (told !== undefined) return told;
  const own = personaName?.trim() ?? '';
  if (own === '' || /\b(?:caller|customer|mailbox|tester|user|client|service|voicemail|persona)\b/i.test(own))
    return null;
  const person = String(english(own).people().first().text('text')).trim();
  return person !== '' || /^\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*)?$/u.test(own) ? own : null;
}

function goalIn(text: string): string {
  const line = goalLine.exec(text)?.[1];
  if (line !== undefined) {
    const verbatim = /^["“](.+)["”]$/.exec(line.trim())?.[1];
    if (verbatim !== undefined) return verbatim;
    const plain = firstPerson(line.trim().replace(/(?<![.!])[.!]+$/, ''));
    return /^(?:I|my|we)\b/i.test(plain)
      ? `${capital(plain)}.`
      : `I want to ${plain.replace(/^to\s+/i, '')}.`;
  }
  const [, verb = '', link = '', rest = ''] = wish.exec(text) ?? [];
  if (rest.trim() === '') {
    const told = happened.exec(text)?.[1];
    return told === undefined ? neutralGoal : `${firstPerson(told).trim()}.`;
  }
  const what = firstPerson(
    `${link} ${rest}`.split(/,?\s+(?:but|and then|although)\s+|,\s+(?:they|it|this|which|who|he|she)\b/)[0] ??
      '',
  ).trim();
  if (/call/i.test(verb)) return `I am calling ${what}.`;
  return /need/i.test(verb) ? `I need ${what}.` : `I would like ${what}.`;
}

/** Instructions address the caller; the caller speaks in the first person. */
function firstPerson(text: string): string {
  const words: Readonly<Record<string, string>> = {
    you: 'I',
    your: 'my',
    yours: 'mine',
    yourself: 'myself',
    "you're": "I'm",
    'you’re': "I'm",
    they: 'you',
    their: 'your',
    them: 'you',
  };
  const be = text.replaceAll(/\byou (are|were)\b/gi, (_, verb: string) =>
    verb.toLowerCase() === 'are' ? 'I am' : 'I was',
  );
  return be.replaceAll(/[\p{L}'’]+/gu, (word) => words[word.toLowerCase()] ?? word);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
