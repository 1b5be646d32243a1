/**
 * Notices and requests between the edge's main thread and one media shard. Both sides check every message; messages
 * arrive in the order in which they were sent. They hold data only, so they would also cross a process boundary.
 *
 *     tell ──> onTell
 *     ask  ──> onAsk ──answer or fault──> resolves or rejects
 */
import { anything, fits, integer, objectOf, oneOf, type Shape, text } from '#shared/shapes.ts';
import type { Soon } from '../call/ports/media.ts';
import { CallRefused } from '../call/refused.ts';

/** A message without an answer. */
export interface Notice<T> {
  readonly name: string;
  readonly body: Shape<T>;
}

/** A message with an answer. */
export interface Request<T, A> extends Notice<T> {
  readonly answer: Shape<A>;
}

/** The way to the other side. */
export interface Port {
  post(message: unknown): void;
  /** @param receive called with each message from the other side, in order */
  listen(receive: (message: unknown) => void): void;
}

/** Requests without an answer; at a side with more the other one does not answer any more. */
const mostUnanswered = 10_000;
/**
 * Messages that the other side has not read yet. They wait in memory; with 1,000 calls a second it is about the number
 * of three seconds.
 */
const mostUnread = 50_000;

/** `read`: how many messages of the other side its sender had read. */
const envelope = objectOf(
  { kind: oneOf('tell', 'ask', 'answer', 'fault'), read: integer(0), body: anything },
  { name: text, id: integer(1) },
);

const faultShape = objectOf(
  { message: text },
  {
    stack: text,
    sip_status: integer(300, 699),
    warning: text,
    media_fault: objectOf({ kind: oneOf('no_codec', 'unusable', 'moved'), text }),
  },
);

/** An error as data. */
function faultOf(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, stack } = error;
  if (!(error instanceof CallRefused)) return { message, ...(stack !== undefined && { stack }) };
  const { sipStatus, warning, mediaFault } = error;
  return {
    message,
    sip_status: sipStatus,
    ...(warning !== undefined && { warning }),
    ...(mediaFault !== undefined && { media_fault: mediaFault }),
  };
}

/** The error of the other side, a CallRefused as such. */
function errorOf(fault: unknown): Error {
  if (!fits(faultShape, fault)) return new Error('the other side failed without saying why');
  const { message, stack, sip_status: sipStatus, warning, media_fault: mediaFault } = fault;
  if (sipStatus !== undefined) return new CallRefused(sipStatus, message, warning, mediaFault);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}

interface Asked {
  readonly answered: (body: unknown) => void;
  readonly failed: (error: Error) => void;
}

export class Channel {
  readonly #port: Port;
  readonly #broken: (error: Error) => void;
  readonly #takes = new Map<string, (body: unknown, id: number | undefined) => void>();
  readonly #asked = new Map<number, Asked>();
  #nextId = 1;
  #posted = 0;
  /** How many of these the other side has read, as it has said last. */
  #readThere = 0;
  #readHere = 0;
  #closed: Error | null = null;

  /** @param broken called when the other side breaks the protocol, or does not read: it cannot be trusted any more */
  constructor(port: Port, broken: (error: Error) => void) {
    this.#port = port;
    this.#broken = broken;
    port.listen((message) => this.#receive(message));
  }

  get closed(): boolean {
    return this.#closed !== null;
  }

  /** No effect when the channel is closed. */
  tell<T>({ name }: Notice<T>, body: T): void {
    this.#post({ kind: 'tell', name, body });
  }

  /** Rejects with the error of the other side, or with that of `close`. */
  ask<T, A>(request: Request<T, A>, body: T): Promise<A> {
    const { promise, resolve, reject } = Promise.withResolvers<A>();
    this.#ask(request, body, resolve, reject);
    return promise;
  }

  /** The same, but `otherwise` in place of an error, and at hand when the other side is in this thread. */
  askFor<T, A>(request: Request<T, A>, body: T, otherwise: A): Soon<A> {
    const { promise, resolve } = Promise.withResolvers<A>();
    const known: A[] = [];
    const settle = (answer: A) => {
      known.push(answer);
      resolve(answer);
    };
    this.#ask(request, body, settle, () => settle(otherwise));
    for (const answer of known) return answer;
    return promise;
  }

  #ask<T, A>(
    { name, answer }: Request<T, A>,
    body: T,
    resolve: (answer: A) => void,
    failed: (error: Error) => void,
  ): void {
    if (this.#closed) {
      failed(this.#closed);
      return;
    }
    if (this.#asked.size >= mostUnanswered) {
      failed(new Error(`${mostUnanswered} requests wait for an answer; "${name}" was not sent`));
      return;
    }
    const id = this.#nextId++;
    const answered = (value: unknown) => {
      if (fits(answer, value)) {
        resolve(value);
        return;
      }
      failed(new Error(`a wrong answer to "${name}"`));
      this.#wrong(name, answer, value);
    };
    this.#asked.set(id, { answered, failed });
    this.#post({ kind: 'ask', id, name, body });
  }

  onTell<T>({ name, body: shape }: Notice<T>, take: (body: T) => void): void {
    this.#takes.set(name, (body) => {
      if (fits(shape, body)) take(body);
      else this.#wrong(name, shape, body);
    });
  }

  onAsk<T, A>({ name, body: shape }: Request<T, A>, answer: (body: T) => Soon<A>): void {
    this.#takes.set(name, (body, id) => {
      if (fits(shape, body) && id !== undefined) this.#answer(id, () => answer(body));
      else this.#wrong(name, shape, body);
    });
  }

  /** Every request without an answer, and every later one, is rejected with `error`. */
  close(error: Error): void {
    if (this.#closed) return;
    this.#closed = error;
    for (const { failed } of this.#asked.values()) failed(error);
    this.#asked.clear();
  }

  #answer<A>(id: number, work: () => Soon<A>): void {
    const answered = (body: A) => this.#post({ kind: 'answer', id, body });
    const failed = (error: unknown) => this.#post({ kind: 'fault', id, body: faultOf(error) });
    try {
      const answer = work();
      if (answer instanceof Promise) answer.then(answered, failed);
      else answered(answer);
    } catch (error) {
      failed(error);
    }
  }

  #post(message: object): void {
    if (this.#closed) return;
    if (this.#posted - this.#readThere >= mostUnread) {
      const error = new Error(`the other side has not read the last ${mostUnread} messages`);
      this.close(error);
      this.#broken(error);
      return;
    }
    this.#posted++;
    this.#port.post({ ...message, read: this.#readHere });
  }

  #receive(message: unknown): void {
    if (this.#closed) return;
    if (!fits(envelope, message)) {
      this.#wrong('?', envelope, message);
      return;
    }
    this.#readHere++;
    const { kind, name = '', id, read, body } = message;
    this.#readThere = Math.max(this.#readThere, Math.min(read, this.#posted));
    if (kind === 'tell' || kind === 'ask') {
      const take = this.#takes.get(name);
      if (take) take(body, id);
      else this.#broken(new Error(`an unknown message "${name}"`));
      return;
    }
    const asked = this.#asked.get(id ?? 0);
    if (!asked) {
      this.#broken(new Error(`an ${kind} to nothing that was asked`));
      return;
    }
    this.#asked.delete(id ?? 0);
    if (kind === 'answer') asked.answered(body);
    else asked.failed(errorOf(body));
  }

  #wrong(name: string, shape: Shape<unknown>, body: unknown): void {
    const fault = shape.fault(body);
    this.#broken(new Error(`a wrong message "${name}": ${fault?.at ?? ''} ${fault?.what ?? 'it has no id'}`));
  }
}
