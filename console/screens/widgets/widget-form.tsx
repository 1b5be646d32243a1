/** The fields of a widget, for a new one and for one that exists. */
import type { Answer, RequestParts } from '../../api/client.ts';
import type { Agents } from '../../parts/agents.ts';
import { linesOf } from '../../parts/format.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { widgets } from '../../text/widgets.ts';

type Widget = Answer<'GET /v1/widget/{id}'>['data']['widget'];
export type WidgetBody = RequestParts<'POST /v1/widget'>['body'];

const { fields } = widgets;

interface WidgetFormProps {
  readonly agents: Agents;
  /** null: a new one */
  readonly widget: Widget | null;
  readonly label: string;
  readonly submit: string;
  /** @throws what `request` throws */
  readonly run: (body: WidgetBody) => Promise<unknown>;
}

/** The agent is one field of the form: `pathway <id>` or `persona <id>`. */
function agentOf(widget: Widget | null): string {
  if (!widget) return '';
  return widget.pathway_id === null ? `persona ${widget.persona_id}` : `pathway ${widget.pathway_id}`;
}

function bodyOf(data: FormData): WidgetBody {
  const [kind = '', id = ''] = textOf(data, 'agent').split(' ');
  const greeting = textOf(data, 'greeting');
  return {
    name: textOf(data, 'name'),
    ...(kind === 'persona' ? { persona_id: id } : { pathway_id: id }),
    config: {
      allowedOrigins: linesOf(textOf(data, 'origins')),
      blockedWords: linesOf(textOf(data, 'blocked')),
      greeting: greeting === '' ? null : greeting,
      timeoutSeconds: Number(textOf(data, 'timeout')),
      voice: data.has('voice'),
    },
  };
}

export function WidgetForm({ agents, widget, label, submit, run }: WidgetFormProps) {
  const chosen = agentOf(widget);
  const known = agents.pathways.has(chosen.slice(8)) || agents.personas.has(chosen.slice(8));
  const options = (kind: 'pathway' | 'persona', names: ReadonlyMap<string, string>) =>
    [...names].map(([id, name]) => (
      <option key={id} value={`${kind} ${id}`} selected={chosen === `${kind} ${id}`}>
        {name}
      </option>
    ));
  return (
    <Form label={label} submit={submit} run={(data) => run(bodyOf(data))}>
      <label class="grows">
        {fields.name}
        <input name="name" required maxLength={200} defaultValue={widget?.name ?? ''} />
      </label>
      <label>
        {fields.agent}
        <select name="agent" required>
          {widget && !known && (
            <option value={chosen} selected>
              {widgets.former}
            </option>
          )}
          {agents.pathways.size > 0 && (
            <optgroup label={fields.pathways}>{options('pathway', agents.pathways)}</optgroup>
          )}
          {agents.personas.size > 0 && (
            <optgroup label={fields.personas}>{options('persona', agents.personas)}</optgroup>
          )}
        </select>
      </label>
      <label>
        {fields.timeout}
        <input
          name="timeout"
          type="number"
          required
          min={60}
          max={2_592_000}
          defaultValue={widget?.config.timeoutSeconds ?? 86_400}
        />
      </label>
      <label class="grows">
        {fields.greeting}
        <input name="greeting" maxLength={1000} defaultValue={widget?.config.greeting ?? ''} />
      </label>
      <label class="grows">
        {fields.origins}
        <textarea
          name="origins"
          rows={2}
          placeholder={fields.originsPlaceholder}
          defaultValue={widget?.config.allowedOrigins.join('\n') ?? ''}
        />
      </label>
      <label class="grows">
        {fields.blocked}
        <textarea name="blocked" rows={2} defaultValue={widget?.config.blockedWords.join('\n') ?? ''} />
      </label>
      <label class="check">
        <input type="checkbox" name="voice" defaultChecked={widget?.config.voice ?? false} />
        {fields.voice}
      </label>
    </Form>
  );
}
