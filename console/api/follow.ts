/** Follows the events of the organization (contract 17), and goes on after a lost connection where it was. */
import { type Answer, send } from './client.ts';
import { type EventBlock, EventBlocks } from './event-blocks.ts';
import { RequestFailed } from './problem.ts';

type Call = Answer<'GET /v1/sip/calls'>['data']['calls'][number];

export interface LiveEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: { readonly call_id?: string };
  /** null: it was too large for an event. */
  readonly data: {
    readonly call?: Call;
    readonly line?: {
      readonly id: string;
      readonly user: 'user' | 'assistant' | 'agent-action';
      readonly text: string;
    };
  } | null;
}

export interface Follower {
  /** What is shown may be old: read it now. Events that come meanwhile are newer. */
  readonly onStale: () => void;
  readonly onEvent: (event: LiveEvent) => void;
  /** Whether events arrive. */
  readonly onState: (following: boolean) => void;
}

const usualRetryMs = 2000;
/** At a limit of streams, or without the right to follow: not again at once, ms. */
const refusedRetryMs = 15_000;

/** @param query as `GET /v1/events` takes it @returns ends it */
export function follow(query: Readonly<Record<string, string>>, follower: Follower): () => void {
  const stop = new AbortController();
  void run(query, follower, stop.signal);
  return () => stop.abort();
}

async function run(
  query: Readonly<Record<string, string>>,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  let lastId: string | null = null;
  let waitMs = usualRetryMs;
  while (!signal.aborted) {
    try {
      const from: string | null = lastId;
      const headers: Readonly<Record<string, string>> = from === null ? {} : { 'last-event-id': from };
      const response: Response = await send('GET /v1/events', { query, headers, signal });
      for await (const { id, type, data, retryMs } of blocksOf(response)) {
        if (id !== null) lastId = id;
        waitMs = retryMs ?? waitMs;
        if (type === 'open') {
          follower.onState(true);
          if (from === null) follower.onStale();
        } else if (type === 'missed') follower.onStale();
        else if (data !== '') follower.onEvent(JSON.parse(data));
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RequestFailed && error.problem.status >= 400) waitMs = refusedRetryMs;
    }
    if (signal.aborted) return;
    follower.onState(false);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = usualRetryMs;
  }
}

async function* blocksOf({ body }: Response): AsyncGenerator<EventBlock> {
  if (!body) return;
  const blocks = new EventBlocks();
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield* blocks.push(value);
  }
}
