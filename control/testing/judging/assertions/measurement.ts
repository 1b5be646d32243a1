/**
 * MEASUREMENT: how long the agent took to answer, was silent, or went on when it was interrupted, over a call; and the
 * tokens and money that a run used.
 */
import type { Measure } from '#shared/api/agent-testing/assertions.ts';
import type { Voice } from '#shared/api/agent-testing/runs.ts';
import type { ConversationRecord, Spent } from '../ports.ts';
import type { AssertionRule } from './outcome.ts';
import { inconclusive, yesOrNo } from './outcome.ts';

/** Infinity: it never happened; text: there is nothing to measure. */
type Measured = number | string;

const ofUsage = {
  agent_tokens: (spent: Spent): Measured => spent.tokens('agent'),
  agent_cost: (spent: Spent): Measured => spent.cost('agent'),
  run_tokens: (spent: Spent): Measured => spent.tokens('run'),
  run_cost: (spent: Spent): Measured => spent.cost('run'),
};
type UsageMeasure = keyof typeof ofUsage;

function isOfUsage(measure: Measure): measure is UsageMeasure {
  return measure in ofUsage;
}

const ofVoice: { readonly [M in Exclude<Measure, 'turns' | UsageMeasure>]: (voice: Voice) => Measured } = {
  latency_p50_ms: ({ latency_ms }) => latency_ms.p50 ?? unanswered,
  latency_p95_ms: ({ latency_ms }) => latency_ms.p95 ?? unanswered,
  // A move that the agent never answers has no latency, and is the worst of all.
  latency_max_ms: ({ latency_ms, turns }) => {
    const silent = turns.some(({ response_latency_ms, turn }) => turn > 0 && response_latency_ms === null);
    return silent ? Number.POSITIVE_INFINITY : (latency_ms.max ?? unanswered);
  },
  first_audio_ms: ({ first_audio_ms }) => first_audio_ms ?? Number.POSITIVE_INFINITY,
  barge_ins: ({ turns }) => turns.filter(({ barge_in }) => barge_in).length,
  barge_in_stop_ms: ({ turns }) => {
    const stops = turns.filter(({ barge_in }) => barge_in).map(({ silent_after_ms }) => silent_after_ms);
    if (stops.length === 0) return 'The caller did not interrupt the agent.';
    return Math.max(...stops.map((ms) => ms ?? Number.POSITIVE_INFINITY));
  },
  longest_silence_ms: ({ longest_silence_ms }) => longest_silence_ms ?? 'There were no turns.',
  talk_over_ms: ({ overlap_ms }) => overlap_ms,
};

const unanswered = 'The agent answered no move of the caller.';

export const measurement: AssertionRule<'MEASUREMENT'> = {
  problems: ({ min, max }) => {
    if (min === undefined && max === undefined) return [{ path: '', rule: 'needs min or max' }];
    return min !== undefined && max !== undefined && min > max
      ? [{ path: '/max', rule: 'must not be less than min' }]
      : [];
  },
  evaluate: ({ measure, min = 0, max = Number.POSITIVE_INFINITY }, record, { spent }) => {
    const bounds = [
      min > 0 ? `at least ${min}` : null,
      max < Number.POSITIVE_INFINITY ? `at most ${max}` : null,
    ];
    const expected = bounds.filter((bound) => bound !== null).join(' and ');
    const value = measured(measure, record, spent);
    if (typeof value === 'string') return inconclusive({ reasoning: value, target: measure, expected });
    const shown = value === Number.POSITIVE_INFINITY ? 'never' : String(value);
    const passed = value >= min && value <= max;
    return yesOrNo(passed, {
      reasoning: `${measure} is ${shown}, wanted ${expected}.`,
      target: measure,
      expected,
    });
  },
};

function measured(
  measure: Measure,
  { chat_history, voice }: ConversationRecord,
  spent: Spent | undefined,
): Measured {
  if (isOfUsage(measure))
    return spent ? ofUsage[measure](spent) : 'Nobody counted what this conversation used.';
  if (measure === 'turns') return chat_history.reduce((most, { turn }) => Math.max(most, turn), 0);
  return voice ? ofVoice[measure](voice) : 'Only a run over a call (transport sip) measures this.';
}
