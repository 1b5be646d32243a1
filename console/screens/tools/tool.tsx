/** One tool: its settings, a try-out, and its last runs. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { CopiedText } from '../../parts/copied.tsx';
import { figure } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Empty, Facts, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { navigate, pathTo } from '../../router.ts';
import { tools as words } from '../../text/tools.ts';
import { exampleInputs, objectOf, written } from './json-field.ts';
import { type ToolBody, ToolForm } from './tool-form.tsx';

type Tool = Answer<'GET /v2/tools/{id}'>['data'];
type Result = Answer<'POST /v2/tools/{id}/run'>['data'];
type SentRequest = NonNullable<Result['request']>;
type Log = Answer<'GET /v2/tools/{id}/logs'>['data']['logs'][number];

export function ToolScreen({ id }: { readonly id: string }) {
  const loaded = useLoaded(
    `tool ${id}`,
    async (signal) => (await request('GET /v2/tools/{id}', { path: { id }, signal })).data,
    usual,
  );
  const logs = useLoaded(
    `logs ${id}`,
    async (signal) =>
      (await request('GET /v2/tools/{id}/logs', { path: { id }, query: { limit: 20 }, signal })).data.logs,
    usual,
  );
  const saved = useSignal(false);
  const { data: tool } = loaded;
  const title = tool?.name ?? words.title;
  useTitle(title);
  const save = async (body: ToolBody) => {
    saved.value = false;
    await request('POST /v2/tools/{id}', { path: { id }, body });
    saved.value = true;
    loaded.reload();
  };
  const remove = async () => {
    await request('DELETE /v2/tools/{id}', { path: { id } });
    navigate(pathTo('tools'));
  };
  return (
    <Screen
      title={title}
      actions={tool && mayChange.value && <AskedButton words={words.remove} name={title} run={remove} />}
    >
      <LoadState of={loaded} />
      {tool && (
        <>
          {mayChange.value && <Trial tool={tool} ran={logs.reload} />}
          <section class="card" aria-labelledby="settings-title">
            <h2 id="settings-title">{words.settings}</h2>
            {mayChange.value ? (
              <>
                <ToolForm tool={tool} label={words.settings} submit={words.save} run={save} />
                <p role="status">{saved.value && words.saved}</p>
              </>
            ) : (
              <CopiedText text={written(tool)} name={words.settings} />
            )}
          </section>
          <h2>{words.log.title}</h2>
          <LoadState of={logs} />
          {logs.data?.length === 0 && <Empty title={words.log.empty} />}
          {logs.data && logs.data.length > 0 && (
            <Table name={words.log.title} rows={logs.data} columns={columns} keyOf={(one) => one.id} />
          )}
        </>
      )}
    </Screen>
  );
}

const { trial, log } = words;

function Outcome({ success }: { readonly success: boolean }) {
  return <Badge tone={success ? 'good' : 'bad'}>{success ? trial.done : trial.failed}</Badge>;
}

function Trial({ tool, ran }: { readonly tool: Tool; readonly ran: () => void }) {
  const result = useSignal<Result | null>(null);
  const run = async (data: FormData) => {
    result.value = null;
    const body = {
      inputs: objectOf(trial.inputs, textOf(data, 'inputs')) ?? {},
      variables: objectOf(trial.variables, textOf(data, 'variables')) ?? {},
    };
    const answer = await request('POST /v2/tools/{id}/run', { path: { id: tool.id }, body });
    result.value = answer.data;
    ran();
  };
  return (
    <section class="card" aria-labelledby="trial-title">
      <h2 id="trial-title">{trial.title}</h2>
      <p class="quiet">{trial.text}</p>
      <Form label={trial.title} submit={trial.run} run={run}>
        <label class="grows">
          {trial.inputs}
          <textarea
            name="inputs"
            rows={4}
            spellcheck={false}
            defaultValue={exampleInputs(tool.input_schema)}
          />
        </label>
        <label class="grows">
          {trial.variables}
          <textarea name="variables" rows={4} spellcheck={false} defaultValue="{}" />
        </label>
      </Form>
      <div role="status">{result.value && <Shown result={result.value} />}</div>
    </section>
  );
}

function Shown({ result }: { readonly result: Result }) {
  const none = <span class="quiet">{trial.none}</span>;
  const values = Object.keys(result.variables).length === 0 ? '' : written(result.variables);
  return (
    <>
      <Facts
        rows={[
          [trial.result, <Outcome key="outcome" success={result.success} />],
          [trial.status, result.statusCode ?? '–'],
          [trial.took, figure(result.responseTime, 0, 'ms')],
          ...(result.error === null ? [] : [[trial.error, result.error] as const]),
        ]}
      />
      <div class="columns">
        <div>
          <h3>{trial.request}</h3>
          {result.request ? <Request request={result.request} /> : <p class="quiet">{trial.noRequest}</p>}
        </div>
        <div>
          <h3>{trial.answer}</h3>
          {written(result.data) === '' ? (
            none
          ) : (
            <CopiedText text={written(result.data)} name={trial.answer} />
          )}
          <h3>{trial.values}</h3>
          {values === '' ? none : <CopiedText text={values} name={trial.values} />}
        </div>
      </div>
    </>
  );
}

function Request({ request: { method, url, headers, body, cut } }: { readonly request: SentRequest }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const text = [`${method} ${url}`, ...lines, ...(body === null ? [] : ['', body])].join('\n');
  return (
    <>
      <CopiedText text={text} name={trial.request} />
      {cut && <p class="note warn">{trial.cut}</p>}
    </>
  );
}

const columns: readonly Column<Log>[] = [
  { head: log.head.at, cell: (one) => <Time at={one.started_at} /> },
  { head: log.head.result, cell: ({ success }) => <Outcome success={success} /> },
  { head: log.head.source, cell: ({ source }) => source, from: 'medium' },
  {
    head: log.head.status,
    cell: ({ cached, status_code: status }) => (cached ? log.cached : (status ?? '–')),
    from: 'medium',
  },
  { head: log.head.took, cell: (one) => figure(one.duration_ms, 0, 'ms'), numeric: true },
  { head: log.head.attempts, cell: ({ attempts }) => attempts, numeric: true, from: 'wide' },
  { head: log.head.error, cell: ({ error }) => error ?? '–', grows: true, from: 'wide' },
];
