/** One endpoint as a page: what it takes, what it answers, what goes wrong, and a form to try it. */
import type { Answer, Media, Operation } from '../openapi-document.ts';
import type { Advice } from './advice.ts';
import { asSchema, fieldTables, limitsOf, type Side, typeText } from './fields.ts';
import type { Described, OperationGroup } from './groups.ts';
import { codeBlock, escaped, sentence } from './markup.ts';
import { bodyExample, clientCodeOf, curlOf, jsonText, needsKey } from './request-code.ts';

export function operationUrl({ name }: Pick<OperationGroup, 'name'>, { id }: Pick<Described, 'id'>): string {
  return `/docs/api/${name}/${id}`;
}

export interface OperationTexts {
  readonly advice: ReadonlyMap<string, Advice>;
  /** One line of Markdown as markup; links are relative to docs/errors.md. */
  readonly line: (markdown: string) => string;
  readonly group: Pick<OperationGroup, 'name' | 'title' | 'guide'>;
  /** Of the page that says what the group is for; null: it is not installed. */
  readonly guideTitle: string | null;
  /** Whether the client of `clients/typescript` is part of this version. */
  readonly hasClient: boolean;
}

export function operationMain(described: Described, texts: OperationTexts): string {
  const { operation } = described;
  return `${wayHere(texts)}
<h1>${escaped(operation.summary ?? described.path)}</h1>
<p class="route">${methodTag(described.method)} <code>${escaped(described.path)}</code></p>
<p>${accessText(described)}</p>
${operation.description ? `<p>${sentence(operation.description)}</p>` : ''}
<h2 id="example">Example</h2>
${codeBlock(curlOf(described), 'Example with curl')}
${texts.hasClient ? clientHtml(described) : ''}
${tryHtml(described)}
${parametersHtml(operation)}
${requestHtml(operation)}
${answersHtml(operation)}
${errorsHtml(operation, texts)}`;
}

function wayHere({ group, guideTitle }: OperationTexts): string {
  const guide =
    guideTitle === null ? '' : ` · What it is for: <a href="/docs/${group.guide}">${escaped(guideTitle)}</a>`;
  return `<p class="way"><a href="/docs/api">API reference</a> / <a href="/docs/api/${group.name}">${escaped(group.title)}</a>${guide}</p>`;
}

export function methodTag(method: string): string {
  return `<span class="method ${escaped(method.toLowerCase())}">${escaped(method)}</span>`;
}

const roles: Readonly<Record<string, string>> = {
  read: 'Any key of the organization may call it.',
  member: 'Needs a key with the role <code>member</code> or <code>admin</code>.',
  admin: 'Needs a key with the role <code>admin</code>.',
  operator: 'Needs an operator key.',
};

function accessText(described: Described): string {
  if (!needsKey(described)) return 'Needs no key.';
  const role = described.operation['x-least-role'];
  return roles[role ?? ''] ?? 'Any key may call it.';
}

function parametersHtml({ parameters = [] }: Operation): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((one) => {
    const schema = asSchema(one.schema);
    const limits = limitsOf(schema);
    return `<tr><th scope="row"><code>${escaped(one.name)}</code> <span class="need">${escaped(one.in)}${one.required ? ', required' : ''}</span></th>
<td class="type">${typeText(schema)}</td><td>${sentence(one.description ?? '')} ${limits.length > 0 ? `<span class="limits">${limits.join('; ')}</span>` : ''}</td></tr>`;
  });
  return `<h2 id="parameters">Parameters</h2>
<table class="fields"><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">What it is</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>`;
}

function requestHtml(operation: Operation): string {
  const [entry] = Object.entries(operation.requestBody?.content ?? {});
  if (!entry) return '';
  const [type, { schema }] = entry;
  return `<h2 id="body">Body</h2><p><code>${escaped(type)}</code></p>${fieldTables(asSchema(schema), 'request')}`;
}

function clientHtml(described: Described): string {
  const code = clientCodeOf(described);
  return code === null ? '' : codeBlock(code, 'Example in TypeScript');
}

function answersHtml({ responses = {} }: Operation): string {
  const good = Object.entries(responses).filter(([status]) => status < '400');
  return good.map(([status, answer]) => answerHtml(status, answer)).join('\n');
}

function answerHtml(status: string, { description = '', content = {} }: Answer): string {
  const [entry] = Object.entries(content);
  const title = `<h2 id="answer-${escaped(status)}">Answer ${escaped(status)}</h2>`;
  if (!entry) return `${title}<p>${sentence(description)}. No body.</p>`;
  const [type, media] = entry;
  return `${title}<p><code>${escaped(type)}</code></p>${mediaHtml(media, 'answer')}`;
}

function mediaHtml({ schema, examples = {} }: Media, side: Side): string {
  const shown = Object.values(examples).map(({ value }) => codeBlock(jsonText(value), 'Example'));
  const example = shown.length === 0 ? '' : `<details><summary>Example</summary>${shown.join('')}</details>`;
  return `${example}${fieldTables(asSchema(schema), side)}`;
}

function errorsHtml({ responses = {} }: Operation, { advice, line }: OperationTexts): string {
  const rows = Object.entries(responses)
    .filter(([status]) => status >= '400')
    .flatMap(([status, { content = {} }]) =>
      Object.keys(Object.values(content)[0]?.examples ?? {}).map(
        (code) =>
          `<tr><th scope="row"><code>${escaped(code)}</code></th><td>${escaped(status)}</td><td>${line(advice.get(code)?.text ?? '')}</td></tr>`,
      ),
    );
  if (rows.length === 0) return '';
  return `<h2 id="errors">Errors</h2>
<table class="fields errors"><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">What to do</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>`;
}

/** Shown by the script of the page, which sends it: without one the form could not carry the key. */
function tryHtml(described: Described): string {
  const { method, path, operation } = described;
  const fields = (operation.parameters ?? []).map(
    ({ name, in: where, required }) =>
      `<label>${escaped(name)} <span class="need">${escaped(where)}${required ? ', required' : ''}</span>
<input data-in="${escaped(where)}" name="${escaped(name)}"${required ? ' required' : ''} autocomplete="off" spellcheck="false"></label>`,
  );
  const body = bodyExample(operation);
  const bodyField =
    body === null
      ? ''
      : body.type === 'multipart/form-data'
        ? '<label>File <input type="file" data-in="file"></label>'
        : `<label>Body <textarea data-in="body" data-type="${escaped(body.type)}" rows="${Math.min(18, jsonText(body.value).split('\n').length + 1)}" spellcheck="false">${escaped(jsonText(body.value))}</textarea></label>`;
  const changes = method === 'GET' ? '' : '<p class="warning">This request is carried out.</p>';
  return `<details class="try" hidden><summary>Try it</summary>
<form data-method="${escaped(method)}" data-path="${escaped(path)}"${needsKey(described) ? ' data-key' : ''}>
${fields.join('\n')}${bodyField}${changes}<button type="submit">Send</button></form>
<div class="outcome" aria-live="polite"></div></details>`;
}
