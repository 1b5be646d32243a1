import { type Integration, params } from './integration.ts';

/** The customer's JavaScript, in a sandbox. */
export const customCode: Integration = {
  key: 'custom-code',
  credentials: null,
  actions: [
    {
      key: 'run_javascript',
      name: 'Run JavaScript',
      description:
        'Runs the code of the tool’s body as the body of a function with `input` and `variables`. What it returns is the result, as JSON. There is no network, no file and no clock but Date.',
      kind: 'code',
      inputSchema: params({ code: { type: 'string', minLength: 1, maxLength: 20_000 } }, ['code']),
    },
  ],
};
