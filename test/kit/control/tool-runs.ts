/** Tools with a target server, and their runs, for tests. */
import { afterEach, beforeEach } from 'vitest';
import { ResourceOne, ToolChanged } from '#shared/api/tools.ts';
import { onSqlite } from '../db/test-database.ts';
import type { Answer } from '../http/answer.ts';
import { startControl, type TestControl } from './harness.ts';
import { emptiedForEach } from './routes-of-file.ts';
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

/**
 * The control plane is one for all tests of a file, as after its start for each (routes-of-file.ts); the target is new.
 */
export class ToolRuns {
  readonly test: TestControl;
  #target: TargetServer | null = null;
  #addresses: string[][] = [];

  private constructor() {
    const resolve = async () => this.#addresses.shift() ?? ['127.0.0.1'];
    const env = { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' };
    this.test = emptiedForEach(() => startControl(env, { resolve }, {}, { begin: onSqlite }));
    beforeEach(async () => {
      this.#addresses = [];
      this.#target = await startTarget();
    });
    afterEach(() => this.target.close());
  }

  /** Call it where the file begins. */
  static ofFile(): ToolRuns {
    return new ToolRuns();
  }

  /** Of the present test. */
  get target(): TargetServer {
    if (!this.#target) throw new Error('no test runs');
    return this.#target;
  }

  /** What DNS answers to the next questions; then 127.0.0.1. */
  set addresses(answers: string[][]) {
    this.#addresses = answers;
  }

  get addresses(): readonly string[][] {
    return this.#addresses;
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
