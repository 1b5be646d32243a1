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

/** Ids of the reader's deployment. */
const pathwayId = '3f2b8c1e-5d4a-4b6f-9c7e-1a2b3c4d5e6f';

const storage = {
  url: 'https://s3.example.com',
  bucket: 'recordings',
  access_key_id: 'acme',
  secret_access_key: 'a-secret-of-theirs',
};

const watch = {
  name: 'Bookings',
  assertions: [{ type: 'NODE_REACHED', config: { node_id: 'end' } }],
};

/** Queries that a request must have though each of their names may be absent, by method and path. */
export const requestQueries: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'GET /v1/sip/port/check': { phone_numbers: '+12125550190' },
  'GET /v1/agent-testing/tornado/active': { pathway_id: pathwayId },
};

export const requestExamples: Readonly<Record<string, object>> = {
  'POST /v1/agent-testing/agents': foreignAgent,
  'PUT /v1/agent-testing/agents/:id': foreignAgent,
  'POST /v1/agent-testing/scenarios': {
    name: 'Asks for the hours',
    pathway_id: pathwayId,
    scenario_type: 'REPLAY',
    input_messages: [{ role: 'user', content: 'What are your opening hours?' }],
    assertions: [{ type: 'NODE_REACHED', config: { node_id: 'end' } }],
  },
  'POST /v1/agent-testing/templates/:id/clone': { pathway_id: pathwayId },
  'POST /v1/agent-testing/scenarios/generate-from-call': {
    pathway_id: pathwayId,
    call_id: '01890a5d-ac96-774b-bcce-b302099a8057',
  },
  'POST /v1/agent-testing/loads': {
    scenario_ids: ['3f2b8c1e-5d4a-4b6f-9c7e-1a2b3c4d5e6f'],
    concurrency: 10,
  },
  'POST /v1/agent-testing/judges/calibrate': {
    labelled: [
      {
        transcript: [{ role: 'assistant', content: 'You are booked for Friday.' }],
        assertion: { type: 'LLM_JUDGE', config: { prompt: 'Did the agent book an appointment?' } },
        verdict: 'pass',
      },
    ],
  },
  'POST /v1/agent-testing/watches': { ...watch, pathway_id: pathwayId },
  'PUT /v1/agent-testing/watches/:id': watch,
  // How the base64 of a WAV file begins.
  'POST /v1/agent-testing/noises': { name: 'Our lobby', wav: 'UklGRiQAAABXQVZFZm10' },
  'POST /v1/widget': { name: 'Shop', pathway_id: pathwayId },
  'PUT /v1/org/recording-storage': storage,
  'POST /v1/org/recording-storage/test': storage,
  'PUT /v1/admin/recording-storage': storage,
  'POST /v1/admin/recording-storage/test': storage,
  'PUT /v1/admin/proxies': { addresses: ['192.0.2.10'] },
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
  'POST /v1/pathway/:id/version/:version_id': { name: 'Second', ...graph },
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
