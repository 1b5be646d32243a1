/** Follows the events of the organization (contract 17). */
import type { Answer } from './client.ts';
import { readStream } from './stream.ts';

type Call = Answer<'GET /v1/sip/calls'>['data']['calls'][number];

type Supervisor = Answer<'GET /v1/calls/{call_id}/supervisors'>['data']['supervisors'][number];

export type QualitySample = Answer<'GET /v1/sip/calls/{call_id}/quality'>['data']['samples'][number];

export interface LiveEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: { readonly call_id?: string; readonly number?: string };
  /** null: it was too large for an event. */
  readonly data: {
    readonly call?: Call;
    readonly line?: {
      readonly id: string;
      readonly user: 'user' | 'assistant' | 'agent-action';
      readonly text: string;
    };
    readonly sample?: QualitySample;
    readonly supervisor?: Supervisor;
    readonly probe?: { readonly healthy: boolean };
  } | null;
}

export interface Follower {
  /** What is shown may be old: read it now. Events that come meanwhile are newer. */
  readonly onStale: () => void;
  readonly onEvent: (event: LiveEvent) => void;
  /** Whether events arrive. */
  readonly onState: (following: boolean) => void;
}

/** A stream with all that follow it: a browser opens few connections, and a key few streams. */
interface Stream {
  readonly followers: Set<Follower>;
  isOpen: boolean;
  end: () => void;
}

const streams = new Map<string, Stream>();

/** @param query as `GET /v1/events` takes it; who asks for the same shares a stream @returns ends it */
export function follow(query: Readonly<Record<string, string>>, follower: Follower): () => void {
  const key = JSON.stringify(query);
  const stream = streams.get(key) ?? begin(key, query);
  stream.followers.add(follower);
  if (stream.isOpen) {
    follower.onState(true);
    follower.onStale();
  }
  return () => {
    if (!stream.followers.delete(follower) || stream.followers.size > 0) return;
    streams.delete(key);
    stream.end();
  };
}

function begin(key: string, query: Readonly<Record<string, string>>): Stream {
  const stream: Stream = { followers: new Set(), isOpen: false, end: () => undefined };
  streams.set(key, stream);
  const tell = (what: (follower: Follower) => void) => {
    for (const follower of [...stream.followers]) what(follower);
  };
  const opened = (isOpen: boolean) => {
    stream.isOpen = isOpen;
    tell((one) => one.onState(isOpen));
  };
  stream.end = readStream(
    { name: 'GET /v1/events', query },
    {
      onBlock: ({ type, data }, first) => {
        if (type === 'open') {
          opened(true);
          if (first) tell((one) => one.onStale());
        } else if (type === 'missed') tell((one) => one.onStale());
        else if (data !== '') {
          const event: LiveEvent = JSON.parse(data);
          tell((one) => one.onEvent(event));
        }
        return undefined;
      },
      onLost: () => opened(false),
    },
  );
  return stream;
}
