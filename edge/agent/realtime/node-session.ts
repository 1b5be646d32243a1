/**
 * A Realtime node of a pathway on a call: a model holds the conversation until it hands back, ends the call, or is lost.
 * The agent of the call passes audio and keys on meanwhile.
 */
import type { Turn, Variables } from '#shared/agent/interfaces.ts';
import {
  handBackOf,
  type RealtimeOrder,
  type RealtimeResult,
  readHandBack,
} from '#shared/agent/realtime-order.ts';
import type { AgentSettings } from '#shared/edge-protocol/agents.ts';
import type { AgentHost, CallFacts } from '../../call/ports/agents.ts';
import type { DtmfEvent } from '../../call/ports/media.ts';
import type { NodePart } from './node-part.ts';
import { RateBridge } from './rate-bridge.ts';
import { RealtimeAgent, type RealtimeDeps } from './realtime-agent.ts';

type Outcome = RealtimeResult['outcome'];

export interface NodeSessionParts {
  readonly settings: AgentSettings;
  readonly call: CallFacts;
  readonly host: AgentHost;
  readonly node: { readonly nodeId: string; readonly nodeName: string };
  /** Of the agent's audio, Hz. */
  readonly sampleRate: 8000 | 16000;
  /** Without `tools`, which belong to the node. */
  readonly deps: Omit<RealtimeDeps, 'node'>;
}

export class NodeSession {
  readonly #order: RealtimeOrder;
  readonly #agent: RealtimeAgent;
  readonly #sampleRate: 8000 | 16000;
  readonly #ended = Promise.withResolvers<Outcome>();
  #bridge: RateBridge | null = null;
  /** Variables from the results of tools. */
  #learned: Variables = {};

  constructor(order: RealtimeOrder, parts: NodeSessionParts) {
    const { settings, call, host, node, deps, sampleRate } = parts;
    this.#order = order;
    this.#sampleRate = sampleRate;
    const { voice, temperature, connection, variables } = order;
    this.#agent = new RealtimeAgent(
      {
        ...settings,
        kind: 'realtime',
        connection_id: connection,
        prompt: '',
        first_sentence: null,
        wait_for_greeting: false,
        fallback_number: null,
        voice,
        ...(temperature !== null && { temperature }),
        request_data: variables,
        // Another node transfers.
        transfer_list: {},
      },
      // The conversation's variables have those of the call.
      { ...call, variables: {} },
      this.#hostFor(host, node),
      { ...deps, tools: this.#learning(deps.tools), node: this.#part() },
    );
  }

  /** Resolves when the model's part has ended. Never rejects. */
  async run(): Promise<RealtimeResult> {
    try {
      await this.#agent.prepare();
      this.#bridge = new RateBridge(this.#sampleRate, this.#agent.sampleRate);
      this.#agent.start();
    } catch (error) {
      this.#ended.resolve({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
    }
    const outcome = await this.#ended.promise;
    this.#agent.close('its part has ended');
    const turns = this.#agent.said.map(({ user, text }): Turn => ({ role: user, text }));
    return { outcome, turns, variables: this.#learned };
  }

  read(frame: Int16Array): boolean {
    return this.#bridge?.read(frame, (own) => this.#agent.read(own)) ?? false;
  }

  write(frame: Int16Array): void {
    this.#bridge?.write(frame, (own) => this.#agent.write(own));
  }

  dtmf(event: DtmfEvent): void {
    this.#agent.dtmf(event);
  }

  instruct(text: string): void {
    this.#agent.instruct(text);
  }

  close(reason: string): void {
    this.#agent.close(reason);
    this.#ended.resolve({ kind: 'failed', reason });
  }

  #part(): NodePart {
    const { instructions, sentence, history, mayEnd } = this.#order;
    const tool = handBackOf(this.#order);
    return {
      instructions,
      sentence,
      history: history.map(({ role, text }) => ({ user: role, text })),
      mayEnd,
      handBack: tool && {
        tool,
        read: (call) => {
          const read = readHandBack(call, this.#order);
          return 'refused' in read ? read : () => this.#ended.resolve({ kind: 'handed_back', ...read });
        },
      },
    };
  }

  /** The call as the model's part sees it: its end is the end of this part. */
  #hostFor(host: AgentHost, { nodeId, nodeName }: NodeSessionParts['node']): AgentHost {
    return {
      hangup: () => this.#ended.resolve({ kind: 'ended' }),
      fail: ({ message }) => this.#ended.resolve({ kind: 'failed', reason: message }),
      transcript: (entry) => host.transcript({ ...entry, node_id: nodeId, node_name: nodeName }),
      // The conversation reports what it has learned.
      variables: () => undefined,
      sendDtmf: (digits) => host.sendDtmf(digits),
      keysPossible: () => host.keysPossible(),
      transfer: (order) => host.transfer(order),
      join: () => host.join(),
      answeredBy: (who) => host.answeredBy(who),
    };
  }

  #learning(tools: RealtimeDeps['tools']): RealtimeDeps['tools'] {
    return (
      tools && {
        list: () => tools.list(),
        run: async (...order) => {
          const result = await tools.run(...order);
          this.#learned = { ...this.#learned, ...result.variables };
          return result;
        },
      }
    );
  }
}
