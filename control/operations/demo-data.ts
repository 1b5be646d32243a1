/** The demo organization, except for its calls: bodies of requests to the API. */

export const demoNumbers = { menu: '+14155550190', desk: '+14155550191' } as const;
export const demoOrganization = 'Demo organization';

const node = (id: string, type: string, y: number, data: object) => ({
  id,
  type,
  position: { x: 0, y },
  data: { name: id, ...data },
});
const edge = (source: string, target: string, label: string) => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label },
});

/** Several kinds of nodes: speech, a question with a stored answer, keys, a transfer, an end. */
export const demoPathway = {
  name: 'Demo: front desk',
  description: 'Demo. Asks what the caller wants, takes an order number, connects to a person.',
  graph: {
    nodes: [
      node('Greeting', 'Default', 0, {
        isStart: true,
        text: 'Hello, this is the demo front desk. Is it about an order, or shall I connect you?',
      }),
      node('Order', 'Wait for Response', 150, {
        text: 'Please tell me the order number.',
        extractVars: [['order_number', 'string', 'The number of the order']],
      }),
      node('Status', 'Default', 300, { text: 'Thank you. Order {{order_number}} is on its way.' }),
      node('Person', 'Transfer Call', 150, { text: 'I connect you now.', transferNumber: '+14155550123' }),
      node('Goodbye', 'End Call', 450, { text: 'Thank you for calling, goodbye.' }),
    ],
    edges: [
      edge('Greeting', 'Order', 'The caller asks about an order'),
      edge('Greeting', 'Person', 'The caller wants a person'),
      edge('Order', 'Status', 'The caller named a number'),
      edge('Status', 'Goodbye', 'The caller has no further question'),
    ],
  },
};

export const demoTool = {
  name: 'Demo: order status',
  description: 'Demo. Looks up the state of an order in the shop.',
  integration: 'rest_api',
  action: 'request',
  input_schema: {
    type: 'object',
    properties: { order_number: { type: 'string', description: 'The number of the order' } },
    required: ['order_number'],
  },
  body: { method: 'GET', url: 'https://shop.example.com/orders/{{input.order_number}}' },
  label: 'demo',
};

export const demoPersona = (toolId: string) => ({
  name: 'Demo: Robin',
  role: 'Front desk of a shop',
  description: 'Demo.',
  tags: ['demo'],
  orchestration_prompt: 'Help callers with their orders. Look up an order before you speak of it.',
  personality_prompt: 'Friendly, brief, never guesses.',
  default_tools: [toolId],
});

export const demoWidget = (pathwayId: string) => ({
  name: 'Demo: shop chat',
  pathway_id: pathwayId,
  config: { greeting: 'Hello! Is it about an order?', allowedOrigins: ['https://shop.example.com'] },
});

export const demoAttach = {
  phone_numbers: Object.values(demoNumbers),
  directions: [
    { type: 'inbound', options: { allowed_ips: ['203.0.113.0/24'] } },
    { type: 'outbound', sip_endpoint: 'sip:trunk.example.com' },
  ],
};

/** Waits for a signature that never comes, so it stays a demo request. */
export const demoPort = {
  phone_numbers: ['+12125550190'],
  losing_carrier_information: {
    customer_type: 'business',
    business_name: 'Demo Shop Inc.',
    first_name: 'Robin',
    last_name: 'Demo',
    authorized_representative_email: 'robin@demo.invalid',
    account_number: 'DEMO-1',
    account_telephone_number: '+12125550190',
    address: { street: '1 Demo Street', city: 'New York', state: 'NY', zip: '10001' },
  },
};
