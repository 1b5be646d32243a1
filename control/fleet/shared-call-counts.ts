/**
 * The counts of outgoing calls for the edges of all replicas (docs/internals/fleet.md). One replica counts, the one that
 * decides who is in the fleet; the others pass on what their edges say, and its answers:
 *
 *     edge --call_ask--> its replica --notify--> the deciding replica --notify--> its replica --call_answer--> edge
 *
 * A replica that begins to decide, or may have missed something, asks all edges what they hold. Until each has said it,
 * calls wait: their edges ask again.
 */
import type { Clock } from '#shared/clock.ts';
import type { CallAnswer, CallCountFrame, CallScope, HeldCalls } from '#shared/edge-protocol/fleet.ts';
import { sharedAfterMs } from '#shared/fleet/sharing.ts';
import type { ConnectedEdge, ConnectedEdges } from '../edge-link/index.ts';
import type { Transients, TransientTopic } from '../replicas/index.ts';
import { CallCounts } from './call-counts.ts';

export interface SharedCallCountsParts {
  readonly transients: Pick<Transients, 'topic' | 'peers' | 'onGap'>;
  readonly edges: Pick<ConnectedEdges, 'all' | 'allHere' | 'here'>;
  readonly clock: Pick<Clock, 'elapsed'>;
  /** Ids of the members of the fleet. */
  readonly members: () => readonly string[];
}

/** What an edge holds may be longer than a message: it goes in pieces. */
type Passed =
  | Exclude<CallCountFrame, { readonly type: 'calls_held' }>
  | { readonly type: 'calls_held'; readonly held: readonly HeldCalls[]; readonly isLast: boolean };

interface FromEdge {
  readonly edge_id: string;
  readonly frame: Passed;
}

interface ToEdge {
  readonly edge_id: string;
  readonly frame: CallAnswer;
}

/** Pause before edges that have not said what they hold are asked again, ms. */
const wantAgainMs = 2_000;

/** Starts of a scope, and scopes, in one message. */
const startsPerPiece = 200;
const scopesPerPiece = 10;

export class SharedCallCounts {
  readonly #parts: SharedCallCountsParts;
  readonly #said: TransientTopic<FromEdge>;
  readonly #answers: TransientTopic<ToEdge>;
  readonly #wanted: TransientTopic<null>;
  readonly #counts = new CallCounts();
  /** What edges of other replicas have said so far about what they hold. */
  readonly #pieces = new Map<string, HeldCalls[]>();
  #isDeciding = false;
  #wantedAt = 0;
  /** Since when one edge is left; null: there are several. */
  #aloneSince: number | null = null;
  /** Ids of the edges that were connected at the last look. */
  #linked: ReadonlySet<string> = new Set();

  constructor(parts: SharedCallCountsParts) {
    this.#parts = parts;
    const { edges, transients } = parts;
    this.#said = transients.topic('call-counts');
    this.#said.on(({ edge_id, frame }) => {
      if (this.#isDeciding) this.#count(edge_id, frame, (answer) => this.#send(edge_id, answer));
    });
    this.#answers = transients.topic('call-answers');
    this.#answers.on(({ edge_id, frame }) => edges.here(edge_id)?.tell(frame));
    this.#wanted = transients.topic('call-counts-wanted');
    this.#wanted.on(() => this.#askEdges());
    transients.onGap(() => this.#begin());
  }

  /** This replica counts from now on. */
  decide(): void {
    this.#isDeciding = true;
    this.#counts.forget();
    this.#begin();
  }

  /** Another replica counts. */
  follow(): void {
    this.#isDeciding = false;
    this.#pieces.clear();
  }

