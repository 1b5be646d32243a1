/**
 * All access to language models, over the OpenAI-compatible chat completions API. Nothing is sent before a request is
 * made.
 */
import type { ModelMessage, ToolSet } from 'ai';
import type { Static, TSchema } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import type { DialogueMessage, DialogueModel, DialoguePart, DialogueTool } from '#shared/agent/dialogue.ts';
import type { Evaluator } from '#shared/agent/interfaces.ts';
import type { Clock } from '#shared/clock.ts';
import type { RequestGate } from './gate.ts';
import { objectsIn } from './json-answer.ts';
import { modelFetch } from './model-fetch.ts';
import { type ModelFailure, ModelUnavailable } from './model-unavailable.ts';

/** The role in which a model is used. */
export type ModelRole = 'agent' | 'turbo' | 'caller' | 'judge';

/** Tokens of one request, as counted by its server; null: the server did not say, or its answer was not read to its end. */
export interface Usage {
  readonly role: ModelRole;
  readonly model: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
}

/** Called when a request begins. What it returns is called when it is over, with its tokens and why it failed. */
export type ModelTrace = (role: ModelRole, model: string) => TracedRequest;

export interface TracedRequest {
  end(tokens: Readonly<Record<string, number>>, error: string | null): void;
}

export interface LanguageModelOptions {
  readonly role: ModelRole;
  /** with or without `/v1` at its end */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  /** time limit until a response starts, including retries, then between two parts of it, ms */
  readonly timeoutMs: number;
  /** retries after 408, 425, 429, 5xx or a network error */
  readonly maxRetries: number;
  /** maximum tokens of one response */
  readonly maxTokens: number;
  /** Default 4 MiB. */
  readonly maxResponseBytes?: number;
  /** Shared by all models of a program. */
  readonly gate: RequestGate;
  readonly clock: Clock;
  /** 0..1 */
  readonly random: () => number;
  readonly usage: (usage: Usage) => void;
  /** Called once per attempt at a request. */
  readonly attempted: (role: ModelRole, outcome: 'ok' | ModelFailure) => void;
  /** Absent: requests are not traced. */
  readonly trace?: ModelTrace;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly DialogueMessage[];
  readonly tools?: readonly DialogueTool[];
  /** null or absent: the server's own */
  readonly temperature?: number | null;
  /** Sent to the server; those that support it repeat their answers. */
  readonly seed?: number;
  readonly signal?: AbortSignal;
}

const provider = 'openai-compatible';
/** Some servers reject a request whose first message is not from the person. */
const opening = '(The conversation begins now. Say your first words.)';

type Sdk = typeof import('./language-model-sdk.ts');

