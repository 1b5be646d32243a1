/** A client of the HTTP API of a running program, for tests. */
import { Agent } from 'node:http';
import type { Static, TSchema } from 'typebox';
import { CallView } from '#shared/api/calls.ts';
import { PathwayCreated } from '#shared/api/pathways.ts';
import { Attached, NumberConfigurations } from '#shared/api/sip.ts';
import {
  type CallLogEntry,
  CallLogOne,
  CallLogPage,
  Trace,
  type TracedMessage,
} from '#shared/api/sip-calls.ts';
import { type Answer, send } from '../http/answer.ts';
import { eventually, saw } from './eventually.ts';

export class Api {
  readonly url: string;
  readonly #key: string;
  readonly #agent: Agent;

  /** @param agent a new connection for each request unless it says otherwise: tests kill the program */
  constructor(url: string, key: string, agent = new Agent()) {
    this.url = url;
    this.#key = key;
    this.#agent = agent;
  }

  async request(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const isJson = body !== undefined && { 'content-type': 'application/json' };
    const answer = await send(this.#agent, {
      method,
      url: `${this.url}${path}`,
      headers: { authorization: `Bearer ${this.#key}`, ...isJson, ...headers },
      body: JSON.stringify(body),
    });
    saw({ status: answer.status, text: answer.text });
    return answer;
  }

  /** @throws Error unless the status is 2xx */
  async ok(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.request(method, path, body);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
  }

  /** The body of a response. @throws Error unless the status is 2xx and the body matches the schema */
  async read<S extends TSchema>(schema: S, method: string, path: string, body?: unknown): Promise<Static<S>> {
    return (await this.ok(method, path, body)).read(schema);
  }

  async calls(query = ''): Promise<CallLogEntry[]> {
    return (await this.read(CallLogPage, 'GET', `/v1/sip/calls?limit=500${query}`)).data.calls;
  }

  /** The call log's entry of a call, once it has ended. */
  endedCall(callId: string): Promise<CallLogEntry> {
    return this.loggedCall(callId, (call) => call.ended_at !== null);
  }

  /** The call log's entry, once it matches. @param callId SIP Call-ID, or id */
  loggedCall(callId: string, wished: (call: CallLogEntry) => boolean): Promise<CallLogEntry> {
    return eventually(`call ${callId} in the log`, async () => {
      const answer = await this.request('GET', `/v1/sip/calls/${encodeURIComponent(callId)}`);
      if (answer.status !== 200) return null;
      const { call } = answer.read(CallLogOne).data;
      return wished(call) ? call : null;
    });
  }

  /** Each message once: a response is sent again, octet for octet, when its ACK is late, as on a slow machine. */
  async trace(callId: string): Promise<TracedMessage[]> {
    const path = `/v1/sip/calls/${encodeURIComponent(callId)}/trace`;
    const { messages } = (await this.read(Trace, 'GET', path)).data;
    return [...new Map(messages.map((message) => [octets(message), message])).values()];
  }

  detail(id: string): Promise<CallView> {
    return this.read(CallView, 'GET', `/v1/calls/${id}`);
  }

  /** Attaches a number for calls from `allowedIps`. */
  async attach(number: string, allowedIps: readonly string[] = ['127.0.0.1']): Promise<void> {
    const { data } = await this.read(Attached, 'POST', '/v1/sip/attach', {
      phone_number: number,
      directions: [{ type: 'inbound', options: { allowed_ips: allowedIps } }],
    });
    if (!data.configured.includes(number))
      throw new Error(`${number} was not attached: ${JSON.stringify(data)}`);
  }

  /** @returns the pathway's id */
  async pathway(name: string, nodes: readonly unknown[], edges: readonly unknown[]): Promise<string> {
    const created = await this.read(PathwayCreated, 'POST', '/v1/pathway/create', { name });
    await this.ok('POST', `/v1/pathway/${created.pathway_id}`, { nodes, edges });
    return created.pathway_id;
  }

  /** Sets the agent of a number. @param agent fields of contract section 10, for example `{ pathway_id }` */
  async answerWith(number: string, agent: Record<string, unknown>): Promise<void> {
    await this.ok('POST', `/v1/inbound/${encodeURIComponent(number)}`, agent);
  }

  /** Resolves when every connected edge has applied the number's current configuration. */
  async applied(number: string): Promise<void> {
    const path = `/v1/sip?phone_number=${encodeURIComponent(number)}`;
    await eventually(`the edge to apply the configuration of ${number}`, async () => {
      const { data } = await this.read(NumberConfigurations, 'GET', path);
      return data.configurations.every(({ applied }) => applied) || null;
    });
  }
}

const octets = ({ direction, raw }: TracedMessage): string => `${direction} ${raw}`;
