/** The variables of a call, folded away. */
import { valueText } from '../../parts/format.ts';
import { texts } from '../../text/texts.ts';
import type { CallDetails } from './transcript.tsx';

const words = texts.call.variables;

export function Variables({ details }: { details: CallDetails }) {
  const groups = [
    [words.own, details.variables],
    [words.request, details.request_data],
    [words.metadata, details.metadata],
  ] as const;
  const count = groups.reduce((sum, [, values]) => sum + Object.keys(values).length, 0);
  if (count === 0) return null;
  return (
    <details class="variables">
      <summary>
        {words.title} <span class="quiet">{count}</span>
      </summary>
      {groups.map(([name, values]) => (
        <Group key={name} name={name} values={values} />
      ))}
    </details>
  );
}

function Group({ name, values }: { name: string; values: Readonly<Record<string, unknown>> }) {
  const rows = Object.entries(values);
  if (rows.length === 0) return null;
  return (
    <>
      <h3>{name}</h3>
      <dl>
        {rows.map(([key, value]) => (
          <div key={key}>
            <dt>
              <code>{key}</code>
            </dt>
            <dd>{valueText(value)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
