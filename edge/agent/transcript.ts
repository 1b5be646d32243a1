import type { Clock } from '#shared/clock.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
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
  ): TranscriptEntry {
    return this.#report(user, text, node, at, {});
  }

  /** Words of the caller, with what the transcription says about them. */
  heard({ text, confidence, language }: HeardWords, node: NodeOfLine = null): void {
    this.#report('user', text, node, this.#clock.now(), {
      ...(confidence !== null && isShare(confidence) && { confidence: Math.round(confidence * 1000) / 1000 }),
      ...(language !== null && languageTag.test(language) && { language }),
    });
  }

  #report(
    user: TranscriptEntry['user'],
    text: string,
    node: NodeOfLine,
    at: number,
    more: Pick<TranscriptEntry, 'confidence' | 'language'>,
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

/** A server may say anything. */
const languageTag = /^[A-Za-z0-9-]{1,35}$/;
const isShare = (value: number) => value >= 0 && value <= 1;
