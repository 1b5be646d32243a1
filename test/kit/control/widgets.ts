/** Shared by widget tests. */
import type { DialogueModel, DialoguePart, DialogueQuestion, ToolCall } from '#shared/agent/dialogue.ts';
import type { TestControl } from './harness.ts';

export const origin = 'https://shop.example.com';
export const unknownId = '00000000-0000-4000-8000-000000000000';

/** Creates a pathway that asks for a name, thanks for it and ends. Returns its id. */
export async function makePathway(test: TestControl): Promise<string> {
  const created = await test.call('POST', '/v1/pathway/create', { body: { name: 'Names' } });
  const id = String(created.body.pathway_id);
  const answer = await test.call('POST', `/v1/pathway/${id}`, {
    body: {
      nodes: [
        {
          id: 'ask',
          type: 'Default',
          data: {
            name: 'Ask',
            text: 'Hello {{shop}}, what is your name?',
            isStart: true,
            extractVars: [['name', 'string', 'The name of the person']],
          },
        },
        { id: 'thank', type: 'Default', data: { name: 'Thank', text: 'Thanks. Anything else?' } },
        { id: 'bye', type: 'End Call', data: { name: 'Bye', text: 'Goodbye.' } },
      ],
      edges: [
        { source: 'ask', target: 'thank', data: { label: 'They said it' } },
        { source: 'thank', target: 'bye', data: { label: 'No' } },
      ],
    },
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return id;
}

/** Returns the path of a new widget. */
export async function makeWidget(
  test: TestControl,
  config: Record<string, unknown> = {},
  pathway?: string,
): Promise<string> {
  const pathway_id = pathway ?? (await makePathway(test));
  const created = await test.call('POST', '/v1/widget', {
    body: { name: 'Shop', pathway_id, config: { allowedOrigins: [origin], ...config } },
  });
  if (created.status !== 200) throw new Error(created.text);
  return `/v1/widget/${String(created.body.data?.widget?.id)}`;
}

/** Returns the path of a new thread. */
export async function makeThread(test: TestControl, widget: string, body: unknown = {}): Promise<string> {
  const created = await test.call('POST', `${widget}/threads`, { body });
  if (created.status !== 200) throw new Error(created.text);
  return `${widget}/threads/${String(created.body.data?.thread?.id)}`;
}

/** Returns the path of a new widget with a persona. */
export async function makePersonaWidget(
  test: TestControl,
  config: Record<string, unknown> = {},
  tools: readonly string[] = [],
): Promise<string> {
  const persona = await test.call('POST', '/v1/personas', { body: { name: 'Ada', default_tools: tools } });
  const created = await test.call('POST', '/v1/widget', {
    body: {
      name: 'Lamps',
      persona_id: String(persona.body.data?.id),
      config: { allowedOrigins: [origin], ...config },
    },
  });
  if (created.status !== 200) throw new Error(created.text);
  return `/v1/widget/${String(created.body.data?.widget?.id)}`;
}

/** A text, a tool call, a failure, or null: the end of the answer. */
type Piece = string | ToolCall | Error | null;

/** A model whose answers a test releases piece by piece. */
export class HandModel implements DialogueModel {
  readonly evaluator = { provider: 'test', model: 'by hand', deterministic: true };
  /** Its questions, oldest first. */
  readonly asked: DialogueQuestion[] = [];
  #questions = Promise.withResolvers<void>();
  #pieces: Piece[] = [];
  #more = Promise.withResolvers<void>();

  /** Releases pieces of the current or next answer; null ends it, an error fails it. */
  say(...pieces: Piece[]): void {
    this.#pieces.push(...pieces);
    this.#more.resolve();
  }

  /** Resolves after this many questions. */
  async questions(count: number): Promise<void> {
    while (this.asked.length < count) await this.#questions.promise;
  }

  async *reply(question: DialogueQuestion): AsyncIterable<DialoguePart> {
    this.asked.push(question);
    this.#questions.resolve();
    this.#questions = Promise.withResolvers();
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    question.signal.addEventListener('abort', () => reject(question.signal.reason));
    for (;;) {
      const piece = this.#pieces.shift();
      if (piece === null) return;
      if (piece instanceof Error) throw piece;
      if (typeof piece === 'string') yield { type: 'text', text: piece };
      else if (piece) yield { type: 'call', call: piece };
      else {
        this.#more = Promise.withResolvers();
        await Promise.race([this.#more.promise, aborted]);
      }
    }
  }
}

/** One server-sent event. */
export interface SentEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** A reader of one event stream over real HTTP. */
export class EventReader {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<string>;
  readonly #leave: AbortController;
  #rest = '';

  private constructor(response: Response, leave: AbortController) {
    this.response = response;
    this.#leave = leave;
    const text = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream());
    this.#reader = text.getReader();
  }

  static async open(url: string, headers: Record<string, string>): Promise<EventReader> {
    const leave = new AbortController();
    return new EventReader(await fetch(url, { headers, signal: leave.signal }), leave);
  }

  /** The next event; null at the end. */
  async next(): Promise<SentEvent | null> {
    for (;;) {
      const block = await this.block();
      if (block === null) return null;
      const lines = block.split('\n').map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      });
      const { id, event, data } = Object.fromEntries(lines);
      if (event === undefined) continue;
      return { ...(id !== undefined && { id }), event, data: JSON.parse(data ?? '{}') };
    }
  }

  /** The next events, this many. */
  async take(count: number): Promise<(SentEvent | null)[]> {
    const events = [];
    for (let i = 0; i < count; i++) events.push(await this.next());
    return events;
  }

  /** The next block of lines, comments and settings included; null at the end. */
  async block(): Promise<string | null> {
    for (;;) {
      const end = this.#rest.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#rest.slice(0, end);
        this.#rest = this.#rest.slice(end + 2);
        return block;
      }
      const { done, value } = await this.#reader.read();
      if (done) return null;
      this.#rest += value;
    }
  }

  leave(): void {
    this.#leave.abort();
  }
}
