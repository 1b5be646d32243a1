/** The client: every operation by its name, and the ones used most by a name of their own. */
import { type EventFilter, type FollowOptions, followEvents, type StreamEvent } from './events.ts';
import type { ListItems } from './generated.ts';
import { lists } from './generated-lists.ts';
import { List, type Query } from './pages.ts';
import { type ClientOptions, type RequestOptions, type SentParts, Transport } from './transport.ts';
import type { Answer, Body, ListName, ListQuery, OperationName, Parts } from './types.ts';

export class Trunkline {
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
  }

  /**
   * Any operation of the API: `client.request('GET /v1/calls/{call_id}', { path: { call_id } })`. Files are returned as a
   * `Response`.
   * @throws ApiError, ConnectionError, TimeoutError
   */
  async request<Name extends OperationName>(
    name: Name,
    parts: Parts<Name>,
    options: RequestOptions = {},
  ): Promise<Answer<Name>> {
    return (await this.#transport.request(name, parts as SentParts, options)) as Answer<Name>;
  }

  /** Any list: `for await (const line of client.list('GET /v1/calls/transcripts', { query: { query: 'refund' } }))`. */
  list<Name extends ListName>(
    name: Name,
    parts: Omit<Parts<Name>, 'query' | 'body'> & { readonly query?: ListQuery<Name> },
    options: RequestOptions = {},
  ): List<ListItems[Name]> {
    const { path, query = {} } = parts as { readonly path?: SentParts['path']; readonly query?: Query };
    return new List(lists[name], query, (page) =>
      this.#transport.request(name, { ...(path && { path }), query: page }, options),
    );
  }

  /** What happens in the organization, from now on, also after a lost connection. Break off the loop to end it. */
  events(
    filter: EventFilter = {},
    options: FollowOptions = {},
  ): AsyncGenerator<StreamEvent, void, undefined> {
    return followEvents(this.#transport, filter, options);
  }

  readonly calls = {
    list: (query: ListQuery<'GET /v1/calls'> = {}, options?: RequestOptions) =>
      this.list('GET /v1/calls', { query }, options),
    get: (call_id: string, options?: RequestOptions) =>
      this.request('GET /v1/calls/{call_id}', { path: { call_id } }, options),
    create: (order: Body<'POST /v1/calls'>, options?: RequestOptions) =>
      this.request('POST /v1/calls', { body: order }, options),
    stop: (call_id: string, options?: RequestOptions) =>
      this.request('POST /v1/calls/{call_id}/stop', { path: { call_id } }, options),
    transfer: (order: Body<'POST /v1/calls/active/transfer'>, options?: RequestOptions) =>
      this.request('POST /v1/calls/active/transfer', { body: order }, options),
  };

  /** The SIP side: needs the SIP entitlement of the organization. */
  readonly sip = {
    calls: (query: ListQuery<'GET /v1/sip/calls'> = {}, options?: RequestOptions) =>
      this.list('GET /v1/sip/calls', { query }, options),
    numbers: (options?: RequestOptions) => this.list('GET /v1/sip/numbers', {}, options),
    refused: (query: ListQuery<'GET /v1/sip/refused'> = {}, options?: RequestOptions) =>
      this.list('GET /v1/sip/refused', { query }, options),
    attach: (body: Body<'POST /v1/sip/attach'>, options?: RequestOptions) =>
      this.request('POST /v1/sip/attach', { body }, options),
    status: (phone_number: string, options?: RequestOptions) =>
      this.request('GET /v1/sip/status', { query: { phone_number } }, options),
  };

  readonly pathways = {
    list: (options?: RequestOptions) => this.list('GET /v1/pathway', { query: { graphs: false } }, options),
    get: (id: string, options?: RequestOptions) =>
      this.request('GET /v1/pathway/{id}', { path: { id } }, options),
    versions: (id: string, options?: RequestOptions) =>
      this.list('GET /v1/pathway/{id}/versions', { path: { id } }, options),
    createVersion: (id: string, body: Body<'POST /v1/pathway/{id}/version'>, options?: RequestOptions) =>
      this.request('POST /v1/pathway/{id}/version', { path: { id }, body }, options),
  };

  readonly tests = {
    scenarios: (query: ListQuery<'GET /v1/agent-testing/scenarios'> = {}, options?: RequestOptions) =>
      this.list('GET /v1/agent-testing/scenarios', { query }, options),
    run: (
      id: string,
      body: Body<'POST /v1/agent-testing/scenarios/{id}/run'> = {},
      options?: RequestOptions,
    ) => this.request('POST /v1/agent-testing/scenarios/{id}/run', { path: { id }, body }, options),
    runBatch: (body: Body<'POST /v1/agent-testing/batch-run'>, options?: RequestOptions) =>
      this.request('POST /v1/agent-testing/batch-run', { body }, options),
    getRun: (id: string, options?: RequestOptions) =>
      this.request('GET /v1/agent-testing/runs/{id}', { path: { id } }, options),
    getBatch: (id: string, options?: RequestOptions) =>
      this.request('GET /v1/agent-testing/batches/{id}', { path: { id } }, options),
  };
}
