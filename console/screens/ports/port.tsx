/** One port request: numbers, letter, documents and history; operators move it on. */
import { useSignal } from '@preact/signals';
import { type Answer, request, send } from '../../api/client.ts';
import { isOperator, mayChange, session } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { CopiedText } from '../../parts/copied.tsx';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Facts, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { ActButton, Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { ports as words } from '../../text/ports.ts';
import { type Goal, goalsOf, needsReason, openStates, tones } from './states.ts';

type Port = Answer<'GET /v1/sip/port/{id}'>['data']['port_request'] & { readonly org_id?: string };
type Moved = Port['history'][number];

const { facts, letter, history, move } = words;

export function PortScreen({ id }: { readonly id: string }) {
  const title = words.one(id);
  useTitle(title);
  const operator = isOperator.value;
  const loaded = useLoaded(
    `port ${id}`,
    async (signal): Promise<Port> => {
      const asked = { path: { id }, signal };
      const answer = operator
        ? await request('GET /v1/admin/ports/{id}', asked)
        : await request('GET /v1/sip/port/{id}', asked);
      return answer.data.port_request;
    },
    usual,
  );
  const cancel = async () => {
    await request('DELETE /v1/sip/port/{id}', { path: { id } });
    loaded.reload();
  };
  const { data: port } = loaded;
  const mayCancel = session.value?.role === 'admin' && port && openStates.includes(port.status);
  return (
    <Screen
      title={title}
      actions={mayCancel && <AskedButton words={words.cancel} name={title} run={cancel} />}
    >
      <LoadState of={loaded} />
      {port && (
        <>
          <Told port={port} />
          {operator && <MoveOn port={port} moved={loaded.reload} />}
          <Papers port={port} operator={operator} />
          <section aria-labelledby="history-title">
            <h2 id="history-title">{history.title}</h2>
            <Table
              name={history.title}
              rows={port.history}
              columns={columns}
              keyOf={({ at, to_status: to, phone_numbers: numbers }) => `${at} ${to} ${numbers.join()}`}
            />
          </section>
        </>
      )}
    </Screen>
  );
}

function Told({ port }: { readonly port: Port }) {
  const { expected_completion: expected, losing_carrier_information: losing } = port;
  return (
    <section class="card" aria-labelledby="numbers-title">
      <Facts
        rows={[
          [
            facts.state,
            <Badge key="state" tone={tones[port.status]}>
              {words.states[port.status]}
            </Badge>,
          ],
          ...(port.reason === null ? [] : [[facts.reason, port.reason] as const]),
          ...(port.org_id === undefined ? [] : [[facts.organization, port.org_id] as const]),
          [facts.target, port.target_port_date],
          [facts.foc, port.foc_date ?? '–'],
          [facts.expected, expected ? words.between(expected.earliest, expected.latest) : '–'],
          [facts.representative, `${losing.first_name} ${losing.last_name}, ${port.authorized_rep_email}`],
          [facts.signed, port.signed_name ?? '–'],
          [facts.account, losing.account_number ?? '–'],
        ]}
      />
      <h2 id="numbers-title">{words.numbers}</h2>
      <ul class="row">
        {port.phone_numbers.map(({ number, status }) => (
          <li key={number}>
            {number} <Badge tone={tones[status]}>{words.states[status]}</Badge>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Papers({ port, operator }: { readonly port: Port; readonly operator: boolean }) {
  const at = `${operator ? '/v1/admin/ports' : '/v1/sip/port'}/${encodeURIComponent(port.id)}`;
  return (
    <section class="card" aria-labelledby="letter-title">
      <h2 id="letter-title">{letter.title}</h2>
      {(operator || mayChange.value) && (
        <p>
          <a href={`${at}/letter`} target="_blank" rel="noreferrer">
            {letter.pdf}
          </a>
        </p>
      )}
      {(operator || mayChange.value) && <Preview at={at} />}
      {port.signature_url !== null && (
        <p>
          <a href={port.signature_url} target="_blank" rel="noreferrer">
            {letter.sign}
          </a>{' '}
          <span class="quiet">{letter.signNote}</span>
        </p>
      )}
      <h2>{words.documents.title}</h2>
      {port.documents.length === 0 && <p class="quiet">{words.documents.none}</p>}
      <ul class="row">
        {port.documents.map((document, index) => (
          <li key={document}>
            {operator ? (
              <a href={`${at}/documents/${encodeURIComponent(document)}`} target="_blank" rel="noreferrer">
                {words.documents.open(index + 1)}
              </a>
            ) : (
              <code>{document}</code>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The words of the letter, which are those of the PDF and of the page where it is signed. */
function Preview({ at }: { readonly at: string }) {
  const text = useSignal<string | null>(null);
  const run = async () => {
    text.value = await (await send(`GET ${at}/letter`, { query: { format: 'text' } })).text();
  };
  return (
    <>
      <p>
        <ActButton run={run}>{letter.preview}</ActButton>
      </p>
      <div role="status">{text.value !== null && <CopiedText text={text.value} name={letter.text} />}</div>
    </>
  );
}

function MoveOn({ port, moved }: { readonly port: Port; readonly moved: () => void }) {
  const chosen = useSignal<Goal | null>(null);
  const goals = goalsOf(port.status);
  const goal = goals.find((one) => one === chosen.value) ?? goals[0];
  const run = async (data: FormData) => {
    if (!goal) return;
    const reason = textOf(data, 'reason');
    const date = textOf(data, 'foc');
    const body = { status: goal, ...(reason !== '' && { reason }), ...(date !== '' && { foc_date: date }) };
    await request('POST /v1/admin/ports/{id}/status', { path: { id: port.id }, body });
    moved();
  };
  return (
    <section class="card" aria-labelledby="move-title">
      <h2 id="move-title">{move.title}</h2>
      {!goal && <p class="quiet">{move.ended}</p>}
      {port.status === 'waiting_for_signature' && <p>{move.unsigned}</p>}
      {goal && (
        <Form label={move.title} submit={move.go} run={run}>
          <label>
            {move.to}
            <select
              name="status"
              value={goal}
              onChange={({ currentTarget: { value } }) => {
                chosen.value = goals.find((one) => one === value) ?? null;
              }}
            >
              {goals.map((one) => (
                <option key={one} value={one}>
                  {words.states[one]}
                </option>
              ))}
            </select>
          </label>
          {needsReason(goal) ? (
            <label class="grows">
              {move.reason}
              <input name="reason" required maxLength={500} />
            </label>
          ) : (
            <label>
              {move.foc}
              <input name="foc" type="date" />
            </label>
          )}
        </Form>
      )}
    </section>
  );
}

const columns: readonly Column<Moved>[] = [
  { head: history.head.at, cell: ({ at }) => <Time at={at} /> },
  {
    head: history.head.from,
    cell: ({ from_status: from }) => (from === null ? '–' : words.states[from]),
    from: 'medium',
  },
  { head: history.head.to, cell: ({ to_status: to }) => words.states[to] },
  { head: history.head.by, cell: ({ actor }) => history.actors[actor] },
  { head: history.head.numbers, cell: (one) => one.phone_numbers.join(', '), from: 'wide', grows: true },
  { head: history.head.reason, cell: ({ reason }) => reason ?? '–', from: 'medium', grows: true },
];
