/** What a graph says for all of its nodes (contract 11.1). */

import { counted } from '../counted.ts';
import type { Pronunciation } from '../pronunciation-entry.ts';
import { pronunciationSizes as sizes } from '../pronunciation-sizes.ts';
import { isObject, type ProblemList } from './graph-problem.ts';

export interface GlobalConfig {
  readonly globalPrompt: string;
  readonly pronunciations: readonly Pronunciation[];
}

export const noGlobalConfig: GlobalConfig = { globalPrompt: '', pronunciations: [] };

/** @param path of `config` in the graph */
export function readGlobalConfig(config: unknown, path: string, problems: ProblemList): GlobalConfig {
  if (!isObject(config)) {
    problems.add(path, 'object', 'globalConfig must be an object');
    return noGlobalConfig;
  }
  const { globalPrompt = null, pronunciations = null } = config;
  if (globalPrompt !== null && typeof globalPrompt !== 'string')
    problems.add(`${path}/globalPrompt`, 'value', 'globalPrompt must be a text');
  return {
    globalPrompt: typeof globalPrompt === 'string' ? globalPrompt : '',
    pronunciations: readPronunciations(pronunciations, `${path}/pronunciations`, problems),
  };
}

function readPronunciations(value: unknown, path: string, problems: ProblemList): Pronunciation[] {
  if (value === null) return [];
  if (!Array.isArray(value)) {
    problems.add(path, 'array', 'pronunciations must be an array of { text, say }');
    return [];
  }
  if (value.length > sizes.entries)
    problems.add(path, 'size', `pronunciations has at most ${counted(sizes.entries, 'entry', 'entries')}`);
  return value.flatMap((entry: unknown, index): Pronunciation[] => {
    const { text, say, whole_words = true, match_case = false } = isObject(entry) ? entry : {};
    const isRight =
      isText(text, sizes.text) &&
      isText(say, sizes.say) &&
      typeof whole_words === 'boolean' &&
      typeof match_case === 'boolean';
    if (isRight) return [{ text, say, whole_words, match_case }];
    const rule = `an entry has text (characters: 1 to ${sizes.text}) and say (1 to ${sizes.say}), and may have whole_words and match_case, true or false`;
    problems.add(`${path}/${index}`, 'value', rule);
    return [];
  });
}

function isText(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longest;
}
