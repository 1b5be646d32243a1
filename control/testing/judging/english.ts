/** The grammar of English. It takes a quarter of a second to load, so it waits until somebody asks. */
import { createRequire } from 'node:module';
import type nlp from 'compromise';

type Grammar = typeof nlp;

const require = createRequire(import.meta.url);
let grammar: Grammar | null = null;

/** @returns the text with its people, places and dates to be asked for */
export function english(text: string): ReturnType<Grammar> {
  grammar ??= require('compromise') as Grammar;
  return grammar(text);
}