  /** How many edges share the limits from now on. The last one asks for a while, and then counts alone. */
  shared(edges: number): void {
    const now = this.#parts.clock.elapsed();
    if (edges < 2) {
      this.#aloneSince ??= now;
      return;
    }
    if (this.#aloneSince !== null && now - this.#aloneSince >= sharedAfterMs) this.#counts.forget();
    this.#aloneSince = null;
  }

  /** The operator has removed an edge. */
  remove(edgeId: string): void {
    this.#counts.remove(edgeId);
  }

  /** An edge of this replica says something about its outgoing calls. */
  said(edge: ConnectedEdge, frame: CallCountFrame): void {
    if (this.#isDeciding) {
      this.#count(edge.edgeId, whole(frame), (answer) => edge.tell(answer));
      return;
    }
    if (this.#parts.transients.peers.size === 0) {
      if (frame.type === 'call_ask') edge.tell({ type: 'call_answer', id: frame.id, answer: 'unknown' });
      return;
    }
    for (const piece of frame.type === 'calls_held' ? piecesOf(frame.held) : [frame])
      void this.#said.send({ edge_id: edge.edgeId, frame: piece });
  }

  /** The calls of edges that have lost their link since count for a while. */
  look(): void {
    const { clock, edges } = this.#parts;
    const connected = new Set(edges.all.map(({ edgeId }) => edgeId));
    for (const id of this.#linked) if (!connected.has(id)) this.#counts.lost(id, clock.elapsed());
    this.#linked = connected;
  }

  #begin(): void {
    if (!this.#isDeciding) return;
    this.#wantedAt = this.#parts.clock.elapsed();
    this.#counts.doubt();
    this.#pieces.clear();
    this.#askEdges();
    if (this.#parts.transients.peers.size > 0) void this.#wanted.send(null);
  }

  #askEdges(): void {
    for (const edge of this.#parts.edges.allHere) if (edge.inFleet) edge.tell({ type: 'calls_wanted' });
  }

  #send(edge_id: string, frame: CallAnswer): void {
    void this.#answers.send({ edge_id, frame });
  }

  #count(edgeId: string, frame: Passed, answer: (frame: CallAnswer) => void): void {
    const now = this.#parts.clock.elapsed();
    switch (frame.type) {
      case 'calls_held': {
        const held = [...(this.#pieces.get(edgeId) ?? []), ...frame.held];
        this.#pieces.delete(edgeId);
        if (frame.isLast) this.#counts.claim(edgeId, held, now);
        else this.#pieces.set(edgeId, held);
        break;
      }
      case 'call_begun':
        this.#counts.note(edgeId, frame.scopes, now);
        break;
      case 'call_over':
        this.#counts.free(edgeId, frame.scopes, frame.sent);
        break;
      case 'call_ask':
        answer({ type: 'call_answer', id: frame.id, ...this.#verdict(edgeId, frame.scopes, now) });
        break;
    }
  }

  #verdict(edgeId: string, scopes: readonly CallScope[], now: number): Pick<CallAnswer, 'answer'> {
    if (!this.#counts.knows([edgeId, ...this.#parts.members()])) {
      if (now - this.#wantedAt >= wantAgainMs) this.#begin();
      return { answer: 'unknown' };
    }
    const { full } = this.#counts.ask(edgeId, scopes, now);
    return full === null ? { answer: 'counted' } : { answer: 'full', ...full };
  }
}

function whole(frame: CallCountFrame): Passed {
  return frame.type === 'calls_held' ? { ...frame, isLast: true } : frame;
}

function piecesOf(held: readonly HeldCalls[]): Passed[] {
  const parts = held.flatMap(({ scope, live, started_ms_ago: all }) => {
    const slices: HeldCalls[] = [];
    for (let from = 0; from === 0 || from < all.length; from += startsPerPiece)
      slices.push({
        scope,
        live: from === 0 ? live : 0,
        started_ms_ago: all.slice(from, from + startsPerPiece),
      });
    return slices;
  });
  const pieces: Passed[] = [];
  let piece: HeldCalls[] = [];
  let starts = 0;
  for (const part of parts) {
    if (piece.length === scopesPerPiece || starts + part.started_ms_ago.length > startsPerPiece) {
      pieces.push({ type: 'calls_held', held: piece, isLast: false });
      [piece, starts] = [[], 0];
    }
    piece.push(part);
    starts += part.started_ms_ago.length;
  }
  return [...pieces, { type: 'calls_held', held: piece, isLast: true }];
}
