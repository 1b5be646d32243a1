/** For tests: the pathway of a dentist with five faults, and the callers who meet them. */

const node = (id: string, type: string, name: string, data: object) => ({
  id,
  type,
  position: { x: 0, y: 0 },
  data: { name, ...data },
});
const edge = (source: string, target: string, label: string) => ({
  id: `${source}-${target}`,
  source,
  target,
  label,
  data: { label },
});

export const faultyGraph = {
  nodes: [
    node('greet', 'Default', 'Greeting', {
      isStart: true,
      text: 'Welcome to Harbour Dental. How can I help you?',
    }),
    // Asks for the number, and stores it nowhere.
    node('book', 'Default', 'Book', { text: 'Gladly. What is your account number?' }),
    node('booked', 'End Call', 'Booked', { text: 'Thank you, you are booked. Goodbye.' }),
    // Somebody else's number.
    node('billing', 'Transfer Call', 'Billing', {
      text: 'I am connecting you to our billing team.',
      transferNumber: '+14155550999',
    }),
    // Words that no caller should hear.
    node('complaint', 'Default', 'Complaint', { prompt: 'Say "Calm down, that is your fault."' }),
    node('pain', 'Default', 'Pain', { text: 'Tell me where it hurts.' }),
    node('callback', 'Default', 'Callback', { text: 'We will call you back. What else do you need?' }),
    // The greeting has no edge to it.
    node('hours', 'End Call', 'Opening hours', { text: 'We are open from eight to six. Goodbye.' }),
    // Unreachable.
    node('emergency', 'End Call', 'Emergency', { text: 'Please come in right away. Goodbye.' }),
  ],
  edges: [
    edge('greet', 'book', 'Book an appointment'),
    edge('greet', 'billing', 'Invoice or billing'),
    edge('greet', 'complaint', 'Complaint'),
    edge('greet', 'pain', 'Tooth pain'),
    edge('book', 'booked', 'Number given'),
    edge('pain', 'callback', 'Place given'),
    edge('callback', 'hours', 'Opening hours'),
  ],
};

/** A caller who says these lines in order. */
export const replay = (name: string, lines: readonly string[], assertions: readonly object[]) => ({
  name,
  scenario_type: 'REPLAY',
  input_messages: lines.map((content) => ({ role: 'user', content })),
  assertions,
});

const judge = (...statements: readonly string[]) => ({
  type: 'LLM_JUDGE',
  config: {
    prompt: ['The agent serves the caller.', 'Rubric:', ...statements.map((one) => `- ${one}`)].join('\n'),
  },
});

export const missingEdge = replay(
  'Asks for the opening hours',
  ['When are you open?'],
  [{ type: 'NODE_REACHED', config: { node_id: 'hours' } }],
);
export const unreachableNode = replay(
  'Has an emergency',
  ['My tooth is in pain', 'It is an emergency, I am bleeding'],
  [{ type: 'NODE_REACHED', config: { node_id: 'emergency' } }],
);
export const missingVariable = replay(
  'Books',
  ['I want to book an appointment', 'It is 4711'],
  [
    { type: 'NODE_REACHED', config: { node_id: 'booked' } },
    { type: 'VARIABLE_EXTRACTED', config: { variable_name: 'account_number', expected_value: 4711 } },
  ],
);
export const wrongTransfer = replay(
  'Disputes an invoice',
  ['There is a mistake in my invoice'],
  [judge('agent transfers to +14155550123')],
);
export const harshPrompt = replay(
  'Complains',
  ['I have a complaint, and I am furious'],
  [judge('agent says one of: "sorry", "understand"', 'agent never says: "calm down"')],
);

/** No change by rules makes it pass. */
export const hopeless = replay(
  'Wants a song',
  ['I want to book an appointment', 'It is 4711'],
  [{ type: 'STRING_CHECK', config: { value: 'la la la', target: 'agent' } }],
);
/** Passes from the start. */
export const soundBooking = replay(
  'Books and is done',
  ['I want to book an appointment', 'It is 4711'],
  [{ type: 'NODE_REACHED', config: { node_id: 'booked' } }],
);
