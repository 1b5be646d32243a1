/** The keys of the organization, for admins. A new one is shown once. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Answer, request } from '../../api/client.ts';
import { session } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { CopiedText } from '../../parts/copied.tsx';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks } from '../../parts/pages.tsx';
import { Badge, LoadState, Screen, Time, type Tone } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address } from '../../router.ts';
import { organization } from '../../text/organization.ts';

type Key = Answer<'GET /v1/org/keys'>['data']['keys'][number];
interface Made {
  readonly name: string;
  readonly secret: string;
}

/** Rows of a page. */
const pageRows = 100;

const words = organization.keys;
const { head } = words;
const roles = ['read', 'member', 'admin'] as const;
const tones: Readonly<Record<Key['state'], Tone>> = { active: 'good', expired: 'quiet', revoked: 'quiet' };

export function Keys() {
  useTitle(words.title);
  const made = useSignal<Made | null>(null);
  const loaded = useLoaded(
    address.value,
    async (signal) =>
      (await request('GET /v1/org/keys', { query: { limit: pageRows, offset: offsetOf() }, signal })).data,
    usual,
  );
  const show = (next: Made) => {
    made.value = next;
    loaded.reload();
  };
  const { data } = loaded;
  return (
    <Screen title={words.title}>
      <p class="quiet">{words.intro}</p>
      {made.value && (
        <Secret
          key={made.value.secret}
          made={made.value}
          done={() => {
            made.value = null;
          }}
        />
      )}
      <LoadState of={loaded} />
      {data && (
        <>
          {/* Empty again after a key was made. */}
          <NewKey key={made.value?.secret ?? ''} show={show} />
          <Table
            name={words.title}
            rows={data.keys}
            columns={columnsOf(show, loaded.reload)}
            keyOf={({ id }) => id}
          />
          <PageLinks rows={pageRows} total={data.total_count} />
        </>
      )}
    </Screen>
  );
}

function columnsOf(show: (made: Made) => void, reload: () => void): readonly Column<Key>[] {
  const rotate = async ({ id }: Key) => {
    const { data } = await request('POST /v1/org/keys/{id}/rotate', { path: { id }, body: {} });
    show({ name: data.key.name, secret: data.secret });
  };
  const revoke = async ({ id }: Key) => {
    await request('DELETE /v1/org/keys/{id}', { path: { id } });
    reload();
  };
  return [
    {
      head: head.name,
      cell: (key) => (
        <>
          {key.name} {key.id === session.value?.key.id && <span class="quiet">({words.own})</span>}
        </>
      ),
      grows: true,
    },
    { head: head.role, cell: ({ role }) => role },
    { head: head.begins, cell: ({ begins }) => <code>{begins}…</code>, from: 'medium' },
    { head: head.state, cell: ({ state }) => <Badge tone={tones[state]}>{words.states[state]}</Badge> },
    { head: head.used, cell: (key) => <Time at={key.last_used_at} />, from: 'medium' },
    { head: head.created, cell: (key) => <Time at={key.created_at} />, from: 'wide' },
    { head: head.ends, cell: (key) => <Time at={key.revoked_at ?? key.expires_at} />, from: 'wide' },
    {
      head: head.action,
      cell: (key) =>
        key.state === 'active' && (
          <span class="row">
            <AskedButton words={words.rotate} name={key.name} run={() => rotate(key)} />
            <AskedButton words={words.revoke} name={key.name} run={() => revoke(key)} />
          </span>
        ),
    },
  ];
}

function NewKey({ show }: { show: (made: Made) => void }) {
  const create = async (form: FormData) => {
    const role = roles.find((one) => one === textOf(form, 'role')) ?? 'read';
    const { data } = await request('POST /v1/org/keys', { body: { name: textOf(form, 'name'), role } });
    show({ name: data.key.name, secret: data.secret });
  };
  return (
    <section class="card" aria-labelledby="new-key-title">
      <h2 id="new-key-title">{words.create.title}</h2>
      <Form submit={words.create.go} run={create} label={words.create.title}>
        <label class="grows">
          {words.create.name}
          <input name="name" required maxLength={200} placeholder={words.create.namePlaceholder} />
        </label>
        <label>
          {words.create.role}
          <select name="role">
            {roles.map((role) => (
              <option key={role} value={role}>
                {words.create.roles[role]}
              </option>
            ))}
          </select>
        </label>
      </Form>
    </section>
  );
}

function Secret({ made, done }: { made: Made; done: () => void }) {
  // It is shown once, and may be far above the row whose key was replaced.
  const box = useRef<HTMLElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <section ref={box} tabIndex={-1} class="card" aria-labelledby="secret-title">
      <h2 id="secret-title">{words.secret.title(made.name)}</h2>
      <p class="note warn">{words.secret.once}</p>
      <CopiedText text={made.secret} name={words.secret.name} />
      <p>
        <button type="button" onClick={done}>
          {words.secret.done}
        </button>
      </p>
    </section>
  );
}
