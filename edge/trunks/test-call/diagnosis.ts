/** Diagnoses a trunk from its test call: one sentence, or null when nothing is wrong. Pure. */
import { bare } from '#shared/connection-faults.ts';
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import { type TerminationCode, terminations } from '#shared/termination.ts';
import {
  type AttemptFacts,
  answerProblem,
  attemptProblem,
  unresolvedProblem,
  withSmallLetter,
} from '../../call/causes/cause-words.ts';
import { audibleLoss, lostOnTheWayBack } from '../../call/media-verdict.ts';
import type { MediaFault } from '../../call/refused.ts';
import { hearsUs } from './proven-media.ts';

export interface Findings {
  /** Why the call ended, with the detail from its record. */
  readonly termination: TerminationCode;
  readonly detail: string | null;
  /** What was wrong with the session description of the answer; null: nothing. */
  readonly mediaFault: MediaFault | null;
  /** The last attempt; null when there was none. */
  readonly attempt: AttemptFacts | null;
  /** The last endpoint tried, when it could not be dialed. */
  readonly unresolved: { readonly peer: string; readonly error: string } | null;
  /** null: the call was not answered. */
  readonly answer: AnswerFacts | null;
}

export interface AnswerFacts {
  readonly durationMs: number;
  /** What the call proves (proven-media.ts); null when the answer was unusable. */
  readonly media: MediaReport | null;
  /** ms of received audio that was not silence. */
  readonly audibleMs: number;
  /** ms of our tone that came back. */
  readonly echoMs: number;
  /** Why not all keys were sent; null when they were, or there were none. */
  readonly keysProblem: string | null;
}

/** A shorter call is too short to judge media, ms. */
const tooShortMs = 1000;

export function diagnose(findings: Findings): string | null {
  return findings.answer ? answeredProblem(findings, findings.answer) : unansweredProblem(findings);
}

function unansweredProblem({ attempt, unresolved, termination, detail }: Findings): string {
  const problem = attempt && attemptProblem(attempt);
  if (problem) return problem;
  if (termination === 'no_answer' && attempt)
    return `No answer from ${attempt.to} at ${attempt.peer}: ${withSmallLetter(bare(detail ?? 'it rang without an answer'))}.`;
  if (unresolved) return unresolvedProblem(unresolved.peer, unresolved.error);
  return ended(termination, detail);
}

function answeredProblem(findings: Findings, answer: AnswerFacts): string | null {
  const { termination, detail, attempt } = findings;
  const { media, durationMs } = answer;
  if (termination === 'bad_answer') return answerProblem(findings.mediaFault, detail, attempt);
  if (media?.verdict === 'two_way') return twoWayProblem(answer, media);
  if (media?.verdict === 'receive_only' && !hearsUs(media, answer.echoMs))
    return `You receive no audio: ${withSmallLetter(bare(media.cause ?? 'the far end reports by RTCP that it receives none of our packets'))}.`;
  const cutOff = termination === 'callee_hangup' && durationMs < tooShortMs;
  if (cutOff)
    return `The far end hung up ${durationMs} ms after its answer, before audio passed in both directions.`;
  if (termination === 'api_stop' || termination === 'edge_restarted' || termination === 'engine_lost')
    return ended(termination, detail);
  const cause = bare(media?.cause ?? 'no media was exchanged');
  if (media?.verdict === 'receive_only') return `You receive no audio: ${withSmallLetter(cause)}.`;
  return `We receive no audio from you: ${withSmallLetter(cause)}.`;
}

function twoWayProblem({ audibleMs, echoMs, keysProblem }: AnswerFacts, media: MediaReport): string | null {
  const loss = media.peer_loss_percent ?? 0;
  if (loss >= audibleLoss)
    return `Audio to you has gaps: the far end reports by RTCP that it loses ${loss} % of it.`;
  if (audibleMs === 0)
    return `We receive only silence from you: ${media.packets_received} packets arrived, and all were silent.`;
  const lost = lostOnTheWayBack(media, echoMs > 0);
  if (lost.percent >= audibleLoss) {
    return lost.orOnTheWayThere
      ? `Audio has gaps: ${lost.percent} % of the packets were lost on their way to you or back; an echo does not show which.`
      : `Audio from you has gaps: ${lost.percent} % of the packets were lost on their way to us.`;
  }
  return keysProblem === null ? null : `The keys could not be sent: ${bare(keysProblem)}.`;
}

function ended(termination: TerminationCode, detail: string | null): string {
  const { summary } = terminations[termination];
  return detail === null || detail === summary
    ? summary
    : `${bare(summary)}: ${withSmallLetter(bare(detail))}.`;
}
