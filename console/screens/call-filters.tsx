/** The filters of the call log. */
import type { TargetedSubmitEvent } from 'preact';
import { pathTo } from '../router.ts';
import { texts } from '../text/texts.ts';

export const filterNames = [
  'words',
  'number',
  'other',
  'direction',
  'outcome',
  'termination',
  'mos',
  'trunk',
  'from',
  'to',
];

/** Behind a button until one is used. */
const furtherNames = ['other', 'termination', 'mos', 'trunk'] as const;
type FurtherName = (typeof furtherNames)[number];

interface CallFiltersProps {
  readonly values: Readonly<Record<string, string>>;
  readonly onSubmit: (event: TargetedSubmitEvent<HTMLFormElement>) => void;
}

const { filters, outcomes, directions } = texts.calls;

export function CallFilters({ values, onSubmit }: CallFiltersProps) {
  const isFiltered = Object.values(values).some((value) => value !== '');
  return (
    <search>
      <form class="filters" aria-label={filters.label} onSubmit={onSubmit}>
        <label class="grows">
          {filters.words}
          <input
            name="words"
            type="search"
            defaultValue={values.words ?? ''}
            placeholder={filters.wordsHint}
            data-search
          />
        </label>
        <label>
          {filters.number}
          <input
            name="number"
            type="tel"
            defaultValue={values.number ?? ''}
            placeholder={filters.numberHint}
          />
        </label>
        <Choice
          name="direction"
          label={filters.direction}
          value={values.direction ?? ''}
          options={directions}
        />
        <Choice name="outcome" label={filters.outcome} value={values.outcome ?? ''} options={outcomes} />
        <label>
          {filters.from}
          <input name="from" type="date" defaultValue={values.from ?? ''} />
        </label>
        <label>
          {filters.to}
          <input name="to" type="date" defaultValue={values.to ?? ''} />
        </label>
        <details class="further" open={furtherNames.some((name) => (values[name] ?? '') !== '')}>
          <summary>{filters.further}</summary>
          <div class="filters">
            {furtherNames.map((name) => (
              <Text key={name} name={name} value={values[name] ?? ''} />
            ))}
          </div>
        </details>
        <div class="row">
          <button type="submit" class="primary">
            {filters.apply}
          </button>
          {isFiltered && <a href={pathTo('calls')}>{filters.clear}</a>}
        </div>
      </form>
    </search>
  );
}

function Text({ name, value }: { readonly name: FurtherName; readonly value: string }) {
  const { label, hint } = filters.texts[name];
  return (
    <label>
      {label}
      <input name={name} defaultValue={value} placeholder={hint} />
    </label>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
}

function Choice({ name, label, value, options }: ChoiceProps) {
  return (
    <label>
      {label}
      <select name={name} defaultValue={value}>
        <option value="">{filters.any}</option>
        {Object.entries(options).map(([key, text]) => (
          <option key={key} value={key} selected={key === value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
