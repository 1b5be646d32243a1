/** Fields of the form beside the graph, each with what is wrong with it. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { valueText } from '../../parts/format.ts';
import { pathways } from '../../text/pathways.ts';
import type { Path } from '../graph/graph.ts';
import { valueAt, withValue } from './edit.ts';
import type { Cell, Field, Source } from './fields.ts';
import { type Finding, findingsAt } from './problems.ts';

const words = pathways.form;
const labels: Readonly<Record<string, string>> = words.fields;
const heads: Readonly<Record<string, string>> = words.heads;

/** Ids that can be chosen, with their names. */
export type Choices = Readonly<Record<Source, ReadonlyMap<string, string>>>;

interface FieldsProps {
  readonly fields: readonly Field[];
  readonly values: unknown;
  /** Of `values` in the graph, as a pointer. */
  readonly pointer: string;
  readonly findings: readonly Finding[];
  readonly choices: Choices;
  readonly set: (path: Path, next: unknown) => void;
  /** @param why null: the text can be read again */
  readonly onUnread: (pointer: string, why: string | null) => void;
}

export function Fields(props: FieldsProps) {
  return (
    <>
      {props.fields.map((field) => (
        <OneField key={field.path.join('.')} field={field} {...props} />
      ))}
    </>
  );
}

function OneField({
  field,
  values,
  pointer,
  findings,
  choices,
  set,
  onUnread,
}: FieldsProps & { field: Field }) {
  const name = field.path.join('.');
  const label = labels[name] ?? name;
  const at = `${pointer}/${field.path.join('/')}`;
  const found = findingsAt(findings, at);
  const value = valueAt(values, field.path);
  const id = `field-${name.replaceAll('.', '-')}`;
  const said = found.length > 0 && { 'aria-invalid': true, 'aria-describedby': `${id}-wrong` };
  const common = { id, name, ...said };
  const write = (next: unknown) => set(field.path, next);
  const writeText = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    write(currentTarget.value === '' ? undefined : currentTarget.value);
  const wrong = <Wrong id={`${id}-wrong`} found={found} />;
  if (field.kind === 'flag') {
    return (
      <div>
        <label class="check">
          <input
            {...common}
            type="checkbox"
            checked={value === true}
            onChange={({ currentTarget: { checked } }) => write(checked ? true : undefined)}
          />
          {label}
        </label>
        {wrong}
      </div>
    );
  }
  if (field.kind === 'rows') {
    return (
      <fieldset aria-describedby={found.length > 0 ? `${id}-wrong` : undefined}>
        <legend>{label}</legend>
        <Rows
          name={label}
          cells={field.cells}
          blank={field.blank}
          value={value}
          choices={choices}
          set={write}
        />
        {wrong}
      </fieldset>
    );
  }
  if (field.kind === 'json') {
    return (
      <Labelled id={id} label={label} wrong={wrong}>
        <JsonText common={common} value={value} set={write} onUnread={(why) => onUnread(at, why)} />
      </Labelled>
    );
  }
  if (field.kind === 'number') {
    return (
      <Labelled id={id} label={label} wrong={wrong}>
        <input
          {...common}
          type="number"
          min={field.min}
          max={field.max}
          step={field.step}
          value={value === undefined || value === null ? '' : String(value)}
          onChange={({ currentTarget: { value: text } }) => write(text === '' ? undefined : Number(text))}
        />
      </Labelled>
    );
  }
  if (field.kind === 'choice' || field.kind === 'id') {
    const options = field.kind === 'id' ? choices[field.of] : new Map(field.of.map((one) => [one, one]));
    return (
      <Labelled id={id} label={label} wrong={wrong}>
        <Choice common={common} options={options} value={textOf(value)} onChange={writeText} />
      </Labelled>
    );
  }
  return (
    <Labelled id={id} label={label} wrong={wrong}>
      {field.kind === 'text' ? (
        <textarea {...common} rows={3} value={textOf(value)} onInput={writeText} />
      ) : (
        <input {...common} value={textOf(value)} autocomplete="off" onInput={writeText} />
      )}
    </Labelled>
  );
}

