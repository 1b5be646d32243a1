/** The fields of a tool, for a new one and for one that exists. */
import type { Answer, RequestParts } from '../../api/client.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { tools } from '../../text/tools.ts';
import { objectOf, valuesOf, written } from './json-field.ts';

type Tool = Answer<'GET /v2/tools/{id}'>['data'];
export type ToolBody = RequestParts<'POST /v2/tools'>['body'];

const { fields } = tools;

interface ToolFormProps {
  /** null: a new one */
  readonly tool: Tool | null;
  readonly label: string;
  readonly submit: string;
  /** @throws what `request` throws */
  readonly run: (body: ToolBody) => Promise<unknown>;
}

/** @throws RequestFailed for a field that is not JSON */
function bodyOf(data: FormData, tool: Tool | null): ToolBody {
  const speech = textOf(data, 'speech');
  const body = textOf(data, 'body');
  // A body that was one text, such as a template with values without quotes, stays one.
  const asText = typeof tool?.body === 'string';
  return {
    name: textOf(data, 'name'),
    description: textOf(data, 'description'),
    integration: textOf(data, 'integration'),
    action: textOf(data, 'action'),
    speech: speech === '' ? null : speech,
    timeout: Number(textOf(data, 'timeout')),
    max_retries: Number(textOf(data, 'retries')),
    input_schema: objectOf(fields.inputs, textOf(data, 'inputs')),
    body: asText ? body : objectOf(fields.body, body),
    response_data: valuesOf(fields.values, textOf(data, 'values')),
  };
}

export function ToolForm({ tool, label, submit, run }: ToolFormProps) {
  const area = (name: 'inputs' | 'body' | 'values', value: unknown) => (
    <label class="grows">
      {fields[name]}
      <textarea name={name} rows={6} spellcheck={false} defaultValue={written(value)} />
    </label>
  );
  return (
    <Form label={label} submit={submit} run={(data) => run(bodyOf(data, tool))}>
      <label class="grows">
        {fields.name}
        <input name="name" required maxLength={128} defaultValue={tool?.name ?? ''} />
      </label>
      <label class="grows">
        {fields.description}
        <input name="description" required maxLength={5000} defaultValue={tool?.description ?? ''} />
      </label>
      <label>
        {fields.integration}
        <input name="integration" required defaultValue={tool?.integration ?? 'rest_api'} />
      </label>
      <label>
        {fields.action}
        <input name="action" required defaultValue={tool?.action ?? 'request'} />
      </label>
      <label class="grows">
        {fields.speech}
        <input name="speech" maxLength={1000} defaultValue={tool?.speech ?? ''} />
      </label>
      <label>
        {fields.timeout}
        <input
          name="timeout"
          type="number"
          required
          min={1000}
          max={60_000}
          defaultValue={tool?.timeout ?? 10_000}
        />
      </label>
      <label>
        {fields.retries}
        <input name="retries" type="number" required min={0} max={4} defaultValue={tool?.max_retries ?? 0} />
      </label>
      {area('inputs', tool?.input_schema)}
      {area('body', tool?.body)}
      {area('values', tool?.response_data)}
    </Form>
  );
}
