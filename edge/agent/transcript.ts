import type { Clock } from '#shared/clock.ts';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import type { NewId } from '#shared/ids.ts';
import type { AgentHost } from '../call/ports/agents.ts';

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
    const named = node && node.nodeId !== '' ? node : null;
    const entry = {
      id: this.#newId(),
      at: new Date(at).toISOString(),
      user,
      text,
      node_id: named?.nodeId ?? null,
      node_name: named?.nodeName ?? null,
    };
    this.#host.transcript(entry);
    return entry;
  }
}
