/** A conversation with an agent that is not ours, over HTTP: each message of the caller is a POST. */

import { OutgoingFailure } from '#outgoing/failure.ts';
import { type OutgoingParts, sendOutgoing } from '#outgoing/request.ts';
import { isObject } from '#shared/agent/graph-problem.ts';
import { valueAtPointer } from '#shared/json-pointer.ts';
import type { RunUsage } from '../judging/usage.ts';
import type { ForeignSettings } from './rules.ts';

/** The agent did not answer, or with something that cannot be read. */
export class ForeignAgentFailure extends Error {
  override readonly name = 'ForeignAgentFailure';
  /** Whether another attempt may succeed. */
  readonly mayPass: boolean;

  constructor(message: string, mayPass: boolean) {
    super(message);
    this.mayPass = mayPass;
  }
}

export interface ForeignReply {
  /** Empty: it says nothing. */
  readonly text: string;
  readonly ended: boolean;
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** A call of a tool in a chat completion. */
interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}
/** How a chat completion tells of its calls, and is told what came of them. */
type ToolMessage =
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export interface ForeignChatParts {
  readonly settings: ForeignSettings;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly outgoing: OutgoingParts;
  /** The agent may tell conversations apart by it. */
  readonly conversationId: string;
  readonly signal: AbortSignal;
  readonly usage: Pick<RunUsage, 'add' | 'lacks'>;
  /** What a tool answers that the agent has called. */
  readonly tool: (name: string, input: unknown) => unknown;
}

/** Of an agent that tells nothing of its tokens. */
export const unseenTokens = 'The tested agent is not part of this service: its tokens are not known.';

const mostAnswerBytes = 262_144;
/** Of what it says in one turn, characters. */
const mostText = 20_000;
/** Of a conversation: each request to a chat completion has all of it. */
const mostConversation = 1_000_000;
/** In a row, for one message of the caller. */
const mostToolRounds = 8;
/** In one answer. */
const mostToolCalls = 20;

export class ForeignChat {
  readonly #parts: ForeignChatParts;
  readonly #messages: (Message | ToolMessage)[] = [];
  #characters = 0;

  constructor(parts: ForeignChatParts) {
    this.#parts = parts;
  }

  /** What the agent says before the caller's first words; null: it waits for them. @throws ForeignAgentFailure */
  async open(): Promise<ForeignReply | null> {
    return this.#parts.settings.speaks_first ? this.#ask('') : null;
  }

  /** @throws ForeignAgentFailure; the reason of the signal when that is aborted */
  async say(message: string): Promise<ForeignReply> {
    return this.#ask(message);
  }

  async #ask(message: string): Promise<ForeignReply> {
    const before = [...this.#messages];
    if (message !== '') this.#keep({ role: 'user', content: message });
    const said: string[] = [];
    for (let round = 0; ; round++) {
      const answer = await this.#post(this.#body(message, before));
      this.#count(answer);
      const reply = this.#read(answer);
      if (reply.text !== '') said.push(reply.text);
      const calls = this.#toolCalls(answer);
      if (calls.length > 0 && round >= mostToolRounds)
        throw new ForeignAgentFailure(
          `The tested agent called tools more than ${mostToolRounds} times in a row.`,
          false,
        );
      if (calls.length > 0) {
        this.#keep({ role: 'assistant', content: reply.text || null, tool_calls: calls });
        for (const call of calls) this.#keep(this.#answered(call));
        continue;
      }
      if (reply.text !== '') this.#keep({ role: 'assistant', content: reply.text });
      return { ...reply, text: said.join(' ').slice(0, mostText) };
    }
  }

  /** @throws ForeignAgentFailure */
  #keep(message: Message | ToolMessage): void {
    this.#messages.push(message);
    this.#characters += JSON.stringify(message).length;
    if (this.#characters > mostConversation)
      throw new ForeignAgentFailure(
        `The conversation with the tested agent has more than ${mostConversation} characters, with the calls of its tools.`,
        false,
      );
  }

