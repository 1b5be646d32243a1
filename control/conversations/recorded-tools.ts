import type { ToolResult, ToolRunner, ToolSpec, Variables } from '#shared/agent/interfaces.ts';
import type { Clock } from '#shared/clock.ts';

/** One tool call of an agent. */
export interface ToolCallRecord {
  readonly name: string;
  readonly input: unknown;
  readonly result: ToolResult;
  /** start, ms since the epoch */
  readonly at: number;
}

/** Tools that record each of their calls in `calls`. */
export class RecordedTools implements ToolRunner {
  readonly #tools: ToolRunner;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #calls: ToolCallRecord[];

  constructor(tools: ToolRunner, clock: Pick<Clock, 'now'>, calls: ToolCallRecord[]) {
    this.#tools = tools;
    this.#clock = clock;
    this.#calls = calls;
  }

  list(): readonly ToolSpec[] {
    return this.#tools.list();
  }

  async run(name: string, input: unknown, signal: AbortSignal, variables: Variables): Promise<ToolResult> {
    const at = this.#clock.now();
    const result = await this.#tools.run(name, input, signal, variables);
    this.#calls.push({ name, input, result, at });
    return result;
  }
}