/** Every method throws ModelUnavailable, or the reason of the request's signal. */
export class LanguageModel implements DialogueModel {
  readonly evaluator: Evaluator;
  readonly #options: LanguageModelOptions;
  readonly #server: string;
  readonly #sdk: Promise<{
    readonly sdk: Sdk;
    readonly model: ReturnType<ReturnType<Sdk['createOpenAICompatible']>>;
  }>;

  constructor(options: LanguageModelOptions) {
    const { baseUrl, apiKey, model, role, attempted } = options;
    this.#options = options;
    this.#server = new URL(baseUrl).origin;
    this.evaluator = { provider, model, deterministic: false };
    const transport = {
      ...options,
      server: this.#server,
      maxResponseBytes: options.maxResponseBytes ?? 4 * 1024 * 1024,
      attempted: (outcome: 'ok' | ModelFailure) => attempted(role, outcome),
    };
    const base = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '');
    const server = {
      name: provider,
      baseURL: `${base}/v1`,
      includeUsage: true,
      fetch: modelFetch(transport),
      ...(apiKey === null ? {} : { apiKey }),
    };
    this.#sdk = import('./language-model-sdk.ts').then((sdk) => ({
      sdk,
      model: sdk.createOpenAICompatible(server)(model),
    }));
  }

  /** The same model, whose requests are counted once more. */
  counted(usage: LanguageModelOptions['usage']): LanguageModel {
    const { usage: own } = this.#options;
    const both = (used: Usage) => {
      own(used);
      usage(used);
    };
    return new LanguageModel({ ...this.#options, usage: both });
  }

  /** The same model, whose requests are traced. */
  traced(trace: ModelTrace): LanguageModel {
    return new LanguageModel({ ...this.#options, trace });
  }

  /** Streams text and tool calls. The request is aborted when the consumer stops reading. */
  async *reply(request: ModelRequest): AsyncGenerator<DialoguePart> {
    const { trace, role, model: name } = this.#options;
    const traced = trace?.(role, name);
    const stop = new AbortController();
    const signal = request.signal ? AbortSignal.any([request.signal, stop.signal]) : stop.signal;
    let parts = 0;
    let isCounted = false;
    let tokens: Readonly<Record<string, number>> = {};
    // Of a request whose consumer stops reading.
    let fault: string | null = 'unread';
    try {
      const { sdk, model } = await this.#sdk;
      const { fullStream } = sdk.streamText({
        ...this.#settings(sdk, request),
        model,
        abortSignal: signal,
        onError: () => undefined,
      });
      for await (const part of fullStream) {
        if (part.type === 'text-delta' && part.text !== '') {
          parts++;
          yield { type: 'text', text: part.text };
        } else if (part.type === 'tool-call') {
          parts++;
          yield { type: 'call', call: { id: part.toolCallId, name: part.toolName, input: part.input } };
        } else if (part.type === 'error') throw part.error;
        else if (part.type === 'abort') signal.throwIfAborted();
        else if (part.type === 'finish') {
          isCounted = true;
          this.#count(part.totalUsage);
          tokens = tokensOf(part.totalUsage);
        }
      }
      if (parts === 0) throw this.#nonsense('its answer is empty');
      fault = null;
    } catch (error) {
      const failure = this.#asUnavailable(error);
      fault = request.signal?.aborted ? 'aborted' : failure.failure;
      request.signal?.throwIfAborted();
      throw failure;
    } finally {
      stop.abort();
      traced?.end(tokens, fault);
      // Usage comes with the last part; an answer that was cut off before it has cost tokens all the same.
      if (parts > 0 && !isCounted) this.#count({});
    }
  }

  /** The complete text. */
  async text(request: ModelRequest): Promise<string> {
    const { trace, role, model: name } = this.#options;
    const traced = trace?.(role, name);
    try {
      const abort = request.signal ? { abortSignal: request.signal } : {};
      const { sdk, model } = await this.#sdk;
      const { text, usage } = await sdk.generateText({ ...this.#settings(sdk, request), model, ...abort });
      this.#count(usage);
      traced?.end(tokensOf(usage), null);
      return text;
    } catch (error) {
      // The server may have counted an answer that nobody waited for, or that cannot be read.
      const failure = this.#asUnavailable(error);
      traced?.end({}, request.signal?.aborted ? 'aborted' : failure.failure);
      if (request.signal?.aborted || failure.failure === 'nonsense') this.#count({});
      request.signal?.throwIfAborted();
      throw failure;
    }
  }

  /** A value that matches a schema. An invalid answer is sent back once, with what is wrong. */
  async structured<S extends TSchema>(schema: S, request: ModelRequest): Promise<Static<S>> {
    const form = `Answer with one JSON object that fits this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`;
    const asked = { ...request, system: `${request.system}\n\n${form}` };
    const first = await this.text(asked);
    const value = objectIn(schema, first);
    if (Check(schema, value)) return value;
    const wrong = complaint(schema, value);
    const messages: DialogueMessage[] = [
      ...asked.messages,
      { role: 'assistant', text: first === '' ? '(nothing)' : first, calls: [] },
      {
        role: 'user',
        text: `That does not fit the JSON Schema: ${wrong}. Answer with the corrected JSON object only.`,
      },
    ];
    const repaired = objectIn(schema, await this.text({ ...asked, messages }));
    if (Check(schema, repaired)) return repaired;
    throw this.#nonsense(`its answer does not fit what was asked for: ${complaint(schema, repaired)}`);
  }

  #settings(sdk: Sdk, { system, messages, tools = [], temperature = null, seed }: ModelRequest) {
    const list: ModelMessage[] = messages.map(asModelMessage);
    if (list[0]?.role !== 'user') list.unshift({ role: 'user', content: opening });
    return {
      system,
      messages: list,
      maxOutputTokens: this.#options.maxTokens,
      // modelFetch retries, with this project's clock and limits.
      maxRetries: 0,
      ...(temperature === null ? {} : { temperature }),
      ...(seed === undefined ? {} : { seed }),
      ...(tools.length === 0 ? {} : { tools: toolSet(sdk, tools) }),
    };
  }

  #count({
    inputTokens,
    outputTokens,
  }: {
    inputTokens?: number | undefined;
    outputTokens?: number | undefined;
  }) {
    const { role, model } = this.#options;
    const input_tokens = inputTokens ?? null;
    const output_tokens = outputTokens ?? null;
    this.#options.usage({ role, model, input_tokens, output_tokens });
  }

  #nonsense(why: string): ModelUnavailable {
    return new ModelUnavailable('nonsense', this.#options.model, this.#server, why);
  }

  #asUnavailable(error: unknown): ModelUnavailable {
    for (let cause = error; cause instanceof Error; cause = cause.cause) {
      if (cause instanceof ModelUnavailable) return cause;
    }
    const { apiKey, model } = this.#options;
    const message = error instanceof Error ? error.message : String(error);
    const plain = (apiKey === null ? message : message.replaceAll(apiKey, '********')).slice(0, 300);
    return new ModelUnavailable('nonsense', model, this.#server, `its answer cannot be read: ${plain}`, {
      cause: error,
    });
  }
}

/** By the names of OpenTelemetry's conventions. */
function tokensOf({
  inputTokens,
  outputTokens,
}: {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}) {
  return {
    ...(inputTokens !== undefined && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens !== undefined && { 'gen_ai.usage.output_tokens': outputTokens }),
  };
}

function asModelMessage(message: DialogueMessage): ModelMessage {
  if (message.role === 'user') return { role: 'user', content: message.text };
  if (message.role === 'tool') {
    const output = { type: 'text' as const, value: message.result };
    const { callId: toolCallId, name: toolName } = message;
    return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
  }
  const calls = message.calls.map(({ id, name, input }) => ({
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input,
  }));
  const text = message.text === '' ? [] : [{ type: 'text' as const, text: message.text }];
  return { role: 'assistant', content: [...text, ...calls] };
}

function toolSet({ jsonSchema, tool }: Sdk, tools: readonly DialogueTool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema) }),
    ]),
  );
}

/** The last object that fits, else the last one; undefined when there is none. */
function objectIn(schema: TSchema, text: string): unknown {
  const found = objectsIn(text);
  return found.findLast((value) => Check(schema, value)) ?? found.at(-1);
}

function complaint(schema: TSchema, value: unknown): string {
  if (value === undefined) return 'there is no JSON object in it';
  const errors = Errors(schema, value)[1].slice(0, 3);
  return errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`).join('; ');
}
