/** Request bodies for the reference where a generated one would say little, by method and route. */
const graph = {
  nodes: [
    {
      id: 'greeting',
      type: 'Default',
      data: { name: 'Greeting', isStart: true, text: 'Hello. How can I help?' },
    },
    { id: 'end', type: 'End Call', data: { name: 'End', text: 'Goodbye.' } },
  ],
  edges: [{ id: 'e1', source: 'greeting', target: 'end', data: { label: 'The caller has no question' } }],
};

const foreignAgent = {
  name: 'Their bot',
  url: 'https://bot.example.com/v1/chat/completions',
  format: 'openai',
  model: 'bot-1',
  headers: [{ name: 'Authorization', value: 'Bearer a-key-of-theirs' }],
};

export const requestExamples: Readonly<Record<string, object>> = {
  'POST /v1/agent-testing/agents': foreignAgent,
  'PUT /v1/agent-testing/agents/:id': foreignAgent,
  'POST /v1/sip/attach': {
    phone_number: '+14155550100',
    directions: [
      { type: 'inbound', options: { allowed_ips: ['203.0.113.0/24'] } },
      {
        type: 'outbound',
        sip_endpoint: 'sip:trunk.example.com',
        options: { sip_username: 'acme', sip_password: 'a long password' },
      },
    ],
  },
  'POST /v1/sip/update': {
    phone_number: '+14155550100',
    updates: { type: 'inbound', options: { allowed_ips: ['203.0.113.9'] } },
  },
  'POST /v1/sip/detach': { phone_number: '+14155550100', directions: ['outbound'] },
  'POST /v1/sip/parse-destination': { input: 'sip:100@pbx.example.com:5061;transport=tls' },
  'POST /v1/sip/discover': { host: 'sip.example.com' },
  'POST /v1/sip/test-call': { phone_number: '+14155550100', to: '+14155550123', dtmf: '1w2' },
  'PATCH /v1/sip/config': {
    phone_number: '+14155550100',
    direction: 'outbound',
    failover_config: { enabled: true, endpoints: [{ host: 'standby.example.com', priority: 1 }] },
  },
  'POST /v1/inbound/:phone_number': { prompt: 'Answer politely.', webhook: 'https://example.com/calls' },
  'POST /v1/calls': { phone_number: '+14155550123', from: '+14155550100', task: 'Confirm the appointment.' },
  'POST /v1/pathway/:id': graph,
  'POST /v1/pathway/:id/version': { name: 'First', ...graph },
  'POST /v1/pathway/:id/version/:version_number': { name: 'Second', ...graph },
  'POST /v1/sip/port/initiate': {
    phone_numbers: ['+12125550190'],
    losing_carrier_information: {
      customer_type: 'business',
      business_name: 'Acme Inc.',
      first_name: 'Robin',
      last_name: 'Doe',
      authorized_representative_email: 'robin@example.com',
      account_number: '12345',
      account_telephone_number: '+12125550190',
      address: { street: '1 Main Street', city: 'New York', state: 'NY', zip: '10001' },
    },
  },
  'POST /v2/tools': {
    name: 'Order status',
    description: 'Looks up the state of an order.',
    integration: 'rest_api',
    action: 'request',
    input_schema: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    body: { method: 'GET', url: 'https://shop.example.com/orders/{{input.order}}' },
  },
  'POST /v1/pathway/create': { name: 'Front desk', description: 'Greets and connects.' },
  'PATCH /v1/org/settings': {
    alert_emails: ['ops@example.com'],
    event_webhook_url: 'https://example.com/events',
  },
};
