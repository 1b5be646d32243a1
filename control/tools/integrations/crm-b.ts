import { bearer, type Integration, params, text } from './integration.ts';

const headers = bearer('access_token');
const properties = { type: 'object', description: 'properties of the contact and their values' };
const contacts = '/crm/v3/objects/contacts';

/** Contacts of a customer relationship system. */
export const crmB: Integration = {
  key: 'crm-b',
  credentials: { needed: true, texts: ['access_token'], baseUrl: 'required', headers: false },
  actions: [
    {
      key: 'create_contact',
      name: 'Create a contact',
      description: 'Creates a contact.',
      kind: 'service',
      headers,
      inputSchema: params({ properties }, ['properties']),
      request: { method: 'POST', path: contacts, body: { properties: '{{input.properties}}' } },
    },
    {
      key: 'update_contact',
      name: 'Update a contact',
      description: 'Writes properties of a contact.',
      kind: 'service',
      headers,
      inputSchema: params({ id: text('id of the contact'), properties }, ['id', 'properties']),
      request: {
        method: 'PATCH',
        path: `${contacts}/{{input.id}}`,
        body: { properties: '{{input.properties}}' },
      },
    },
    {
      key: 'find_contacts',
      name: 'Find contacts',
      description: 'Finds contacts that contain a text, such as a name, a phone number or a mail address.',
      kind: 'service',
      headers,
      inputSchema: params(
        {
          query: text('text to look for'),
          properties: { type: 'array', items: { type: 'string' }, description: 'properties to return' },
          limit: { type: 'integer', minimum: 1, maximum: 100 },
        },
        ['query'],
      ),
      request: {
        method: 'POST',
        path: `${contacts}/search`,
        body: {
          query: '{{input.query}}',
          properties: '{{input.properties}}',
          limit: '{{input.limit}}',
        },
      },
    },
  ],
};
