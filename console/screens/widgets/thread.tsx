/** One thread: what was said, as its own events push it, and a field to write in. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { readStream } from '../../api/stream.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { Badge, type Tone } from '../../parts/pieces.tsx';
import { Form, textOf } from '../../parts/submit.tsx';
import { pathTo } from '../../router.ts';
import { widgets } from '../../text/widgets.ts';
import { stateOf, type ThreadState } from './lines.ts';
import { silent, type TalkState, talkAfter } from './talk.ts';

const words = widgets.thread;
export const tones: Readonly<Record<ThreadState, Tone>> = { ended: 'quiet', person: 'warn', agent: 'good' };

interface ThreadProps {
  readonly widget: string;
  readonly thread: string;
  /** Who writes in the field: a person in place of the agent, or somebody who tries it as a visitor. */
  readonly as: 'USER' | 'ASSISTANT';
}

function useTalk({ widget, thread }: ThreadProps): TalkState {
  const talk = useSignal(silent);
  useEffect(() => {
    talk.value = silent;
    const path = { id: widget, thread_id: thread };
    return readStream(
      { name: 'GET /v1/widget/{id}/threads/{thread_id}/events', path },
      {
        onBlock: (block) => {
          talk.value = talkAfter(talk.peek(), block);
          return block.type === 'ended' ? 'over' : undefined;
        },
        onLost: () => undefined,
      },
    );
  }, [widget, thread]);
  return talk.value;
}

export function ThreadView(props: ThreadProps) {
  const { widget, thread, as } = props;
  const talk = useTalk(props);
  const state = stateOf(talk);
  const path = { id: widget, thread_id: thread };
  const name = thread.slice(0, 8);
  const { messages, draft } = talk;
  const mayAct = mayChange.value && state !== 'ended';
  return (
    <>
      <div class="row">
        <Badge tone={tones[state]}>{widgets.inbox.states[state]}</Badge>
        {mayAct && as === 'ASSISTANT' && state === 'agent' && (
          <AskedButton
            words={words.handoff}
            name={name}
            run={() => request('POST /v1/widget/{id}/threads/{thread_id}/handoff', { path })}
          />
        )}
        {mayAct && (
          <AskedButton
            words={words.end}
            name={name}
            run={() => request('POST /v1/widget/{id}/threads/{thread_id}/end', { path })}
          />
        )}
      </div>
      {messages.length === 0 && draft === null && <p class="quiet">{words.silent}</p>}
      <div role="log" aria-label={words.title}>
        <ol class="lines">
          {messages.map((message) => (
            <li key={message.id} class={message.sender_type === 'USER' ? 'user' : 'assistant'}>
              <span class="who">{words.who[message.sender_type]}</span>
              <span class="prose">
                {message.content}
                {message.original_content !== null && (
                  <span class="quiet"> ({words.masked(message.original_content)})</span>
                )}
                {message.call_id !== null && (
                  <>
                    {' '}
                    <a class="quiet" href={pathTo('call', message.call_id)}>
                      {words.spoken}
                    </a>
                  </>
                )}
              </span>
            </li>
          ))}
          {draft !== null && (
            <li class="assistant">
              <span class="who">{words.who.ASSISTANT}</span>
              <span class="prose quiet">{draft.text}…</span>
            </li>
          )}
        </ol>
      </div>
      {mayAct && (as === 'USER' || state === 'person') && <Write {...props} />}
    </>
  );
}

function Write({ widget, thread, as }: ThreadProps) {
  const send = async (data: FormData) => {
    const body = { content: textOf(data, 'content'), sender_type: as };
    const path = { id: widget, thread_id: thread };
    await request('POST /v1/widget/{id}/threads/{thread_id}/messages', { path, body });
  };
  const label = as === 'USER' ? widgets.preview.label : words.message;
  return (
    <Form submit={words.send} run={send} clears>
      <label class="grows">
        {label}
        <input name="content" required maxLength={4000} autocomplete="off" />
      </label>
    </Form>
  );
}
