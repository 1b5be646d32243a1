/** A client of the HTTP API for tests. */
import { eventually, saw } from './eventually.ts';

export interface LoggedCall {
  readonly id: string;
  readonly call_id: string;
  readonly direction: string;
  readonly from: string;
  readonly to: string;
  readonly status: string;
  readonly sip_code: number | null;
  readonly outcome: string;
  readonly duration_seconds: number;
  readonly started_at: string;
  readonly answered_at: string | null;
  readonly ended_at: string | null;
  readonly source_ip: string | null;
  readonly codec: string | null;
  readonly hangup_by: string | null;
  readonly media: {
    readonly packets_sent: number;
    readonly packets_received: number;
    readonly packets_lost: number;
    readonly jitter_ms: number | null;
    readonly mos: number | null;
    readonly verdict: string;
  } | null;
}

export interface TracedMessage {
  readonly seq: number;
  readonly direction: 'sent' | 'received';
  readonly local: string;
  readonly remote: string;
  readonly transport: string;
  readonly start_line: string;
  readonly raw: string;
}

export interface CallDetail {
  readonly call_id: string;
  readonly status: string;
  readonly variables: Record<string, unknown>;
  readonly error_message: string | null;
  readonly transcripts: readonly { readonly user: string; readonly text: string }[];
  readonly pathway_logs: readonly { readonly node_id: string | null; readonly text: string }[];
}

export class Api {
  readonly url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.#key = key;
  }

  async request(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return saw({ status: response.status, body: text === '' ? null : JSON.parse(text) });
  }

  /** @throws Error unless the answer is 2xx */
  async ok<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.request(method, path, body);
    if (answer.status >= 200 && answer.status < 300) return answer.body as T;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async bytes(path: string): Promise<{ status: number; type: string | null; bytes: Buffer }> {
    const response = await fetch(`${this.url}${path}`, { headers: { authorization: `Bearer ${this.#key}` } });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      bytes: Buffer.from(await response.arrayBuffer()),
    };
  }

  async calls(query = ''): Promise<LoggedCall[]> {
    const { data } = await this.ok<{ data: { calls: LoggedCall[] } }>(
      'GET',
      `/v1/sip/calls?limit=500${query}`,
    );
    return data.calls;
  }

  /** The call log's entry of a call, once it has ended. */
  endedCall(callId: string): Promise<LoggedCall> {
    return this.loggedCall(callId, (call) => call.ended_at !== null);
  }

  /** The call log's entry, once it matches. @param callId SIP Call-ID, or id */
  loggedCall(callId: string, wished: (call: LoggedCall) => boolean): Promise<LoggedCall> {
    return eventually(`call ${callId} in the log`, async () => {
      const answer = await this.request('GET', `/v1/sip/calls/${encodeURIComponent(callId)}`);
      if (answer.status !== 200) return null;
      const { call } = (answer.body as { data: { call: LoggedCall } }).data;
      return wished(call) ? call : null;
    });
  }

  async trace(callId: string): Promise<TracedMessage[]> {
    const path = `/v1/sip/calls/${encodeURIComponent(callId)}/trace`;
    const { data } = await this.ok<{ data: { messages: TracedMessage[] } }>('GET', path);
    return data.messages;
  }

  detail(id: string): Promise<CallDetail> {
    return this.ok<CallDetail>('GET', `/v1/calls/${id}`);
  }

  /** Attaches a number for calls from `allowedIps`. */
  async attach(number: string, allowedIps: readonly string[] = ['127.0.0.1']): Promise<void> {
    const { data } = await this.ok<{ data: { configured: string[] } }>('POST', '/v1/sip/attach', {
      phone_number: number,
      directions: [{ type: 'inbound', options: { allowed_ips: allowedIps } }],
    });
    if (!data.configured.includes(number))
      throw new Error(`${number} was not attached: ${JSON.stringify(data)}`);
  }

  /** @returns the pathway's id */
  async pathway(name: string, nodes: readonly unknown[], edges: readonly unknown[]): Promise<string> {
    const created = await this.ok<{ pathway_id: string }>('POST', '/v1/pathway/create', { name });
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
      const { data } = await this.ok<{ data: { configurations: { applied: boolean }[] } }>('GET', path);
      return data.configurations.every(({ applied }) => applied) || null;
    });
  }
}
