/** Follows the events of the organization (contract 17). */
import type { Answer } from './client.ts';
import { readStream } from './stream.ts';

type Call = Answer<'GET /v1/sip/calls'>['data']['calls'][number];

export type QualitySample = Answer<'GET /v1/sip/calls/{call_id}/quality'>['data']['samples'][number];

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
    readonly sample?: QualitySample;
  } | null;
}

export interface Follower {
  /** What is shown may be old: read it now. Events that come meanwhile are newer. */
  readonly onStale: () => void;
  readonly onEvent: (event: LiveEvent) => void;
  /** Whether events arrive. */
  readonly onState: (following: boolean) => void;
}

/** @param query as `GET /v1/events` takes it @returns ends it */
export function follow(query: Readonly<Record<string, string>>, follower: Follower): () => void {
  return readStream(
    { name: 'GET /v1/events', query },
    {
      onBlock: ({ type, data }, first) => {
        if (type === 'open') {
          follower.onState(true);
          if (first) follower.onStale();
        } else if (type === 'missed') follower.onStale();
        else if (data !== '') follower.onEvent(JSON.parse(data));
        return undefined;
      },
      onLost: () => follower.onState(false),
    },
  );
}
