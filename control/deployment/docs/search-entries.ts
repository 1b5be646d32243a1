/** What the search of /docs looks through. The browser gets all of it at the first key. */
import type { OpenApiDocument } from '../openapi-document.ts';
import { asSchema, type Schema } from './fields.ts';
import { type Described, describedIn, type OperationGroup } from './groups.ts';
import { sectionsOf } from './markdown.ts';
import { operationUrl } from './operation-page.ts';

export interface SearchEntry {
  readonly url: string;
  readonly title: string;
  /** The page or group that it belongs to. */
  readonly where: string;
  readonly text: string;
}

/** Of a section; long tables would make the file large, and their first rows say what they are about. */
const textLength = 2_000;

/** Of a page of docs/. @param path under which it is served */
export function pageEntries(path: string, text: string): SearchEntry[] {
  const sections = sectionsOf(text);
  const name = sections.find(({ title }) => title !== '')?.title ?? path;
  return sections
    .filter(({ title, text }) => title !== '' || text !== '')
    .map(({ id, title, text }) => ({
      url: `/docs/${path}${id === '' ? '' : `#${id}`}`,
      title: title || name,
      where: name,
      text: text.slice(0, textLength),
    }));
}

export function endpointEntry(group: OperationGroup, one: Described): SearchEntry {
  return {
    url: operationUrl(group, one),
    title: `${one.method} ${one.path}`,
    where: group.title,
    text: operationText(one),
  };
}

export function eventEntries(webhooks: OpenApiDocument['webhooks']): SearchEntry[] {
  return describedIn(webhooks).map(({ path, operation }) => ({
    url: `/docs/api/webhooks#${path}`,
    title: path,
    where: 'Webhook events',
    text: operation.summary ?? '',
  }));
}

function operationText({ operation }: Described): string {
  const bodies = Object.values(operation.requestBody?.content ?? {});
  const answers = Object.entries(operation.responses ?? {})
    .filter(([status]) => status < '400')
    .flatMap(([, { content = {} }]) => Object.values(content));
  const parameters = (operation.parameters ?? []).map(({ name }) => name);
  const names = [...bodies, ...answers].flatMap(({ schema }) => fieldNames(asSchema(schema), 0));
  return `${operation.summary ?? ''} ${[...new Set([...parameters, ...names])].join(' ')}`.slice(
    0,
    textLength,
  );
}

function fieldNames(schema: Schema, level: number): string[] {
  if (level > 4) return [];
  const parts = [...(schema.anyOf ?? []), ...(schema.allOf ?? []), ...(schema.items ? [schema.items] : [])];
  return [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, part]) => [
      name,
      ...fieldNames(part, level + 1),
    ]),
    ...parts.flatMap((part) => fieldNames(part, level + 1)),
  ];
}
