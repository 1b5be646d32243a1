/**
 * Edges whose label describes an event rather than the person's wish. The whole label must be one of these phrases
 * (case, punctuation and a leading "on" or "if" do not matter).
 */
import type { Option } from './interfaces.ts';

export type EdgeRole = 'regular' | 'default' | 'no_input' | 'invalid' | 'failure' | 'success';

const phrases: Readonly<Record<Exclude<EdgeRole, 'regular'>, readonly string[]>> = {
  default: [
    'default',
    'else',
    'otherwise',
    'other',
    'any',
    'anything',
    'anything else',
    'any other',
    'any other key',
    'any input',
    'fallback',
    'always',
    'continue',
    'next',
  ],
  no_input: [
    'no input',
    'noinput',
    'no response',
    'no reply',
    'no key',
    'no key pressed',
    'nothing pressed',
    'timeout',
    'time out',
    'timed out',
    'silence',
    'silent',
  ],
  invalid: [
    'invalid',
    'invalid input',
    'invalid key',
    'invalid entry',
    'wrong key',
    'no match',
    'nomatch',
    'not understood',
  ],
  failure: [
    'failure',
    'failed',
    'fail',
    'error',
    'transfer failed',
    'webhook failed',
    'unavailable',
    'not available',
  ],
  success: [
    'success',
    'succeeded',
    'ok',
    'completed',
    'done',
    'webhook completion',
    'default webhook completion',
  ],
};

const roleByPhrase = new Map<string, EdgeRole>();
for (const role of Object.keys(phrases) as (keyof typeof phrases)[]) {
  for (const phrase of phrases[role]) roleByPhrase.set(phrase, role);
}

/** The role of an edge. Global nodes and edges without a label are regular. */
export function roleOf(option: Pick<Option, 'label' | 'global'>): EdgeRole {
  if (option.global) return 'regular';
  const plain = option.label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
    .replace(/^(?:on|if|when) /, '');
  return roleByPhrase.get(plain) ?? 'regular';
}

/** Index of the first option with a role, or -1. */
export function firstOf(options: readonly Option[], role: EdgeRole): number {
  return options.findIndex((option) => roleOf(option) === role);
}
