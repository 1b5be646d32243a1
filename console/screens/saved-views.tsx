/** Searches of calls that this browser keeps by a name. Each is a link: its filters are in the address. */
import { signal } from '@preact/signals';
import type { TargetedSubmitEvent } from 'preact';
import { readKept, writeKept } from '../parts/kept.ts';
import { pathTo, withQuery } from '../router.ts';
import { texts } from '../text/texts.ts';

interface View {
  readonly name: string;
  readonly filters: Readonly<Record<string, string>>;
}

/** More are not found again in a row of links. */
const mostViews = 20;
const longestName = 40;

const words = texts.calls.views;
const views = signal(read());

function read(): readonly View[] {
  try {
    const kept: unknown = JSON.parse(readKept('views') ?? '[]');
    return Array.isArray(kept) ? kept.filter(isView).slice(0, mostViews) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is View {
  if (typeof value !== 'object' || value === null || !('name' in value) || !('filters' in value))
    return false;
  const { name, filters } = value;
  if (typeof name !== 'string' || typeof filters !== 'object' || filters === null) return false;
  return Object.values(filters).every((one) => typeof one === 'string');
}

function keep(changed: readonly View[]): void {
  views.value = changed.slice(0, mostViews);
  writeKept('views', JSON.stringify(views.value));
}

const without = (name: string) => views.value.filter((view) => view.name !== name);

export function SavedViews({ filters }: { readonly filters: Readonly<Record<string, string>> }) {
  const isFiltered = Object.values(filters).some((value) => value !== '');
  const save = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const name = String(new FormData(form).get('name') ?? '').trim();
    if (name === '') return;
    keep([{ name, filters }, ...without(name)]);
    form.reset();
  };
  if (!isFiltered && views.value.length === 0) return null;
  return (
    <section class="row" aria-label={words.title}>
      {views.value.map(({ name, filters: kept }) => (
        <span key={name} class="view">
          <a href={withQuery(pathTo('calls'), kept)}>{name}</a>{' '}
          <button type="button" aria-label={words.removeLabel(name)} onClick={() => keep(without(name))}>
            {words.remove}
          </button>
        </span>
      ))}
      {isFiltered && (
        <form class="row" onSubmit={save}>
          <input name="name" aria-label={words.name} placeholder={words.name} maxLength={longestName} />
          <button type="submit">{words.save}</button>
        </form>
      )}
    </section>
  );
}
