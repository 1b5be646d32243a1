/** The English grammar. It takes a quarter of a second to load, so it is loaded on first use. */
import { createRequire } from 'node:module';
import type nlp from 'compromise';

type Grammar = typeof nlp;

const require = createRequire(import.meta.url);
let grammar: Grammar | null = null;

/** What is no word. It tries each part of it. */
const longWord = /(\S{60})\S+/g;

/** @returns the analyzed text, each word cut to 60 characters, to query people, places and dates */
export function english(text: string): ReturnType<Grammar> {
  grammar ??= require('compromise') as Grammar;
  return grammar(text.replaceAll(longWord, '$1'));
}
