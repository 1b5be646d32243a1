import { type Integration, params } from './integration.ts';

/** SMS through the deployment's SMS service. */
export const serviceSms: Integration = {
  key: 'service-sms',
  credentials: null,
  actions: [
    {
      key: 'send_sms',
      name: 'Send an SMS',
      description: 'Sends a text message from the number of the deployment.',
      kind: 'sms',
      inputSchema: params(
        {
          to: { type: 'string', minLength: 1, description: 'phone number in E.164 form' },
          text: { type: 'string', minLength: 1, maxLength: 1600, description: 'text of the message' },
        },
        ['to', 'text'],
      ),
    },
  ],
};
