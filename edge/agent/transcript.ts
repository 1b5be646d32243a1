import type { LogFact } from '#shared/agent/log-facts.ts';
import type { Clock } from '#shared/clock.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { TranscriptFact } from '#shared/edge-protocol/transcript-facts.ts';
import type { NewId } from '#shared/ids.ts';
import type { AgentHost } from '../call/ports/agents.ts';
import type { HeardWords } from './transcription/transcription.ts';

/** Of a line; null: of none. Personas have nodes without an id. */
export type NodeOfLine = { readonly nodeId: string; readonly nodeName: string } | null;

/** Reports lines of a conversation. */
export class Transcript {
  readonly #host: Pick<AgentHost, 'transcript'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #newId: NewId;

  constructor(host: Pick<AgentHost, 'transcript'>, clock: Pick<Clock, 'now'>, newId: NewId) {
    this.#host = host;
    this.#clock = clock;
    this.#newId = newId;
  }

  /** @param at ms since the epoch */
  add(
    user: TranscriptEntry['user'],
    text: string,
    node: NodeOfLine = null,
    at = this.#clock.now(),
    fact: TranscriptFact | null = null,
  ): TranscriptEntry {
    return this.#report(user, text, node, at, { fact });
  }

  /**
   * Reports a line of the agent once more, which was cut off.
   * @param heard its words that were played; null: not known
   * @param isTold whether the line is to have these words alone
   */
  cutOff(line: TranscriptEntry, heard: string | null, isTold: boolean): void {
    const fact: TranscriptFact = {
      kind: 'cut_off',
      said: line.text.slice(0, longestCutOff),
      heard: heard?.slice(0, longestCutOff) ?? null,
    };
    this.#host.transcript({ ...line, text: isTold && heard !== null ? heard : line.text, fact });
  }

  /** Words of the caller, with what the transcription says about them. */
  heard({ text, confidence, language }: HeardWords, node: NodeOfLine = null): void {
    this.#report('user', text, node, this.#clock.now(), {
      ...(confidence !== null && isShare(confidence) && { confidence: Math.round(confidence * 1000) / 1000 }),
      ...(language !== null && languageTag.test(language) && { language }),
      fact: null,
    });
  }

  #report(
    user: TranscriptEntry['user'],
    text: string,
    node: NodeOfLine,
    at: number,
    more: Pick<TranscriptEntry, 'confidence' | 'language' | 'fact'>,
  ): TranscriptEntry {
    const named = node && node.nodeId !== '' ? node : null;
    const entry = {
      id: this.#newId(),
      at: new Date(at).toISOString(),
      user,
      text,
      node_id: named?.nodeId ?? null,
      node_name: named?.nodeName ?? null,
      ...more,
    };
    this.#host.transcript(entry);
    return entry;
  }
}

/** What is recorded of a line in the log of a conversation; null: nothing. */
export function recordedFact(fact: LogFact): TranscriptFact | null {
  switch (fact.kind) {
    case 'tool_succeeded':
      return { kind: 'tool_ended', ok: true };
    case 'tool_failed':
      return { kind: 'tool_ended', ok: false };
    case 'persona_tool_ended':
      return { kind: 'tool_ended', ok: fact.ok };
    case 'webhook_answered':
      return { kind: 'webhook_answered', status: /^\d{3}$/.test(fact.answer) ? Number(fact.answer) : null };
    default:
      return null;
  }
}

/** Characters of a text that was cut off, in its fact. */
const longestCutOff = 2000;
/** A server may say anything. */
const languageTag = /^[A-Za-z0-9-]{1,35}$/;
const isShare = (value: number) => value >= 0 && value <= 1;
