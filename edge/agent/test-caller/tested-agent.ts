/**
 * The tested end of a test run: the ordinary agent, but the run answers its webhooks and tools, its transfers are
 * recorded instead of carried out, and its account of the conversation is kept.
 */
import type { LogLine, Talk, Visit, WebhookResult } from '#shared/agent/conversation.ts';
import type { ToolResult, Variables } from '#shared/agent/interfaces.ts';
import {
  type AgentTestEvent,
  type AgentTestOrder,
  type ModelRequest,
  mostRequests,
} from '#shared/agent-test-protocol.ts';
import type { AgentHost, AgentLeg, Agents } from '../../call/ports/agents.ts';
import { type AgentsDeps, createAgents } from '../agents.ts';
import { toolDescriptions } from '../tool-client.ts';
import { tappedLeg } from './tapped-leg.ts';

export interface TestedAgentParts {
  readonly agents: AgentsDeps;
  readonly send: (event: AgentTestEvent) => void;
  /** The agent starts to speak. */
  readonly begins: () => void;
}

type Answer = Extract<AgentTestOrder, { type: 'webhook_result' | 'tool_result' }>;

export class TestedAgent {
  readonly #parts: TestedAgentParts;
  readonly #asked = new Map<number, (answer: Answer) => void>();
  /** Ids of the agent's lines so far. */
  readonly #lines = new Set<string>();
  #questions = 0;
  callId: string | null = null;
  /** Whether it understands speech: pathways and personas need a transcription server for it. */
  hears = true;
  transferredTo: string | null = null;
  #visits: readonly Visit[] | null = null;
  #learned: Variables = {};
  #log: readonly LogLine[] = [];
  #sounds = false;
  /** null: not counted, or too many */
  #requests: ModelRequest[] | null = null;

  constructor(parts: TestedAgentParts) {
    this.#parts = parts;
  }

  /** Whether it waits for a webhook or a tool. */
  get busy(): boolean {
    return this.#asked.size > 0;
  }

  /** Whether it plays its words: the caller may not have heard the last of them, or not judged them yet. */
  get sounds(): boolean {
    return this.#sounds;
  }

  /** Creates the agent of the tested call. */
  agents(): Agents {
    const { models } = this.#parts.agents;
    if (models.counted) this.#requests = [];
    const agents = createAgents({
      ...this.#parts.agents,
      models: models.counted?.((request) => this.#count(request)) ?? models,
      webhook: (request, node_id) => this.#webhook(request, node_id),
      tools: (tools) => ({
        list: () => toolDescriptions(tools),
        run: async (name, inputs, signal, variables) => {
          const tool = tools.find((one) => one.name === name);
          if (!tool) return { ok: false, data: null, error: `there is no tool "${name}"`, variables: {} };
          return this.#tool(tool.tool_id, inputs, variables, signal);
        },
      }),
      watched: (talk) => this.#watch(talk),
      cutOff: (id, text) => this.#parts.send({ type: 'cut', id, text }),
    });
    return {
      ...agents,
      create: (settings, call, host) => {
        this.callId = call.callId;
        const { stt, transcriber } = this.#parts.agents;
        const talks = settings.kind === 'pathway' || settings.kind === 'persona';
        this.hears = !talks || stt !== null || Boolean(transcriber);
        return this.#watchedLeg(agents.create(settings, call, this.#tapped(host)));
      },
    };
  }

  /** Takes the run's answer to a webhook or tool. */
  answer(answer: Answer): void {
    this.#asked.get(answer.id)?.(answer);
    this.#asked.delete(answer.id);
  }

  account(): Pick<
    Extract<AgentTestEvent, { type: 'ended' }>,
    'transferred_to' | 'visits' | 'variables' | 'log' | 'requests'
  > {
    return {
      transferred_to: this.transferredTo,
      visits: this.#visits?.map(({ nodeId, nodeName }) => ({ node_id: nodeId, node_name: nodeName })) ?? null,
      variables: this.#learned,
      log: this.#log.map(({ at, nodeId, message, fact }) => ({ at, node_id: nodeId, message, fact })),
      ...(this.#requests && { requests: this.#requests }),
    };
  }

  #count({ input_tokens, model, output_tokens }: ModelRequest): void {
    if (this.#requests && this.#requests.length >= mostRequests) this.#requests = null;
    this.#requests?.push({ model, input_tokens, output_tokens });
  }

  #watch({ visits, learned, log }: Talk): void {
    this.#visits = visits;
    this.#learned = learned;
    this.#log = log;
  }

  async #webhook(
    request: Extract<AgentTestEvent, { type: 'webhook' }>['request'],
    node_id: string,
  ): Promise<WebhookResult> {
    const id = ++this.#questions;
    const answered = new Promise<Answer>((resolve) => this.#asked.set(id, resolve));
    this.#parts.send({ type: 'webhook', id, node_id, request });
    const answer = await answered;
    if (answer.type === 'webhook_result') return answer.result;
    return { status: null, body: null, error: 'the test run did not answer' };
  }

  async #tool(
    tool_id: string,
    inputs: unknown,
    variables: Variables,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    const id = ++this.#questions;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const abort = () => reject(signal.reason);
    this.#asked.set(id, resolve);
    signal.addEventListener('abort', abort, { once: true });
    this.#parts.send({ type: 'tool', id, tool_id, inputs, variables });
    try {
      const answer = await promise;
      if (answer.type === 'tool_result') return answer.result;
      return { ok: false, data: null, error: 'the test run did not answer', variables: {} };
    } finally {
      signal.removeEventListener('abort', abort);
      this.#asked.delete(id);
    }
  }

  #watchedLeg(leg: AgentLeg): AgentLeg {
    return tappedLeg(leg, {
      read: (frame) => {
        this.#sounds = leg.read(frame);
        return this.#sounds;
      },
      close: (reason) => {
        this.#sounds = false;
        leg.close(reason);
      },
    });
  }

  #tapped(host: AgentHost): AgentHost {
    return {
      hangup: (reason, extras) => host.hangup(reason, extras),
      sendDtmf: (digits) => host.sendDtmf(digits),
      keysPossible: () => host.keysPossible(),
      transcript: (entry) => {
        host.transcript(entry);
        if (entry.user !== 'assistant') return;
        const { fact, id, node_id, text } = entry;
        // A line that was cut off is reported again, with what was heard of it. Of one with a fact, `cutOff` has said it.
        if (this.#lines.has(id)) {
          if (fact?.kind !== 'cut_off') this.#parts.send({ type: 'cut', id, text });
          return;
        }
        this.#lines.add(id);
        this.#parts.begins();
        this.#parts.send({ type: 'line', text, node_id, id });
      },
      mark: (mark) => host.mark?.(mark),
      variables: (values) => host.variables(values),
      transfer: async ({ target }) => {
        this.transferredTo = target;
        host.hangup(`The test run ends at the transfer to ${target}.`);
        return { ok: true };
      },
      join: () => host.join(),
      answeredBy: (who) => host.answeredBy(who),
      fail: (error) => host.fail(error),
    };
  }
}
