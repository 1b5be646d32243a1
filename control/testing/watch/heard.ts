/**
 * What the caller of a production call heard, to the word: what was played of each line, when the other side's RTCP reports
 * say that it arrived. Pure.
 */
import type { AssertionConfigs } from '#shared/api/agent-testing/assertions.ts';
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import { type CallRow, fromJson } from '../../db/index.ts';
import { heardOutcome } from '../judging/assertions/heard-words.ts';
import type { ConversationRecord } from '../judging/ports.ts';
import { heardOf, type Noted } from './happened.ts';

/** Of the agent's packets, percent: with more of them lost, words may be, too. */
const mostLoss = 3;

/** The agent's lines, as it wanted to say them and as they were played. */
export function spokenOn(noted: readonly Noted[]): Pick<ConversationRecord, 'spoken' | 'played'> {
  const lines = noted.filter(({ entry }) => entry.user === 'assistant');
  const spoken = lines.map((line) => ({
    said: line.fact?.kind === 'cut_off' ? line.fact.said : line.entry.text,
    heard: heardOf(line),
  }));
  return { spoken, played: spoken.map(({ heard }) => heard) };
}

/** Why it is not known whether words were heard; null: it is, or they were certainly not. */
export function unheardOf(
  { media }: Pick<CallRow, 'media'>,
  noted: readonly Noted[],
  config: AssertionConfigs['HEARD_WORDS'],
  record: ConversationRecord,
): string | null {
  const lines = noted.filter(({ entry }) => entry.user === 'assistant');
  if (lines.some(({ entry }) => entry.fact === undefined))
    return 'The record of the call does not say how far each line was played: a realtime model spoke, or an edge of an earlier version had the call.';
  if (lines.some(({ fact }) => fact?.kind === 'cut_off' && fact.heard === null))
    return 'How far a line was played is not known: its speech failed or was too long.';
  // What was not played was not heard, whatever arrived of the rest.
  if (heardOutcome(config, record).status !== 'PASSED') return null;
  return unproven(media && fromJson<MediaReport>(media));
}

function unproven(media: MediaReport | null): string | null {
  const loss = media?.peer_loss_percent;
  if (media?.peer_hears !== 'yes' || loss === undefined)
    return 'The words were played, but no RTCP report of the other side says that they arrived.';
  return loss > mostLoss
    ? `The words were played, but ${loss} % of the sound was lost on its way: more than ${mostLoss} %.`
    : null;
}
