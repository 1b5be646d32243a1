import { describe, expect, it } from 'vitest';
import type { LogFact } from '#shared/agent/log-facts.ts';
import { formerFact } from './former-log.ts';

const noOption = (words: string, reason: string) => ({ kind: 'no_option' as const, words, reason });

/** As the versions before this one wrote them; never to be reworded. */
const rows: readonly (readonly [message: string, fact: LogFact | null])[] = [
  ['the webhook answered 200', { kind: 'webhook_answered', ok: true, answer: '200' }],
  ['the webhook answered 503', { kind: 'webhook_answered', ok: false, answer: '503' }],
  ['the webhook answered no answer', { kind: 'webhook_answered', ok: false, answer: 'no answer' }],
  ['the tool failed: the target answered 500', { kind: 'tool_failed', error: 'the target answered 500' }],
  ['the tool TL-1 is not available', { kind: 'tool_unknown', tool_id: 'TL-1' }],
  ['pathway p version 3 is not available', { kind: 'pathway_unavailable', pathway_id: 'p', version: 3 }],
  [
    'transfer: to +14155550123, which a text conversation only names',
    { kind: 'transfer_ended', ok: true, reason: '', target: '+14155550123' },
  ],
  [
    'transfer: to , which a text conversation only names',
    { kind: 'transfer_ended', ok: true, reason: '', target: '' },
  ],
  [
    'transfer: the target is busy',
    { kind: 'transfer_ended', ok: false, reason: 'the target is busy', target: null },
  ],
  ['transfer: accepted', { kind: 'transfer_ended', ok: true, reason: 'accepted', target: null }],
  ...[
    '50 nodes were passed without waiting for input: the graph has a loop',
    '50 nodes were passed without waiting for anybody: the graph has a loop',
  ].map((message) => [message, { kind: 'graph_loop', moves: 50 }] as const),
  ['there is no edge to follow', { kind: 'dead_end', after: 'silence' }],
  ['nothing leads on from here', { kind: 'dead_end', after: 'silence' }],
  ['there is no edge to follow after the webhook', { kind: 'dead_end', after: 'webhook' }],
  ['nothing leads on from the webhook', { kind: 'dead_end', after: 'webhook' }],
  ...[
    'nothing was heard or pressed, no answer after 1 repeat',
    'nothing was heard or pressed, 1 repeats were in vain',
  ].map(
    (message) => [message, { kind: 'repeats_unanswered', why: { kind: 'silence' }, repeats: 1 }] as const,
  ),
  ...[
    'no option matches "When?" by its words',
    'no option matches the words "When?"',
    'no way fits "When?" by its words',
    'no option matches "When?" by its words (by the embedded rules, because the model failed: refused)',
  ].flatMap(
    (reason) =>
      [
        [
          `${reason}; "Greeting" is repeated`,
          { kind: 'node_repeated', node: 'Greeting', why: noOption('When?', reason) },
        ],
        [
          `"default" is taken: ${reason}`,
          { kind: 'option_taken', label: 'default', why: noOption('When?', reason), keys: null },
        ],
      ] as const,
  ),
  ...['no edge matches the keys 7', 'no way is for the keys 7'].map(
    (reason) =>
      [
        `"default" is taken: ${reason}`,
        { kind: 'option_taken', label: 'default', why: { kind: 'no_keys', keys: '7' }, keys: '7' },
      ] as const,
  ),
  ...['"9" is not a valid entry here', '"9" is no valid entry here'].map(
    (reason) =>
      [
        `${reason}; "Menu" is repeated`,
        { kind: 'node_repeated', node: 'Menu', why: { kind: 'invalid_entry', keys: '9' } },
      ] as const,
  ),
  [
    'the condition "plan = gold" does not hold: plan is "silver"; "Greeting" is repeated',
    {
      kind: 'node_repeated',
      node: 'Greeting',
      why: { kind: 'condition', condition: 'plan = gold', reason: 'plan is "silver"' },
    },
  ],
  ...['key 1 follows the edge "Billing"', 'key 1 takes the edge "Billing"'].map(
    (message) =>
      [
        message,
        { kind: 'option_taken', label: 'Billing', why: { kind: 'keys', keys: '1' }, keys: '1' },
      ] as const,
  ),
  ['day = Monday', null],
  ['the tool succeeded', null],
];

describe('a log line of an earlier version', () => {
  it.each(rows)('%s', (message, fact) => expect(formerFact(message)).toEqual(fact));
});
