/** Agents of others, which scenarios test as they test pathways, and a form for another one. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, navigate, pathTo } from '../../router.ts';
import { agents as words } from '../../text/agents.ts';
import { type AgentFormat, agentBody, formatOf, formats } from './body.ts';

type Row = Answer<'GET /v1/agent-testing/agents'>['agents'][number];

/** Rows of a page. */
const pageRows = 50;
const { fields, head, make } = words;

async function read(signal: AbortSignal) {
  const [list, settings] = await Promise.all([
    request('GET /v1/agent-testing/agents', { query: { limit: pageRows, offset: offsetOf() }, signal }),
    request('GET /v1/org/settings', { signal }),
  ]);
  return { ...list, connections: settings.data.realtime.map(({ name }) => name) };
}

/** Only those with a telephone have to be proven. */
export function Proven({ agent }: { agent: Pick<Row, 'format' | 'proven_at'> }) {
  if (agent.format !== 'call') return <span class="quiet">{words.none}</span>;
  return agent.proven_at === null ? (
    <Badge tone="warn">{words.unproven}</Badge>
  ) : (
    <Badge tone="good">{words.proven}</Badge>
  );
}

const columns: readonly Column<Row>[] = [
  {
    head: head.name,
    cell: ({ id, name }) => (
      <a class="row-link" href={pathTo('agent', id)}>
        {name}
      </a>
    ),
    grows: true,
  },
  { head: head.format, cell: ({ format }) => words.formats[format], from: 'medium' },
  { head: head.where, cell: (row) => row.to ?? row.url ?? row.connection, grows: true, from: 'wide' },
  { head: head.proven, cell: (row) => <Proven agent={row} /> },
  { head: head.created, cell: (row) => <Time at={row.created_at} />, from: 'medium' },
];

export function ForeignAgents() {
  useTitle(words.title);
  const loaded = useLoaded(address.value, read, usual);
  const { data } = loaded;
  return (
    <Screen title={words.title}>
      <LoadState of={loaded} />
      {data?.agents.length === 0 && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {data && data.agents.length > 0 && (
        <>
          <Table name={words.title} rows={data.agents} columns={columns} keyOf={({ id }) => id} />
          <PageLinks rows={pageRows} total={data.total_count} />
        </>
      )}
      {data && mayChange.value && <NewAgent connections={data.connections} />}
    </Screen>
  );
}

function NewAgent({ connections }: { connections: readonly string[] }) {
  const format = useSignal<AgentFormat>('call');
  const add = async (data: FormData) => {
    const body = agentBody((name) => textOf(data, name));
    const { id } = await request('POST /v1/agent-testing/agents', { body });
    navigate(pathTo('agent', id));
  };
  return (
    <section class="card" aria-labelledby="new-agent">
      <h2 id="new-agent">{make.title}</h2>
      <Form submit={make.add} run={add} label={make.title}>
        <label>
          {fields.name}
          <input name="name" required maxLength={200} />
        </label>
        <label>
          {fields.format}
          <select
            name="format"
            value={format.value}
            onChange={({ currentTarget: { value } }) => {
              format.value = formatOf(value);
            }}
          >
            {formats.map((one) => (
              <option key={one} value={one}>
                {words.formats[one]}
              </option>
            ))}
          </select>
        </label>
        <FormatFields key={format.value} format={format.value} connections={connections} />
      </Form>
    </section>
  );
}

interface FormatFieldsProps {
  readonly format: AgentFormat;
  readonly connections: readonly string[];
}

function FormatFields({ format, connections }: FormatFieldsProps) {
  if (format === 'call') return <CallFields />;
  if (format === 'realtime') return <RealtimeFields connections={connections} />;
  return (
    <>
      <label class="grows">
        {format === 'stream' ? fields.streamUrl : fields.chatUrl}
        <input name="url" type="url" required maxLength={2000} />
      </label>
      {format === 'openai' && (
        <label>
          {fields.model}
          <input name="model" required maxLength={200} />
        </label>
      )}
      {format === 'form' && <OwnBodyFields />}
      {format !== 'stream' && <SecretFields usual="Authorization" />}
    </>
  );
}

function CallFields() {
  return (
    <>
      <label>
        {fields.from}
        <input name="from" type="tel" required placeholder="+14155550100" />
      </label>
      <label class="grows">
        {fields.to}
        <input name="to" required maxLength={300} placeholder="sip:agent@pbx.example.com" />
      </label>
      <label>
        {fields.perMinute}
        <input name="perMinute" type="number" min="1" max="60" defaultValue="6" required />
      </label>
      <SecretFields usual="X-Key" />
    </>
  );
}

function RealtimeFields({ connections }: Pick<FormatFieldsProps, 'connections'>) {
  return (
    <>
      <label>
        {fields.connection}
        <select name="connection" required>
          {connections.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        {connections.length === 0 && <small>{fields.noConnection}</small>}
      </label>
      <label class="grows">
        {fields.instructions}
        <textarea name="instructions" rows={4} required maxLength={20_000} />
      </label>
    </>
  );
}

function OwnBodyFields() {
  return (
    <>
      <label class="grows">
        {fields.body}
        <textarea
          name="body"
          rows={4}
          required
          spellcheck={false}
          defaultValue={'{ "message": "{{message}}", "id": "{{conversation_id}}" }'}
        />
      </label>
      <label>
        {fields.reply}
        <input name="reply" required placeholder="/reply" maxLength={300} />
      </label>
      <label>
        {fields.ended}
        <input name="ended" placeholder="/ended" maxLength={300} />
      </label>
      <label class="check">
        <input name="speaksFirst" type="checkbox" />
        {fields.speaksFirst}
      </label>
    </>
  );
}

/** @param usual name of the header at first */
function SecretFields({ usual }: { usual: string }) {
  return (
    <>
      <label>
        {fields.header}
        <input name="header" defaultValue={usual} pattern="[A-Za-z0-9\-]{1,64}" />
      </label>
      <label>
        {fields.secret}
        <input name="secret" type="password" autocomplete="off" maxLength={4000} />
      </label>
    </>
  );
}
