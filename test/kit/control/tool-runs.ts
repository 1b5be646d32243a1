/** Tools with a target server, and their runs, for tests. */
import { ResourceOne, ToolChanged } from '#shared/api/tools.ts';
import { onSqlite } from '../db/test-database.ts';
import { releaseAll } from '../fakes/release.ts';
import type { Answer } from '../http/answer.ts';
import { startControl, type TestControl } from './harness.ts';
import { startTarget, type TargetServer } from './tools.ts';

export const rest = { name: 'lookup', description: 'Finds', integration: 'rest_api', action: 'request' };
export const order = {
  input_schema: {
    type: 'object',
    properties: { order: { type: 'string', minLength: 1 }, extra: {} },
    required: ['order'],
    additionalProperties: false,
  },
};

interface ReceivedJson {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

export class ToolRuns {
  readonly test: TestControl;
  readonly target: TargetServer;
  readonly #dns: { answers: string[][] };

  private constructor(test: TestControl, target: TargetServer, dns: { answers: string[][] }) {
    this.test = test;
    this.target = target;
    this.#dns = dns;
  }

  static async start(): Promise<ToolRuns> {
    const dns: { answers: string[][] } = { answers: [] };
    const resolve = async () => dns.answers.shift() ?? ['127.0.0.1'];
    const env = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' };
    const test = await startControl(env, { resolve }, {}, { begin: onSqlite });
    return new ToolRuns(test, await startTarget(), dns);
  }

  close(): Promise<void> {
    return releaseAll(
      () => this.test.close(),
      () => this.target.close(),
    );
  }

  /** What DNS answers to the next questions; then 127.0.0.1. */
  set addresses(answers: string[][]) {
    this.#dns.answers = answers;
  }

  get addresses(): readonly string[][] {
    return this.#dns.answers;
  }

  /** Creates a tool. @returns its id */
  async create(body: Record<string, unknown>): Promise<string> {
    const answer = await this.test.call('POST', '/v2/tools', { body: { ...rest, ...body } });
    return answer.read(ToolChanged).data.id;
  }

  run(id: string, body: unknown = {}): Promise<Answer> {
    return this.test.call('POST', `/v2/tools/${id}/run`, { body });
  }

  /** Connects a resource. @returns its id */
  async connect(integration: string, credentials: Record<string, unknown>): Promise<string> {
    const url = `/v1/integrations/${integration}/resources`;
    const answer = await this.test.call('POST', url, { body: { name: 'Main', credentials } });
    return answer.read(ResourceOne).data.resource.id;
  }

  /** The requests that the target received, with their JSON bodies. */
  received(): ReceivedJson[] {
    return this.target.received.map(({ method, url, body }) => ({
      method,
      url,
      body: body === '' ? null : JSON.parse(body),
    }));
  }
}