  #answered({ function: { arguments: given, name }, id }: ToolCall): ToolMessage {
    let input: unknown = given;
    try {
      input = JSON.parse(given);
    } catch {
      // Recorded as it came.
    }
    return { role: 'tool', tool_call_id: id, content: JSON.stringify(this.#parts.tool(name, input)) };
  }

  /** @throws ForeignAgentFailure */
  #toolCalls(answer: unknown): ToolCall[] {
    if (this.#parts.settings.format !== 'openai') return [];
    const listed = valueAtPointer(answer, '/choices/0/message/tool_calls') ?? [];
    const calls = Array.isArray(listed) ? listed.map(toolCallOf) : [null];
    if (calls.length <= mostToolCalls && calls.every((call) => call !== null)) return calls;
    throw new ForeignAgentFailure("The tested agent's tool_calls cannot be read.", false);
  }

  /** A chat completion may tell what it used; whether other forms ask a model at all, nobody knows. */
  #count(answer: unknown): void {
    const { settings, usage } = this.#parts;
    if (settings.format !== 'openai') {
      usage.lacks('agent', unseenTokens);
      return;
    }
    const tokens = (name: string) => {
      const value = valueAtPointer(answer, `/usage/${name}`);
      return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;
    };
    usage.add('agent', {
      model: settings.model ?? '',
      input_tokens: tokens('prompt_tokens'),
      output_tokens: tokens('completion_tokens'),
    });
  }

  #body(message: string, history: readonly (Message | ToolMessage)[]): unknown {
    const { body, format, model } = this.#parts.settings;
    if (format === 'openai') return { model, messages: this.#messages, stream: false };
    return filled(body, { message, history, conversation_id: this.#parts.conversationId });
  }

  async #post(body: unknown): Promise<unknown> {
    const { headers, outgoing, settings, signal } = this.#parts;
    const answer = await sendOutgoing(outgoing, {
      method: 'POST',
      url: new URL(settings.url ?? ''),
      headers: {
        ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
      timeoutMs: settings.timeout_ms,
      mostBytes: mostAnswerBytes,
      signal,
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof OutgoingFailure)) throw error;
      throw new ForeignAgentFailure(
        `The tested agent did not answer: ${error.message}`,
        error.kind !== 'refused',
      );
    });
    const { status } = answer;
    if (status < 200 || status > 299) {
      const mayPass = status === 408 || status === 429 || status >= 500;
      throw new ForeignAgentFailure(`The tested agent answered with HTTP ${status}.`, mayPass);
    }
    if (answer.cut)
      throw new ForeignAgentFailure(
        `The tested agent's answer is larger than ${mostAnswerBytes} bytes.`,
        false,
      );
    try {
      return JSON.parse(answer.body.toString('utf8'));
    } catch {
      throw new ForeignAgentFailure("The tested agent's answer is not JSON.", false);
    }
  }

  #read(answer: unknown): ForeignReply {
    const { ended, format, reply } = this.#parts.settings;
    const message = '/choices/0/message';
    const at = format === 'openai' ? `${message}/content` : (reply ?? '');
    const text = valueAtPointer(answer, at) ?? null;
    // A chat completion that only calls tools has no words.
    const isSilent = format === 'openai' && text === null && isObject(valueAtPointer(answer, message));
    if (typeof text !== 'string' && !isSilent)
      throw new ForeignAgentFailure(`The tested agent's answer has no text at ${at}.`, false);
    return {
      text: typeof text === 'string' ? text.trim().slice(0, mostText) : '',
      ended: ended !== null && valueAtPointer(answer, ended) === true,
    };
  }
}

function toolCallOf(call: unknown): ToolCall | null {
  if (!isObject(call) || typeof call.id !== 'string' || !isObject(call.function)) return null;
  const { arguments: given, name } = call.function;
  if (typeof name !== 'string' || typeof given !== 'string') return null;
  return { id: call.id, type: 'function', function: { name, arguments: given } };
}

interface Values {
  readonly message: string;
  readonly conversation_id: string;
  readonly history: readonly (Message | ToolMessage)[];
}

/** Values are put into the parsed tree, so no text of the caller can end a string that it is part of. */
function filled(template: unknown, values: Values): unknown {
  if (template === '{{history}}') return values.history;
  if (typeof template === 'string') {
    return template.replaceAll(
      /\{\{(message|conversation_id)\}\}/g,
      (_, name: 'message' | 'conversation_id') => values[name],
    );
  }
  if (Array.isArray(template)) return template.map((item) => filled(item, values));
  if (!isObject(template)) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, filled(value, values)]));
}
