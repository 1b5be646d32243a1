/** One widget: its settings, the line for a page, a preview, and its threads. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { readAgents } from '../../parts/agents.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { CopiedText } from '../../parts/copied.tsx';
import { useLoaded } from '../../parts/load.ts';
import { PageLinks, pageNumberOf } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { ActButton } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { TalkButton } from '../../phone/talk-button.tsx';
import { navigate, pathTo, query, withQuery } from '../../router.ts';
import { widgets as words } from '../../text/widgets.ts';
import { embedCode, stateOf } from './lines.ts';
import { ThreadView, tones } from './thread.tsx';
import { type WidgetBody, WidgetForm } from './widget-form.tsx';

type Widget = Answer<'GET /v1/widget/{id}'>['data']['widget'];
type Thread = Answer<'GET /v1/widget/{id}/threads'>['data']['threads'][number];

/** Rows of a page. */
const pageRows = 20;

export function WidgetScreen({ id }: { readonly id: string }) {
  const loaded = useLoaded(
    `widget ${id}`,
    async (signal) => {
      const [{ data: found }, agents] = await Promise.all([
        request('GET /v1/widget/{id}', { path: { id }, signal }),
        readAgents(signal),
      ]);
      return { widget: found.widget, agents };
    },
    usual,
  );
  const saved = useSignal(false);
  const { data } = loaded;
  const title = data?.widget.name ?? words.title;
  useTitle(title);
  const save = async (body: WidgetBody) => {
    saved.value = false;
    await request('PATCH /v1/widget/{id}', { path: { id }, body });
    saved.value = true;
    loaded.reload();
  };
  const remove = async () => {
    await request('DELETE /v1/widget/{id}', { path: { id } });
    navigate(pathTo('widgets'));
  };
  const actions = data && mayChange.value && <AskedButton words={words.remove} name={title} run={remove} />;
  return (
    <Screen title={title} actions={actions}>
      <LoadState of={loaded} />
      {data && (
        <>
          {mayChange.value && (
            <section class="card" aria-labelledby="settings-title">
              <h2 id="settings-title">{words.settings}</h2>
              <WidgetForm
                agents={data.agents}
                widget={data.widget}
                label={words.settings}
                submit={words.save}
                run={save}
              />
              <p role="status">{saved.value && words.saved}</p>
            </section>
          )}
          <section class="card" aria-labelledby="embed-title">
            <h2 id="embed-title">{words.embed.title}</h2>
            <p class="quiet">{words.embed.text}</p>
            {data.widget.config.voice && <p class="quiet">{words.embed.voice}</p>}
            {data.widget.config.allowedOrigins.length === 0 && <p>{words.embed.none}</p>}
            <CopiedText
              text={embedCode(window.location.origin, id, data.widget.config.voice)}
              name={words.embed.name}
            />
          </section>
          {mayChange.value && <Preview widget={data.widget} />}
          <Inbox widget={id} />
        </>
      )}
    </Screen>
  );
}

function Preview({ widget: { id, name, config } }: { readonly widget: Widget }) {
  const thread = useSignal<string | null>(null);
  const start = async () => {
    const { data } = await request('POST /v1/widget/{id}/threads', { path: { id }, body: {} });
    thread.value = data.thread.id;
  };
  return (
    <section class="card" aria-labelledby="preview-title">
      <h2 id="preview-title">{words.preview.title}</h2>
      <p class="quiet">{words.preview.text}</p>
      {thread.value !== null && <ThreadView widget={id} thread={thread.value} as="USER" />}
      <p class="row">
        <ActButton run={start}>{thread.value === null ? words.preview.start : words.preview.again}</ActButton>
        {thread.value !== null && config.voice && (
          <TalkButton name={name} session={{ id, thread_id: thread.value }} />
        )}
      </p>
    </section>
  );
}

const columnsOf = (widget: string): readonly Column<Thread>[] => {
  const { head, states } = words.inbox;
  return [
    {
      head: head.begun,
      cell: ({ id, created_at: at }) => (
        <a class="row-link" href={withQuery(pathTo('widget', widget), { thread: id })}>
          <Time at={at} />
        </a>
      ),
    },
    {
      head: head.state,
      cell: (thread) => (
        <>
          <Badge tone={tones[stateOf(thread)]}>{states[stateOf(thread)]}</Badge>{' '}
          {thread.messages.some(({ call_id }) => call_id !== null) && (
            <Badge tone="quiet">{words.inbox.spoken}</Badge>
          )}
        </>
      ),
    },
    { head: head.last, cell: ({ messages }) => messages.at(-1)?.content ?? '–', grows: true, from: 'medium' },
  ];
};

function Inbox({ widget }: { readonly widget: string }) {
  const open = query.value.get('thread') ?? '';
  const page = pageNumberOf(pageRows);
  const loaded = useLoaded(
    `threads ${widget} ${page}`,
    async (signal) => {
      const asked = { path: { id: widget }, query: { page, limit: pageRows }, signal };
      return (await request('GET /v1/widget/{id}/threads', asked)).data;
    },
    usual,
  );
  const { data } = loaded;
  const path = pathTo('widget', widget);
  // It is far below what the screen begins with.
  const opened = useRef<HTMLElement>(null);
  useEffect(() => opened.current?.focus(), [open]);
  return (
    <>
      {open !== '' && (
        <section ref={opened} tabIndex={-1} class="card" aria-labelledby="thread-title">
          <h2 id="thread-title">
            {words.thread.title} <code>{open.slice(0, 8)}</code>
          </h2>
          <ThreadView key={open} widget={widget} thread={open} as="ASSISTANT" />
          <p>
            <a href={path}>{words.thread.close}</a>
          </p>
        </section>
      )}
      <h2>{words.inbox.title}</h2>
      <LoadState of={loaded} />
      {data?.threads.length === 0 && <Empty title={words.inbox.empty}>{words.inbox.emptyNext}</Empty>}
      {data && data.threads.length > 0 && (
        <>
          <Table
            name={words.inbox.title}
            rows={data.threads}
            columns={columnsOf(widget)}
            keyOf={({ id }) => id}
          />
          <PageLinks rows={pageRows} total={data.total} />
        </>
      )}
    </>
  );
}
