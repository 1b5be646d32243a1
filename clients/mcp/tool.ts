/** A tool that an assistant may call: what it takes, and what it does with the API. */
import type { Static, TObject } from 'typebox';
import type { Trunkline } from '../typescript/src/index.ts';

export interface Tool {
  readonly name: string;
  /** For the assistant: when to use it, and what it returns. */
  readonly description: string;
  /** JSON Schema of an object. */
  readonly input: TObject;
  /** Whether it changes something, and so needs `--allow-writes`. */
  readonly writes: boolean;
  readonly call: (client: Trunkline, args: unknown, signal: AbortSignal) => Promise<object>;
}

/** @param run gets arguments that match `input` */
export function tool<Input extends TObject>(
  about: Pick<Tool, 'name' | 'description'> & { readonly input: Input; readonly writes?: boolean },
  run: (client: Trunkline, args: Static<Input>, signal: AbortSignal) => Promise<object>,
): Tool {
  return {
    writes: false,
    ...about,
    call: (client, args, signal) => run(client, args as Static<Input>, signal),
  };
}
