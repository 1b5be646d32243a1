/** What the search of /docs looks through. The browser gets all of it at the first key. */
import type { OpenApiDocument } from '../openapi-document.ts';
import { asSchema, type Schema } from './fields.ts';
import { type Described, describedIn, type OperationGroup } from './groups.ts';
import type { Rendered } from './markdown.ts';
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

export function searchEntries(
  pages: readonly { readonly path: string; readonly rendered: Rendered }[],
  groups: readonly OperationGroup[],
  webhooks: OpenApiDocument['webhooks'],
): SearchEntry[] {
  const guides = pages.flatMap(({ path, rendered }) =>
    rendered.sections
      .filter(({ title, text }) => title !== '' || text !== '')
      .map(({ id, title, text }) => ({
        url: `/docs/${path}${id === '' ? '' : `#${id}`}`,
        title: title || rendered.title,
        where: rendered.title,
        text: text.slice(0, textLength),
      })),
  );
  const endpoints = groups.flatMap((group) =>
    group.operations.map((one) => ({
      url: operationUrl(group, one),
      title: `${one.method} ${one.path}`,
      where: group.title,
      text: operationText(one),
    })),
  );
  const events = describedIn(webhooks).map(({ path, operation }) => ({
    url: `/docs/api/webhooks#${path}`,
    title: path,
    where: 'Webhook events',
    text: operation.summary ?? '',
  }));
  return [...endpoints, ...events, ...guides];
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
