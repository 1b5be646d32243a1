/** Pages that list: all groups, the endpoints of one, and the events that are posted to webhooks. */
import type { OpenApiDocument } from '../openapi-document.ts';
import { asSchema, fieldTables } from './fields.ts';
import { describedIn, type OperationGroup } from './groups.ts';
import { codeBlock, escaped, sentence } from './markup.ts';
import { methodTag, operationUrl } from './operation-page.ts';
import { jsonText } from './request-code.ts';

export function groupMain(group: OperationGroup, guideTitle: string | null): string {
  const rows = group.operations.map(
    (
      one,
    ) => `<tr><th scope="row"><a href="${operationUrl(group, one)}">${methodTag(one.method)} <code>${escaped(one.path)}</code></a></th>
<td>${escaped(one.operation.summary ?? '')}</td></tr>`,
  );
  const guide =
    guideTitle === null
      ? ''
      : `<p>What it is for: <a href="/docs/${group.guide}">${escaped(guideTitle)}</a>.</p>`;
  return `<h1>${escaped(group.title)}</h1>${guide}
<table class="endpoints"><thead><tr><th scope="col">Endpoint</th><th scope="col">What it does</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>`;
}

export function apiMain(groups: readonly OperationGroup[], webhooks: OpenApiDocument['webhooks']): string {
  const sections = groups.map(
    ({ name, title, operations }) =>
      `<li><a href="/docs/api/${name}">${escaped(title)}</a> <span class="quiet">${operations.length} endpoints</span></li>`,
  );
  const events = `<li><a href="/docs/api/webhooks">Webhook events</a> <span class="quiet">${Object.keys(webhooks ?? {}).length} events</span></li>`;
  return `<h1>API reference</h1>
<p>Every endpoint, with its fields, examples and errors. The same as a document for programs:
<a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1). Rules that hold for all of them:
<a href="/docs/contract/01-conventions">conventions</a>.</p>
<ul class="plain">${sections.join('\n')}${events}</ul>`;
}

export function webhooksMain(webhooks: OpenApiDocument['webhooks']): string {
  const events = describedIn(webhooks).map(({ path, operation }) => {
    const [media] = Object.values(operation.requestBody?.content ?? {});
    const example = Object.values(media?.examples ?? {})[0];
    return `<h2 id="${escaped(path)}"><code>${escaped(path)}</code></h2>
<p>${sentence(operation.summary ?? '')}</p>${operation.description ? `<p>${sentence(operation.description)}</p>` : ''}
${example ? `<details><summary>Example</summary>${codeBlock(jsonText(example.value), `Example of ${path}`)}</details>` : ''}
<details><summary>Fields</summary>${fieldTables(asSchema(media?.schema), 'answer')}</details>`;
  });
  return `<h1>Webhook events</h1>
<p>What is posted to your URLs. Headers, signature and retries: <a href="/docs/contract/13-webhooks">webhooks</a>.</p>
${events.join('\n')}`;
}