function Labelled(props: {
  readonly id: string;
  readonly label: string;
  readonly wrong: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  return (
    <div>
      <label class="field" htmlFor={props.id}>
        {props.label}
        {props.children}
      </label>
      {props.wrong}
    </div>
  );
}

function Wrong({ id, found }: { readonly id: string; readonly found: readonly Finding[] }) {
  if (found.length === 0) return null;
  return (
    <ul id={id} class={found.every((one) => one.isWarning) ? 'warn-text' : 'bad-text'}>
      {found.map(({ path, message }) => (
        <li key={`${path} ${message}`}>{message}</li>
      ))}
    </ul>
  );
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : valueText(value);
}

type Common = { readonly id?: string; readonly name?: string; readonly 'aria-label'?: string };

function Choice(props: {
  readonly common: Common;
  readonly options: ReadonlyMap<string, string>;
  readonly value: string;
  readonly onChange: (event: { readonly currentTarget: { readonly value: string } }) => void;
}) {
  const { common, options, value, onChange } = props;
  return (
    <select {...common} value={value} onChange={onChange}>
      <option value="">{words.unset}</option>
      {/* What is set stays a choice, also when it is none any more. */}
      {value !== '' && !options.has(value) && <option value={value}>{value}</option>}
      {[...options].map(([id, name]) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

interface JsonTextProps {
  readonly common: Common;
  readonly value: unknown;
  readonly set: (next: unknown) => void;
  readonly onUnread: (why: string | null) => void;
}

function JsonText({ common, value, set, onUnread }: JsonTextProps) {
  const why = useSignal<string | null>(null);
  const read = (text: string) => {
    try {
      set(text.trim() === '' ? undefined : JSON.parse(text));
      why.value = null;
    } catch (error) {
      why.value = words.notJson(error instanceof Error ? error.message : String(error));
    }
    onUnread(why.value);
  };
  return (
    <>
      <textarea
        {...common}
        {...(why.value !== null && { 'aria-invalid': true })}
        rows={4}
        spellcheck={false}
        defaultValue={value === undefined || value === null ? '' : JSON.stringify(value, null, 2)}
        onChange={({ currentTarget }) => read(currentTarget.value)}
      />
      {why.value !== null && (
        <small class="bad-text" role="alert">
          {why.value}
        </small>
      )}
    </>
  );
}

interface RowsProps {
  readonly name: string;
  readonly cells: readonly Cell[];
  readonly blank: unknown;
  readonly value: unknown;
  readonly choices: Choices;
  readonly set: (next: unknown) => void;
}

function Rows({ name, cells, blank, value, choices, set }: RowsProps) {
  const rows: readonly unknown[] = Array.isArray(value) ? value : [];
  const write = (next: readonly unknown[]) => set(next.length === 0 ? undefined : next);
  return (
    <>
      {rows.map((row, index) => (
        <div key={index} class="row">
          {cells.map((cell) => (
            <OneCell
              key={cell.head}
              cell={cell}
              label={words.cell(heads[cell.head] ?? cell.head, index + 1)}
              value={textOf(valueAt(row, cell.path))}
              choices={choices}
              set={(text) =>
                write(rows.map((one, at) => (at === index ? withValue(one, cell.path, text) : one)))
              }
            />
          ))}
          <button
            type="button"
            aria-label={words.removeRow(name, index + 1)}
            onClick={() => write(rows.filter((_, at) => at !== index))}
          >
            ×
          </button>
        </div>
      ))}
      <button type="button" aria-label={words.addRow(name)} onClick={() => write([...rows, blank])}>
        {words.add}
      </button>
    </>
  );
}

interface OneCellProps {
  readonly cell: Cell;
  readonly label: string;
  readonly value: string;
  readonly choices: Choices;
  readonly set: (text: string) => void;
}

function OneCell({ cell, label, value, choices, set }: OneCellProps) {
  const write = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    set(currentTarget.value);
  const common = { 'aria-label': label };
  if (cell.kind === 'line')
    return <input {...common} placeholder={heads[cell.head]} value={value} onInput={write} />;
  const options = cell.kind === 'id' ? choices[cell.of] : new Map(cell.of.map((one) => [one, one]));
  return <Choice common={common} options={options} value={value} onChange={write} />;
}
