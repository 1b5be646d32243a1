/** One agent of others: how it is reached, and the proof that its telephone may be called. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { useLoaded } from '../../parts/load.ts';
import { Facts, NotRead, ProblemNote, Screen, Time } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { ActButton, Form, textOf } from '../../parts/submit.tsx';
import { useTitle } from '../../parts/title.ts';
import { navigate, pathTo } from '../../router.ts';
import { agents as words } from '../../text/agents.ts';
import { written } from '../tools/json-field.ts';
import { Proven } from './agents.tsx';

type Agent = Answer<'GET /v1/agent-testing/agents/{id}'>;

const { facts, ownership } = words;

export function ForeignAgent({ id }: { id: string }) {
  const loaded = useLoaded(
    `agent ${id}`,
    (signal) => request('GET /v1/agent-testing/agents/{id}', { path: { id }, signal }),
    usual,
  );
  const { data } = loaded;
  useTitle(data?.name ?? words.title);
  if (!data) return <NotRead title={words.title} of={loaded} />;
  const remove = async () => {
    await request('DELETE /v1/agent-testing/agents/{id}', { path: { id } });
    navigate(pathTo('agents'));
  };
  return (
    <Screen
      title={
        <>
          {data.name} {data.format === 'call' && <Proven agent={data} />}
        </>
      }
      actions={
        mayChange.value && (
          <>
            <a href={pathTo('tests')}>{words.scenarios}</a>
            <AskedButton words={words.remove} name={data.name} run={remove} />
          </>
        )
      }
    >
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      <Facts rows={factsOf(data)} />
      {data.instructions !== null && <Text title={words.instructions} text={data.instructions} />}
      {data.body !== null && <Text title={words.body} text={written(data.body)} />}
      {data.format === 'call' && <Ownership agent={data} reload={loaded.reload} />}
    </Screen>
  );
}

/** What its format has. */
function factsOf(agent: Agent): (readonly [string, preact.ComponentChildren])[] {
  const headers = agent.headers.map(({ name }) => name).join(', ');
  const all: readonly (readonly [string, preact.ComponentChildren | null])[] = [
    [facts.format, words.formats[agent.format]],
    [facts.url, agent.url],
    [facts.model, agent.model],
    [facts.reply, agent.reply],
    [facts.ended, agent.ended],
    [facts.connection, agent.connection],
    [facts.to, agent.to],
    [facts.from, agent.from],
    [facts.perMinute, agent.calls_per_minute],
    [facts.headers, headers === '' ? null : headers],
    [facts.created, <Time key="created" at={agent.created_at} />],
  ];
  return all.filter(([, value]) => value !== null);
}

function Text({ title, text }: { title: string; text: string }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <p class="prose">{text}</p>
    </section>
  );
}

function Ownership({ agent, reload }: { agent: Agent; reload: () => void }) {
  const { id, proven_at } = agent;
  const until = useSignal<string | null>(null);
  const path = { id };
  const call = async () => {
    const { expires_at } = await request('POST /v1/agent-testing/agents/{id}/ownership', { path });
    until.value = expires_at;
  };
  const confirm = async (data: FormData) => {
    const body = { code: textOf(data, 'code') };
    await request('POST /v1/agent-testing/agents/{id}/ownership/confirm', { path, body });
    reload();
  };
  return (
    <section class="card" aria-labelledby="ownership">
      <h2 id="ownership">{ownership.title}</h2>
      {proven_at === null ? (
        <p class="quiet">{ownership.why}</p>
      ) : (
        <p>
          {ownership.proven} <Time at={proven_at} />
        </p>
      )}
      {proven_at === null && mayChange.value && (
        <>
          <div>
            <ActButton run={call}>{ownership.call}</ActButton>
          </div>
          {until.value !== null && (
            <p role="status">
              {ownership.until} <Time at={until.value} />
            </p>
          )}
          <Form submit={ownership.confirm} run={confirm} label={ownership.title}>
            <label>
              {ownership.code}
              <input
                name="code"
                required
                inputMode="numeric"
                autocomplete="off"
                pattern="[0-9]{6}"
                maxLength={6}
              />
            </label>
          </Form>
        </>
      )}
    </section>
  );
}
