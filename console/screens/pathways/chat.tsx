/** A chat with the stored version, from its start or from the node that is selected; the graph shows where it is. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { request } from '../../api/client.ts';
import { ActButton, Form, textOf } from '../../parts/submit.tsx';
import { pathways } from '../../text/pathways.ts';
import type { Visit } from './replay.ts';

const words = pathways.chat;

interface Said {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

interface Chat {
  readonly id: string;
  readonly said: readonly Said[];
  readonly node: string | null;
  readonly completed: boolean;
}

interface ChatProps {
  readonly pathway: string;
  readonly version: number;
  /** The node that is selected. */
  readonly from: { readonly id: string; readonly name: string } | null;
  readonly unsaved: boolean;
  /** @param visits nodes that the chat was in so far, as far as answers named them */
  readonly onWay: (visits: readonly Pick<Visit, 'node'>[]) => void;
}

export function ChatPanel({ pathway, version, from, unsaved, onWay }: ChatProps) {
  const chat = useSignal<Chat | null>(null);
  const way = useSignal<readonly string[]>([]);
  const drop = () => {
    const { value } = chat;
    chat.value = null;
    way.value = [];
    onWay([]);
    // It would be kept for a day; that it could not be deleted changes nothing here.
    if (value) request('DELETE /v1/pathway/chat/{id}', { path: { id: value.id } }).catch(() => undefined);
  };
  useEffect(() => drop, [pathway, version]);
  const reach = (node: string | null) => {
    if (node !== null && node !== way.peek().at(-1)) way.value = [...way.peek(), node];
    onWay(way.peek().map((one) => ({ node: one })));
  };
  const begin = async (node: string | null) => {
    drop();
    const body = {
      pathway_id: pathway,
      pathway_version: version,
      ...(node !== null && { start_node_id: node }),
    };
    const { data } = await request('POST /v1/pathway/chat/create', { body });
    const { chat_id: id, message } = data;
    const said = message === null ? [] : [{ role: 'assistant' as const, content: message }];
    chat.value = { id, said, node, completed: false };
    reach(node);
  };
  const say = async (data: FormData) => {
    const { value } = chat;
    if (!value) return;
    const path = { id: value.id };
    const { data: answer } = await request('POST /v1/pathway/chat/{id}', {
      path,
      body: { message: textOf(data, 'message') },
    });
    chat.value = {
      id: value.id,
      said: answer.chat_history,
      node: answer.current_node_name,
      completed: answer.completed,
    };
    reach(answer.current_node_id);
  };
  const { value } = chat;
  return (
    <section class="card" aria-labelledby="chat-title">
      <h2 id="chat-title">{words.title}</h2>
      {unsaved && <p class="note warn">{words.unsaved}</p>}
      <div class="row">
        <ActButton run={() => begin(null)}>{words.begin}</ActButton>
        {from && <ActButton run={() => begin(from.id)}>{words.from(from.name)}</ActButton>}
        {value && (
          <button type="button" onClick={drop}>
            {words.end}
          </button>
        )}
      </div>
      {value && (
        <>
          <div role="log" aria-label={words.title}>
            <ol class="lines">
              {value.said.map(({ role, content }, index) => (
                <li key={index} class={role}>
                  <span class="who">{pathways.replay.who[role]}</span>
                  <span class="prose">{content}</span>
                </li>
              ))}
            </ol>
          </div>
          {value.node !== null && <p class="quiet">{words.at(value.node)}</p>}
          {value.completed ? (
            <p>{words.completed}</p>
          ) : (
            <Form submit={words.send} run={say} clears>
              <label class="grows">
                {words.message}
                <input name="message" required maxLength={4000} autocomplete="off" />
              </label>
            </Form>
          )}
        </>
      )}
    </section>
  );
}
