/**
 * A language model server for tests: the OpenAI-compatible chat completions API over real HTTP, with and without
 * streaming. It replays recorded responses. A request without a recording gets 400 and is kept: `close` then throws.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ChatMessage {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
}

/** The parts of a request that tests check. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean;
  readonly temperature?: number;
  readonly seed?: number;
  readonly max_tokens?: number;
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly authorization: string | undefined;
}

export interface Recording {
  /** Texts that the request's body must contain, as JSON; absent: any request. */
  readonly when?: readonly string[];
  /** Parts of the response; a promise is awaited before the next is sent. */
  readonly text?: readonly (string | Promise<unknown>)[];
  readonly calls?: readonly { readonly name: string; readonly input: unknown }[];
  readonly usage?: { readonly input: number; readonly output: number };
  /** Rejects with this status instead. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of a rejection, or of an invalid response. */
  readonly body?: string;
  /** Awaited before the response starts. */
  readonly delay?: Promise<unknown>;
  /** Closes the connection after the text. */
  readonly cut?: boolean;
}

export class ModelServer {
  readonly requests: ChatRequest[] = [];
  /** Requests whose connection the client closed before the response was complete. */
  aborted = 0;
  readonly #recordings: Recording[] = [];
  readonly #unexpected: string[] = [];
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  #asked = Promise.withResolvers<void>();

  static async start(): Promise<ModelServer> {
    const server = new ModelServer();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds recordings; each answers the first matching request. */
  record(...recordings: readonly Recording[]): void {
    this.#recordings.push(...recordings);
  }

  /** Resolves when that many requests have arrived. */
  async asked(count: number): Promise<void> {
    while (this.requests.length < count) await this.#asked.promise;
  }

  /** @throws Error when a request was unexpected, or a recording was not used */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    if (this.#unexpected.length > 0) throw new Error(`Unexpected requests:\n${this.#unexpected.join('\n')}`);
    if (this.#recordings.length > 0)
      throw new Error(`Never asked for: ${JSON.stringify(this.#recordings, null, 1)}`);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await read(request);
    const { authorization } = request.headers;
    const asked: ChatRequest = { ...JSON.parse(body), authorization };
    const index = this.#recordings.findIndex(({ when = [] }) => when.every((text) => body.includes(text)));
    const [recording] = index < 0 ? [] : this.#recordings.splice(index, 1);
    this.requests.push(asked);
    this.#asked.resolve();
    this.#asked = Promise.withResolvers<void>();
    response.on('close', () => {
      if (!response.writableFinished) this.aborted++;
    });
    if (request.url !== '/v1/chat/completions' || !recording) {
      this.#unexpected.push(`${request.url} ${body}`);
      response.writeHead(400).end('{"error":{"message":"no recording is for this request"}}');
      return;
    }
    await recording.delay;
    if (recording.status !== undefined || recording.body !== undefined) {
      response
        .writeHead(recording.status ?? 200, { 'content-type': 'application/json', ...recording.headers })
        .end(recording.body ?? '{"error":{"message":"recorded refusal"}}');
    } else if (asked.stream) await stream(recording, asked, response);
    else await answer(recording, asked, response);
  }
}

async function stream(recording: Recording, asked: ChatRequest, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (choice: object | null, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ ...head(asked), object: 'chat.completion.chunk', choices: choice ? [choice] : [], ...more })}\n\n`,
    );
  for (const part of recording.text ?? []) {
    if (typeof part === 'string') send({ index: 0, delta: { role: 'assistant', content: part } });
    else await part;
  }
  if (recording.cut) {
    response.destroy();
    return;
  }
  const calls = toolCalls(recording).map((call, index) => ({ index, ...call }));
  if (calls.length > 0) send({ index: 0, delta: { tool_calls: calls } });
  send({ index: 0, delta: {}, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' });
  send(null, { usage: usage(recording) });
  response.end('data: [DONE]\n\n');
}

async function answer(recording: Recording, asked: ChatRequest, response: ServerResponse): Promise<void> {
  const parts = await Promise.all(recording.text ?? []);
  const content = parts.filter((part) => typeof part === 'string').join('');
  const calls = toolCalls(recording);
  const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) };
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  const whole = JSON.stringify({
    ...head(asked),
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason }],
    usage: usage(recording),
  });
  response.writeHead(200, { 'content-type': 'application/json' });
  if (recording.cut) {
    response.write(whole.slice(0, 20), () => response.destroy());
    return;
  }
  response.end(whole);
}

function head(asked: ChatRequest) {
  return { id: 'recorded', created: 0, model: asked.model };
}

function toolCalls({ calls = [] }: Recording) {
  return calls.map(({ name, input }, index) => ({
    id: `call-${index}`,
    type: 'function',
    function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
  }));
}

function usage({ usage: { input, output } = { input: 10, output: 5 } }: Recording) {
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
