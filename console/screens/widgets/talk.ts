/** What a thread is after each of its events (docs/widgets.md). Pure. */
import type { EventBlock } from '../../../clients/typescript/src/event-blocks.ts';

export interface Said {
  readonly id: string;
  readonly sender_type: 'USER' | 'ASSISTANT';
  readonly content: string;
  /** Before words were masked. */
  readonly original_content: string | null;
  /** In which it was spoken. */
  readonly call_id: string | null;
}

export interface TalkState {
  readonly messages: readonly Said[];
  /** An answer that is being written. */
  readonly draft: { readonly id: string; readonly text: string } | null;
  readonly live_agent_handoff_at: string | null;
  readonly ended_at: string | null;
}

export const silent: TalkState = {
  messages: [],
  draft: null,
  live_agent_handoff_at: null,
  ended_at: null,
};

/** An event that came before changes nothing: after a lost connection some may come again. */
export function talkAfter(state: TalkState, { type, data }: Pick<EventBlock, 'type' | 'data'>): TalkState {
  // A heartbeat, or the time after which to come back.
  if (data === '') return state;
  switch (type) {
    case 'message': {
      const message: Said = JSON.parse(data);
      if (state.messages.some(({ id }) => id === message.id)) return state;
      const draft = state.draft?.id === message.id ? null : state.draft;
      return { ...state, messages: [...state.messages, message], draft };
    }
    case 'delta': {
      const { id, text }: { readonly id: string; readonly text: string } = JSON.parse(data);
      const before = state.draft?.id === id ? state.draft.text : '';
      return { ...state, draft: { id, text: before + text } };
    }
    case 'handoff': {
      const handed: Pick<TalkState, 'live_agent_handoff_at'> = JSON.parse(data);
      // The agent's answer in progress is dropped.
      return { ...state, ...handed, draft: null };
    }
    case 'ended': {
      const ended: Pick<TalkState, 'ended_at'> = JSON.parse(data);
      return { ...state, ...ended, draft: null };
    }
    default:
      return state;
  }
}
