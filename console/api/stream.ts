/** Reads a stream of server-sent events, and goes on after a lost connection where it was. */

import { type EventBlock, EventBlocks } from '../../clients/typescript/src/event-blocks.ts';
import { send } from './client.ts';
import { RequestFailed } from './problem.ts';

export interface StreamedPlace {
  /** `GET <path>` */
  readonly name: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

export interface StreamReader {
  /**
   * @param first no event was read before: what is shown may be old
   * @returns 'over' when nothing follows
   */
  readonly onBlock: (block: EventBlock, first: boolean) => 'over' | undefined;
  /** The connection is lost; it is tried again. */
  readonly onLost: () => void;
}

const usualRetryMs = 2000;
/** At a limit of streams, or without the right to follow: not again at once, ms. */
const refusedRetryMs = 15_000;

/** @returns ends it */
export function readStream(place: StreamedPlace, reader: StreamReader): () => void {
  const stop = new AbortController();
  void run(place, reader, stop.signal);
  return () => stop.abort();
}

async function run(
  { name, ...parts }: StreamedPlace,
  reader: StreamReader,
  signal: AbortSignal,
): Promise<void> {
  let lastId: string | null = null;
  let waitMs = usualRetryMs;
  while (!signal.aborted) {
    try {
      const from: string | null = lastId;
      const headers: Readonly<Record<string, string>> = from === null ? {} : { 'last-event-id': from };
      const response: Response = await send(name, { ...parts, headers, signal });
      for await (const block of blocksOf(response)) {
        if (block.id !== null) lastId = block.id;
        waitMs = block.retryMs ?? waitMs;
        if (reader.onBlock(block, from === null) === 'over') return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RequestFailed && error.problem.status >= 400) waitMs = refusedRetryMs;
    }
    if (signal.aborted) return;
    reader.onLost();
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = usualRetryMs;
  }
}

async function* blocksOf({ body }: Response): AsyncGenerator<EventBlock> {
  if (!body) return;
  const blocks = new EventBlocks();
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* blocks.push(value);
    }
  } finally {
    // Else the connection stays when nothing more is read of it, and a browser opens only six to an address.
    void reader.cancel().catch(() => undefined);
  }
}
