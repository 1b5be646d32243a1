import { type Integration, params, text } from './integration.ts';

/** Any HTTP API: the tool's body describes the request. */
export const restApi: Integration = {
  key: 'rest_api',
  credentials: { needed: false, texts: [], baseUrl: 'optional', headers: true },
  actions: [
    {
      key: 'request',
      name: 'Send a request',
      description: 'Sends an HTTP request. The body of the tool describes it.',
      kind: 'rest',
      inputSchema: params(
        {
          url: text('absolute http or https URL, or a path under the base_url of the resource'),
          method: { type: 'string', enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], default: 'POST' },
          headers: { type: 'object', additionalProperties: { type: 'string' } },
          query: { type: 'object', description: 'parameters; a list gives one for each of its values' },
          body: { description: 'text, or a value that is sent as JSON' },
        },
        ['url'],
      ),
    },
  ],
};
