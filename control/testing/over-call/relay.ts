/**
 * The edge's connection for a run may reach another replica than the one that runs it. That one passes each frame on, as
 * stored messages:
 *
 *     edge ==WebSocket==> replica that it reached ==open, text ..., close==> replica of the run
 *
 * The replicas need no network between them but the database, and what they pass on is as trusted as their tables. Frames
 * are numbered: after a lost one the connection is closed, and the run ends as if the edge were lost.
 */
import { newId } from '#shared/ids.ts';
import { outsideFences } from '../../db/index.ts';
import type { Bus, Topic } from '../../replicas/index.ts';
import type { LineSocket } from './line-socket.ts';

type Relayed = { readonly line: string; readonly number: number } & (
  | { readonly kind: 'open'; readonly runId: string; readonly key: string }
  /** `more`: the frame goes on in the next message. */
  | { readonly kind: 'text'; readonly text: string; readonly more: boolean }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
);
type Content<Kind> = Kind extends Relayed ? Omit<Kind, 'line' | 'number'> : never;

/** Of one message: a character takes up to six octets of JSON. */
const pieceCharacters = 250_000;

/** RFC 6455 section 7.4.1 */
const policyViolation = 1008;
const tooLarge = 1009;
const internalError = 1011;

/** What it needs of the other replicas. */
export interface RelayBus extends Pick<Bus, 'id' | 'topic' | 'onMissed'> {
  readonly transients: Pick<Bus['transients'], 'peers' | 'onLeft'>;
}

export interface RelayParts {
  readonly bus: RelayBus;
  /** Characters of one frame. */
  readonly mostFrame: number;
  /** A run of this replica may expect the connection. @returns whether it does */
  readonly arrive: (runId: string, key: string, socket: LineSocket) => boolean;
}

export class CallRelay {
  readonly #parts: RelayParts;
  readonly #topic: Topic<Relayed>;
  readonly #lines = new Map<string, RelayedLine>();

  constructor(parts: RelayParts) {
    this.#parts = parts;
    const { bus } = parts;
    this.#topic = bus.topic('agent test calls');
    this.#topic.on((message, { sender }) => this.#receive(message, sender));
    bus.onMissed(() => this.#closeAll('messages were missed'));
    bus.transients.onLeft((replica) => this.#closeAll('the other control plane has ended', replica));
  }

  /** Whether it can be the replica of a run. */
  reaches(replica: string): boolean {
    return this.#parts.bus.transients.peers.has(replica);
  }

  /** Passes on what an edge sends, and what the run of another replica answers. */
  pass(edge: LineSocket, replica: string, runId: string, key: string): void {
    const line = this.#line(newId(), replica);
    line.send({ kind: 'open', runId, key });
    edge.onText((text) => line.sendText(text));
    edge.onClose(() => line.close(1000, 'the edge has closed the connection'));
    line.onText((text) => edge.send(text));
    line.onEnd((code, reason) => edge.close(code, reason));
  }

  close(): void {
    this.#closeAll('the control plane is shutting down');
  }

  #line(id: string, replica: string): RelayedLine {
    const line = new RelayedLine(replica, this.#parts.mostFrame, (content, number) => {
      outsideFences(() => this.#topic.post({ line: id, number, ...content }, replica));
      if (content.kind === 'close') this.#lines.delete(id);
    });
    line.onClose(() => this.#lines.delete(id));
    this.#lines.set(id, line);
    return line;
  }

  #receive(message: Relayed, sender: string): void {
    if (message.kind !== 'open') {
      const known = this.#lines.get(message.line);
      if (known?.replica === sender) known.receive(message, message.number);
      return;
    }
    const line = this.#line(message.line, sender);
    line.receive(message, message.number);
    if (!this.#parts.arrive(message.runId, message.key, line))
      line.close(policyViolation, 'no run expects this connection');
  }

  #closeAll(reason: string, replica?: string): void {
    for (const line of [...this.#lines.values()])
      if (replica === undefined || line.replica === replica) line.break(reason);
  }
}

/** One end of a relayed connection. */
class RelayedLine implements LineSocket {
  readonly replica: string;
  readonly #mostFrame: number;
  readonly #post: (content: Content<Relayed>, number: number) => void;
  readonly #ends: ((code: number, reason: string) => void)[] = [];
  #text: (text: string) => void = () => undefined;
  #sent = 0;
  #received = 0;
  #frame = '';
  #isClosed = false;

  constructor(replica: string, mostFrame: number, post: (content: Content<Relayed>, number: number) => void) {
    this.replica = replica;
    this.#mostFrame = mostFrame;
    this.#post = post;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(content: Content<Relayed> | string): void {
    if (this.#isClosed) return;
    if (typeof content === 'string') this.sendText(content);
    else this.#post(content, this.#sent++);
  }

  sendText(text: string): void {
    let begin = 0;
    do {
      const piece = text.slice(begin, begin + pieceCharacters);
      begin += pieceCharacters;
      this.send({ kind: 'text', text: piece, more: begin < text.length });
    } while (begin < text.length);
  }

  /** Closes both ends. */
  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#post({ kind: 'close', code, reason }, this.#sent++);
    this.#end(code, reason);
  }

  /** As `close`, for what the other end may not hear of. */
  break(reason: string): void {
    this.close(internalError, reason);
  }

  receive(message: Content<Relayed>, number: number): void {
    if (this.#isClosed) return;
    if (number !== this.#received++) this.break('a frame was lost between control planes');
    else if (message.kind === 'close') this.#end(message.code, message.reason);
    else if (message.kind === 'text') this.#receiveText(message.text, message.more);
  }

  onText(receive: (text: string) => void): void {
    this.#text = receive;
  }

  #receiveText(text: string, more: boolean): void {
    this.#frame += text;
    if (this.#frame.length > this.#mostFrame) {
      this.close(tooLarge, 'the frame is too large');
    } else if (!more) {
      const frame = this.#frame;
      this.#frame = '';
      this.#text(frame);
    }
  }

  onClose(act: () => void): void {
    this.#ends.push(act);
  }

  onEnd(act: (code: number, reason: string) => void): void {
    this.#ends.push(act);
  }

  #end(code: number, reason: string): void {
    this.#isClosed = true;
    for (const act of this.#ends) act(code, reason);
  }
}
