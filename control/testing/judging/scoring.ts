/** The overall result of a run's assertions (contract 6.5). Pure; nothing is rounded. */
import { toneDimensions } from '#shared/api/agent-testing/assertions.ts';
import type { Tone } from '#shared/api/agent-testing/runs.ts';
import { verifiedEvidence } from './assertions/target-text.ts';
import type { AssertionResult, ConversationRecord, ToneAnswer } from './ports.ts';
import { mean } from './statistics.ts';

/** A run without required assertions passes with at least this score. */
const passingScore = 0.7;

/** @param tone overall tone score when the scenario requests it, else null */
export function overallScore(results: readonly AssertionResult[], tone: number | null): number | null {
  if (results.length === 0) return tone;
  const weights = results.reduce((sum, { weight }) => sum + weight, 0);
  if (weights === 0) return mean(results.map(({ score }) => score));
  return results.reduce((sum, { weight, score }) => sum + weight * score, 0) / weights;
}

export interface Verdict {
  readonly status: 'PASSED' | 'FAILED' | 'ERROR';
  readonly score: number | null;
  /** Why, in a sentence or two. */
  readonly reasoning: string;
  /** Set for ERROR. */
  readonly error: string | null;
}

/** The verdict on a run whose conversation has ended. */
export function runVerdict(results: readonly AssertionResult[], tone: number | null): Verdict {
  const score = overallScore(results, tone);
  const required = results.filter(({ is_required }) => is_required);
  const broken = required.find(({ status }) => status === 'ERROR');
  if (broken) {
    const error = `${title(broken)} could not be evaluated: ${broken.reasoning}`;
    return { status: 'ERROR', score, reasoning: error, error };
  }
  if (score === null) {
    return { status: 'FAILED', score, reasoning: 'Nothing was checked.', error: null };
  }
  const unmet = required.filter(({ passed }) => !passed);
  if (required.length > 0) {
    const [all, some] =
      required.length === 1
        ? ['The required assertion', 'The required assertion']
        : [
            `All ${required.length} required assertions`,
            `${unmet.length} of ${required.length} required assertions`,
          ];
    const reasoning =
      unmet.length === 0 ? `${all} passed.` : `${some} did not pass: ${unmet.map(reason).join(' ')}`;
    return { status: unmet.length === 0 ? 'PASSED' : 'FAILED', score, reasoning, error: null };
  }
  const passed = score >= passingScore;
  const reasoning = `No assertion is required; the score is ${score.toFixed(4)}, and ${passingScore} passes.`;
  return { status: passed ? 'PASSED' : 'FAILED', score, reasoning, error: null };
}

function title({ type, name }: AssertionResult): string {
  return name ? `${type} “${name}”` : type;
}

function reason(result: AssertionResult): string {
  const open = result.status === 'INCONCLUSIVE' ? ' (inconclusive)' : '';
  return `${title(result)}${open}: ${result.reasoning}`;
}

/** `service_tone_score` of a run (contract 6.4): null unless every dimension was judged. Unrounded. */
export function toneView(answer: ToneAnswer, record: ConversationRecord): Tone | null {
  if (answer.kind !== 'verdict') return null;
  const { scores, issues } = answer;
  const values = toneDimensions.map((dimension) => scores[dimension]);
  if (values.some((value) => value === undefined)) return null;
  const of = (dimension: (typeof toneDimensions)[number]) => scores[dimension] ?? 0;
  return {
    naturalness: of('naturalness'),
    conciseness: of('conciseness'),
    empathy: of('empathy'),
    flow_preservation: of('flow_preservation'),
    back_channeling: of('back_channeling'),
    topic_transitions: of('topic_transitions'),
    overall_tone_score: mean(values.map((value) => value ?? 0)) ?? 0,
    issues: [...issues],
    examples: verifiedEvidence(record, answer.examples),
  };
}
