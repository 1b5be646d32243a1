/** The reference page: one static document without scripts or external resources. */
import type { Answer, Media, OpenApiDocument, Operation } from './openapi-document.ts';

export function docsPage(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const sections = [...Map.groupBy(operations, ({ operation }) => operation.tags?.[0] ?? '')].map(
    ([tag, members]) => `<h2>${html(tag)}</h2>${members.map(operationHtml).join('')}`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${html(document.info.title)} API</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${style}</style></head>
<body><h1>${html(document.info.title)}</h1><p>${html(document.info.description ?? '')}
The same as a document for programs: <a href="/openapi.json">/openapi.json</a>.
Every request carries <code>authorization: Bearer &lt;key&gt;</code>.</p>
${sections.join('\n')}</body></html>`;
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
details{border:1px solid #d0d7de;border-radius:6px;margin:.5rem 0;padding:.5rem .75rem}
summary{cursor:pointer}code,pre{font:14px/1.45 ui-monospace,monospace}
pre{background:#f6f8fa;padding:.75rem;overflow:auto;border-radius:6px}b{display:inline-block;min-width:4.5rem}
table{border-collapse:collapse}td,th{border:1px solid #d0d7de;padding:.2rem .5rem;text-align:left}`;

function operationHtml(one: { path: string; method: string; operation: Operation }): string {
  const { path, method, operation } = one;
  const body = Object.values(operation.requestBody?.content ?? {})[0];
  return `<details id="${html(operation.operationId ?? '')}"><summary><b>${html(method)}</b> <code>${html(path)}</code> ${html(operation.summary ?? '')}</summary>
${operation.description ? `<p>${html(operation.description)}</p>` : ''}${parametersHtml(operation)}
${body === undefined ? '' : `<h4>Body</h4>${mediaHtml(body)}`}<h4>Answers</h4>
${Object.entries(operation.responses ?? {})
  .map(answerHtml)
  .join('\n')}</details>`;
}

function parametersHtml({ parameters = [] }: Operation): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(
    (parameter) =>
      `<tr><td><code>${html(parameter.name)}</code></td><td>${html(parameter.in)}${parameter.required ? ', required' : ''}</td>` +
      `<td><code>${html(JSON.stringify(parameter.schema ?? {}))}</code> ${html(parameter.description ?? '')}</td></tr>`,
  );
  return `<h4>Parameters</h4><table>${rows.join('')}</table>`;
}

function answerHtml([status, answer]: [string, Answer]): string {
  const media = Object.values(answer.content ?? {})[0];
  const title = `<b>${html(status)}</b> ${html(answer.description ?? '')}`;
  if (!media) return `<p>${title}</p>`;
  return `<details><summary>${title}</summary>${mediaHtml(media)}</details>`;
}

/** Examples first; the schema has the rest. */
function mediaHtml({ schema, examples = {} }: Media): string {
  const shown = Object.values(examples).map(({ value }) => jsonHtml(value));
  return `${shown.join('')}<details><summary>Schema</summary>${jsonHtml(schema)}</details>`;
}

function jsonHtml(value: unknown): string {
  return `<pre>${html(JSON.stringify(value, null, 2) ?? '')}</pre>`;
}

function html(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
