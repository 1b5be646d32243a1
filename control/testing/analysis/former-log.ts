/**
 * The facts behind log sentences of runs that were stored, or reported by an edge, before log lines carried facts. Only
 * what the detectors read. Such logs are deleted with their runs' records (`testRecords` of RETENTION_DAYS, 90 days
 * unless set); after that, this file can go.
 */
import type { LogFact, Why } from '#shared/agent/log-facts.ts';

interface Former {
  readonly pattern: RegExp;
  readonly fact: (groups: readonly string[]) => LogFact;
}

/** In order: the first that matches. The second form of a sentence is the older one. */
const formers: readonly Former[] = [
  {
    pattern: /^the webhook answered (.*)$/s,
    fact: ([, answer = '']) => ({ kind: 'webhook_answered', ok: /^2\d\d$/.test(answer), answer }),
  },
  { pattern: /^the tool failed: (.*)$/s, fact: ([, error = '']) => ({ kind: 'tool_failed', error }) },
  {
    pattern: /^the tool (\S+) is not available$/,
    fact: ([, tool_id = '']) => ({ kind: 'tool_unknown', tool_id }),
  },
  {
    pattern: /^pathway (\S+) version (\d+) is not available$/,
    fact: ([, pathway_id = '', version]) => ({
      kind: 'pathway_unavailable',
      pathway_id,
      version: Number(version),
    }),
  },
  {
    pattern: /^transfer: to (\S*?),? which a text conversation only names$/,
    fact: ([, target = '']) => ({ kind: 'transfer_ended', ok: true, reason: '', target }),
  },
  {
    pattern: /^transfer: (.*)$/s,
    fact: ([, reason = '']) => {
      const ok = !/fail|not |no |refus|busy|reject|unavail|invalid/i.test(reason);
      return { kind: 'transfer_ended', ok, reason, target: null };
    },
  },
  {
    pattern: /^(\d+) nodes were passed without .*: the graph has a loop$/,
    fact: ([, moves]) => ({ kind: 'graph_loop', moves: Number(moves) }),
  },
  {
    pattern: /^(?:there is no edge to follow|nothing leads on from here)$/,
    fact: () => ({ kind: 'dead_end', after: 'silence' }),
  },
  {
    pattern: /^(?:there is no edge to follow after|nothing leads on from) the webhook$/,
    fact: () => ({ kind: 'dead_end', after: 'webhook' }),
  },
  {
    pattern: /^(.*), (?:no answer after (\d+) repeats?|(\d+) repeats were in vain)$/s,
    fact: ([, why = '', now, before]) => ({
      kind: 'repeats_unanswered',
      why: formerWhy(why),
      repeats: Number(now ?? before),
    }),
  },
  {
    pattern: /^(?=.*" is repeated$)(.*?); "(.*)" is repeated$/s,
    fact: ([, why = '', node = '']) => ({ kind: 'node_repeated', node, why: formerWhy(why) }),
  },
  {
    pattern: /^keys? (\S+) (?:follows?|takes?) the \w+ "(.*)"$/s,
    fact: ([, keys = '', label = '']) => ({
      kind: 'option_taken',
      label,
      why: { kind: 'keys', keys },
      keys,
    }),
  },
  {
    pattern: /^"(.*)" is taken: (.*)$/s,
    fact: ([, label = '', reason = '']) => {
      const why = formerWhy(reason);
      const known = why.kind === 'no_keys' || why.kind === 'invalid_entry' ? why.keys : null;
      return { kind: 'option_taken', label, why, keys: known };
    },
  },
];

const formerWhys: readonly {
  readonly pattern: RegExp;
  readonly why: (groups: readonly string[]) => Why;
}[] = [
  {
    pattern:
      /^(?=.*(?:"|" by its words|\))$)(?:no option matches|no way fits) (?:the words )?"(.*)"(?: by its words)?(?: \(.*\))?$/s,
    why: ([reason = '', words = '']) => ({ kind: 'no_option', words, reason }),
  },
  {
    pattern: /^(?:no edge matches|no way is for) the keys (.*)$/s,
    why: ([, keys = '']) => ({ kind: 'no_keys', keys }),
  },
  {
    pattern: /^"(.*)" is (?:not a|no) valid entry here$/s,
    why: ([, keys = '']) => ({ kind: 'invalid_entry', keys }),
  },
  {
    pattern: /^the condition "(.*?)" does not hold: (.*)$/s,
    why: ([, condition = '', reason = '']) => ({ kind: 'condition', condition, reason }),
  },
  { pattern: /^nothing was heard or pressed$/, why: () => ({ kind: 'silence' }) },
];

function formerWhy(text: string): Why {
  for (const { pattern, why } of formerWhys) {
    const match = pattern.exec(text);
    if (match) return why(match);
  }
  return { kind: 'chosen', reason: text };
}

/** @returns null for a sentence that no detector needs */
export function formerFact(message: string): LogFact | null {
  for (const { pattern, fact } of formers) {
    const match = pattern.exec(message);
    if (match) return fact(match);
  }
  return null;
}
