import { bearer, type Integration, params, text } from './integration.ts';

const headers = bearer('access_token');
const object = text('kind of record, such as Contact or Case');
const fields = { type: 'object', description: 'fields of the record and their values' };
const records = '/services/data/v61.0';

/** Records of any kind in a customer relationship system. */
export const crmA: Integration = {
  key: 'crm-a',
  credentials: { needed: true, texts: ['access_token'], baseUrl: 'required', headers: false },
  actions: [
    {
      key: 'create_record',
      name: 'Create a record',
      description: 'Creates a record of a kind.',
      kind: 'service',
      headers,
      inputSchema: params({ object, fields }, ['object', 'fields']),
      request: {
        method: 'POST',
        path: `${records}/sobjects/{{input.object}}`,
        body: '{{input.fields}}',
      },
    },
    {
      key: 'update_record',
      name: 'Update a record',
      description: 'Writes fields of a record.',
      kind: 'service',
      headers,
      inputSchema: params({ object, id: text('id of the record'), fields }, ['object', 'id', 'fields']),
      request: {
        method: 'PATCH',
        path: `${records}/sobjects/{{input.object}}/{{input.id}}`,
        body: '{{input.fields}}',
      },
    },
    {
      key: 'find_records',
      name: 'Find records',
      description: 'Finds records of a kind that contain a text.',
      kind: 'service',
      headers,
      inputSchema: params(
        {
          object,
          query: { type: 'string', minLength: 2, description: 'text to look for' },
          fields: text('fields to return, separated by commas'),
          limit: { type: 'integer', minimum: 1, maximum: 200 },
        },
        ['object', 'query'],
      ),
      request: {
        method: 'GET',
        path: `${records}/parameterizedSearch`,
        query: {
          q: '{{input.query}}',
          sobject: '{{input.object}}',
          fields: '{{input.fields}}',
          defaultLimit: '{{input.limit}}',
        },
      },
    },
  ],
};
