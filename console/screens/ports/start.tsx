/** A customer starts a port: the numbers are checked, then requested; the person who signs gets a mail. */
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { type Answer, request } from '../../api/client.ts';
import { Badge, ProblemNote } from '../../parts/pieces.tsx';
import { Form, useAct } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { navigate, pathTo } from '../../router.ts';
import { ports as words } from '../../text/ports.ts';
import { nameOf, type PortDocument } from './documents.tsx';
import { listOf, orderOf } from './order.ts';

type Checked = Answer<'GET /v1/sip/port/check'>['data']['results'][number];

const { start } = words;

export function StartPort({ documents }: { readonly documents: readonly PortDocument[] }) {
  const run = async (data: FormData) => {
    const answer = await request('POST /v1/sip/port/initiate', { body: orderOf(data) });
    navigate(pathTo('port', answer.data.port_request_id));
  };
  const type = useSignal('business');
  return (
    <details class="card">
      <summary>{start.title}</summary>
      <p class="quiet">{start.text}</p>
      <Form label={start.title} submit={start.go} run={run}>
        <Numbers />
        <label>
          {start.type}
          <select
            name="type"
            value={type.value}
            onChange={({ currentTarget: { value } }) => {
              type.value = value;
            }}
          >
            <option value="business">{start.types.business}</option>
            <option value="personal">{start.types.personal}</option>
          </select>
        </label>
        <Field name="business" most={200} required={type.value === 'business'} />
        <Field name="account" most={64} />
        <Field name="telephone" most={32} />
        <Field name="pin" most={32} />
        <Field name="first" most={100} required />
        <Field name="last" most={100} required />
        <Field name="email" most={254} type="email" required />
        <Field name="notify" most={2000} />
        <Field name="street" most={200} required />
        <Field name="city" most={100} required />
        <Field name="state" most={100} required />
        <Field name="zip" most={20} required />
        <Field name="country" most={2} />
        <Field name="date" most={40} type="date" />
        {documents.length > 0 && (
          <fieldset>
            <legend>{start.documents}</legend>
            {documents.map((one) => (
              <label key={one.document_sid} class="check">
                <input type="checkbox" name="document" value={one.document_sid} />
                {nameOf(one)}
              </label>
            ))}
          </fieldset>
        )}
      </Form>
    </details>
  );
}

interface FieldProps {
  readonly name: keyof typeof start.fields;
  readonly most: number;
  readonly type?: 'text' | 'email' | 'date';
  readonly required?: boolean;
}

function Field({ name, most, type = 'text', required = false }: FieldProps) {
  const id = `port-${name}`;
  return (
    <label htmlFor={id}>
      {start.fields[name]}
      {type === 'date' && <input id={id} name={name} type="date" required={required} />}
      {type === 'email' && <input id={id} name={name} type="email" maxLength={most} required={required} />}
      {type === 'text' && <input id={id} name={name} maxLength={most} required={required} />}
    </label>
  );
}

function Numbers() {
  const field = useRef<HTMLTextAreaElement>(null);
  const checked = useSignal<readonly Checked[] | null>(null);
  const { act, busy, problem } = useAct();
  const check = async () => {
    checked.value = null;
    const numbers = listOf(field.current?.value ?? '').join(',');
    const answer = await request('GET /v1/sip/port/check', { query: { phone_numbers: numbers } });
    checked.value = answer.data.results;
  };
  return (
    <div class="wide">
      <label>
        {start.numbers}
        <textarea name="numbers" ref={field} rows={3} required spellcheck={false} />
      </label>
      <button type="button" aria-disabled={busy.value} onClick={() => void act(check)}>
        {start.check}
      </button>
      {problem.value && <ProblemNote problem={problem.value} />}
      <div role="status">
        {checked.value && (
          <Table
            name={start.check}
            rows={checked.value}
            columns={columns}
            keyOf={(one) => one.phone_number}
          />
        )}
      </div>
    </div>
  );
}

const columns: readonly Column<Checked>[] = [
  { head: start.head.number, cell: (one) => one.phone_number },
  {
    head: start.head.portable,
    cell: ({ portable }) => <Badge tone={portable ? 'good' : 'bad'}>{portable ? start.yes : start.no}</Badge>,
  },
  { head: start.head.type, cell: (one) => one.number_type, from: 'medium' },
  { head: start.head.pin, cell: (one) => (one.pin_required ? start.needed : '–') },
  { head: start.head.why, cell: ({ reason }) => reason ?? '–', grows: true },
];
