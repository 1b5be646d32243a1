import type { JsonValue } from '../template.ts';
import { bearer, type Integration, type Params, params, text } from './integration.ts';

/** The service requires its API version with every request. */
const headers = bearer('token', { 'notion-version': '2022-06-28' });

const paragraphs = {
  type: 'array',
  items: { type: 'string' },
  minItems: 1,
  maxItems: 100,
  description: 'one text for each paragraph',
};

function blocks(texts: JsonValue | undefined): JsonValue {
  if (!Array.isArray(texts)) return [];
  return texts.map((content: JsonValue) => ({
    object: 'block',
    type: 'paragraph',
    paragraph: { rich_text: [{ type: 'text', text: { content } }] },
  }));
}

function page({ parent_id, title, paragraphs: texts }: Params): JsonValue {
  return {
    parent: { page_id: parent_id ?? null },
    properties: { title: { title: [{ type: 'text', text: { content: title ?? null } }] } },
    ...(texts !== undefined && { children: blocks(texts) }),
  };
}

/** Pages of notes. */
export const notesApp: Integration = {
  key: 'notes-app',
  credentials: { needed: true, texts: ['token'], baseUrl: 'required', headers: false },
  actions: [
    {
      key: 'create_page',
      name: 'Create a page',
      description: 'Creates a page below another one.',
      kind: 'service',
      headers,
      inputSchema: params({ parent_id: text('id of the page above'), title: text('its title'), paragraphs }, [
        'parent_id',
        'title',
      ]),
      request: { method: 'POST', path: '/v1/pages', body: page },
    },
    {
      key: 'append_blocks',
      name: 'Append paragraphs',
      description: 'Adds paragraphs to the end of a page or block.',
      kind: 'service',
      headers,
      inputSchema: params({ block_id: text('id of the page or block'), paragraphs }, [
        'block_id',
        'paragraphs',
      ]),
      request: {
        method: 'PATCH',
        path: '/v1/blocks/{{input.block_id}}/children',
        body: ({ paragraphs: texts }) => ({ children: blocks(texts) }),
      },
    },
    {
      key: 'search',
      name: 'Search pages',
      description: 'Finds pages whose title contains a text.',
      kind: 'service',
      headers,
      inputSchema: params(
        {
          query: text('text to look for'),
          page_size: { type: 'integer', minimum: 1, maximum: 100 },
        },
        ['query'],
      ),
      request: {
        method: 'POST',
        path: '/v1/search',
        body: { query: '{{input.query}}', page_size: '{{input.page_size}}' },
      },
    },
  ],
};
