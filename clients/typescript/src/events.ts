/** The events of the organization as they happen: `GET /v1/events`. */
import { ApiError, TrunklineError } from './errors.ts';
import { type EventBlock, EventBlocks } from './event-blocks.ts';
import { pause, type RequestOptions, type Transport } from './transport.ts';
import type { Answer } from './types.ts';

export interface EventFilter {
  /** Types or families: `['call.ended', 'trunk']`; default: all except `quality.sample` */
  readonly types?: readonly string[];
  readonly call_id?: string;
  readonly number?: string;
  readonly trunk_id?: string;
  readonly subject_id?: string;
}

export interface FollowOptions {
  /** Ends the stream. */
  readonly signal?: AbortSignal;
  /** Continues after this event, which was read earlier. */
  readonly lastEventId?: string;
}

export type LoggedCall = Answer<'GET /v1/sip/calls'>['data']['calls'][number];

interface Happened<Type extends string, Data> {
  readonly id: string;
  readonly type: Type;
  readonly at: string;
  /** What it is about: `call_id`, `number`, `trunk_id` and the like. */
  readonly subject: Readonly<Record<string, string>>;
  /** null: it was too large for an event; read its subject. */
  readonly data: Data | null;
}

type CallEvent = 'call.begun' | 'call.ringing' | 'call.answered' | 'call.updated' | 'call.ended';
type OtherEvent =
  | `supervision.${'joined' | 'changed' | 'left'}`
  | 'quality.sample'
  | 'trunk.health'
  | 'trunk.moved'
  | 'registration.changed'
  | `alert.${'raised' | 'resolved'}`
  | `discovery.${'updated' | 'ended'}`
  | `test_call.${'updated' | 'ended'}`
  | `test_run.${'updated' | 'ended'}`
  | 'port.updated';

export interface TranscriptLine {
  readonly id: string;
  readonly created_at: string;
  readonly user: 'user' | 'assistant' | 'agent-action';
  readonly text: string;
  readonly node_id: string | null;
  readonly node_name: string | null;
}

export type StreamEvent =
  | Happened<CallEvent, { readonly call: LoggedCall }>
  | Happened<'transcript.line', { readonly line: TranscriptLine }>
  | Happened<OtherEvent, Readonly<Record<string, unknown>>>
  /** The stream is open, first or again: read the current state after the first one. */
  | { readonly type: 'open'; readonly resumed: boolean }
  /** Events after the last one are no longer stored: read the current state. */
  | { readonly type: 'missed'; readonly id: string | null };

const usualPauseMs = 2000;
/** At a limit of streams. */
const refusedPauseMs = 15_000;
/** The server sends something every 15 s. */
const silentMs = 45_000;

/** Goes on after a lost connection where it was. @throws ApiError when the key may not follow; the signal's reason */
export async function* followEvents(
  transport: Transport,
  filter: EventFilter,
  { signal, lastEventId }: FollowOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const { types, ...others } = filter;
  const query = { ...others, ...(types && { types: types.join(',') }) };
  let last = lastEventId;
  for (;;) {
    let pauseMs = usualPauseMs;
    try {
      const silence = new AbortController();
      const options = {
        signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
        headers: last === undefined ? {} : { 'last-event-id': last },
      } satisfies RequestOptions;
      const response = await transport.open('GET /v1/events', { query }, options);
      for await (const block of blocksOf(response, silence)) {
        if (block.id !== null) last = block.id;
        pauseMs = block.retryMs ?? pauseMs;
        const event = eventOf(block);
        if (event) yield event;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ApiError && error.status < 500) {
        if (error.status !== 429) throw error;
        pauseMs = refusedPauseMs;
      } else if (error instanceof TrunklineError || isBroken(error)) pauseMs = usualPauseMs;
      else throw error;
    }
    await pause(pauseMs, signal);
  }
}

/** What reading a body throws when the connection is lost, or when it was silent for too long. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.name === 'AbortError');
}

function eventOf({ data, id, type }: EventBlock): StreamEvent | null {
  // A heartbeat, or an id alone.
  if (data === '') return null;
  const parsed: unknown = JSON.parse(data);
  if (type === 'missed') return { type, id };
  if (type === 'open') return { type, resumed: (parsed as { readonly resumed: boolean }).resumed };
  return parsed as StreamEvent;
}

async function* blocksOf({ body }: Response, silence: AbortController): AsyncGenerator<EventBlock> {
  if (!body) return;
  const blocks = new EventBlocks();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let timer = setTimeout(() => silence.abort(), silentMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      // Not while the reader of events is busy with one.
      yield* blocks.push(decoder.decode(value, { stream: true }));
      timer = setTimeout(() => silence.abort(), silentMs);
    }
  } finally {
    clearTimeout(timer);
    // Else the connection stays when nothing more is read of it.
    void reader.cancel().catch(() => undefined);
  }
}
