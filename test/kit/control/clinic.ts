/** For tests: the pathway of a clinic that places and takes calls, and nine callers based on the nine templates. */
import type { Category } from '#shared/api/agent-testing/scenarios.ts';

const node = (id: string, type: string, name: string, text: string, more: object = {}) => ({
  id,
  type,
  data: { name, text, ...more },
});
const global = (globalLabel: string) => ({ isGlobal: true, globalLabel });
const edge = (source: string, target: string, label: string, description = '') => ({
  source,
  target,
  data: { label, description },
});

/** Handles every caller below. */
export const clinicGraph = {
  nodes: [
    node(
      'greet',
      'Default',
      'Greet',
      'Hello, this is Ava from Green Clinic, calling about your appointment. How can I help you?',
      { isStart: true },
    ),
    node('name', 'Default', 'Name', 'Gladly. May I have your full name, please?', {
      extractVars: [['patient_name', 'string', 'full name']],
      condition: 'patient_name is known',
    }),
    node('day', 'Default', 'Day', 'Thank you. Which date suits you?', {
      extractVars: [['day', 'date', 'date of the appointment']],
      condition: 'day is known',
    }),
    node('book', 'Webhook', 'Book', '', {
      url: 'https://clinic.example.com/book',
      method: 'POST',
      body: '{"name":"{{patient_name}}","day":"{{day}}"}',
    }),
    node('done', 'End Call', 'Done', 'Your appointment is booked. Goodbye.'),
    node(
      'mailbox',
      'End Call',
      'Mailbox',
      'This is Ava from Green Clinic about your appointment. Please call us back. Goodbye.',
      global('voicemail mailbox: leave a message after the tone, beep'),
    ),
    node(
      'screened',
      'Default',
      'Screened',
      'My name is Ava from Green Clinic, and I am calling about an appointment.',
      global(
        'screening service wants the name and the reason of the call, who is calling, company, regarding',
      ),
    ),
    node('held', 'Wait for Response', 'Held', ''),
    node(
      'message',
      'Default',
      'Message',
      'Please take a message: a call back to Green Clinic would be kind.',
      global('unavailable: take a message, expecting'),
    ),
    node('thanks', 'End Call', 'Thanks', 'Thank you very much. Goodbye.'),
    node(
      'soothe',
      'Default',
      'Soothe',
      'I am very sorry, I understand how frustrating this is. Let us put it right.',
      global('angry, furious, unacceptable, ridiculous, outrageous, manager, listening'),
    ),
    node(
      'sorry',
      'Default',
      'Sorry',
      'I apologize once more, I hear you. Shall we find a date for your appointment?',
    ),
    node(
      'limit',
      'Default',
      'Limit',
      'I want to help you, but please stay respectful, or I will have to end this call.',
      global('useless idiot, stupid, pathetic, moron, insult, threat'),
    ),
    node('farewell', 'End Call', 'Farewell', 'I am ending this call now. Goodbye.'),
  ],
  edges: [
    edge('greet', 'name', 'book an appointment', 'appointment, visit, see a doctor'),
    edge('greet', 'greet', 'default'),
    edge('name', 'day', 'says the name'),
    edge('day', 'book', 'says the date'),
    edge('book', 'done', 'success'),
    edge('screened', 'held', 'please hold'),
    edge('screened', 'message', 'not available, take a message'),
    edge('screened', 'screened', 'default'),
    edge('held', 'thanks', 'goodbye'),
    edge('held', 'held', 'no input'),
    edge('message', 'thanks', 'goodbye', 'very well'),
    edge('soothe', 'sorry', 'still frustrating or upset'),
    edge('soothe', 'sorry', 'default'),
    edge('sorry', 'name', 'okay'),
    edge('sorry', 'name', 'default'),
    edge('limit', 'farewell', 'useless idiot, stupid, pathetic, moron, regret'),
    edge('limit', 'farewell', 'default'),
  ],
};

export interface ClinicCaller {
  readonly template: string;
  readonly category: Category;
  readonly max_turns: number;
  readonly tester_persona_prompt: string;
  readonly tester_persona_name: string;
  readonly assertions: readonly object[];
}

const reached = (node_id: string) => ({ type: 'NODE_REACHED', name: node_id, config: { node_id } });
const says = (value: string) => ({ type: 'STRING_CHECK', name: value, config: { value, target: 'agent' } });
const neverSays = (pattern: string) => ({
  type: 'REGEX_MATCH',
  name: `never ${pattern}`,
  config: { pattern, flags: 'i', target: 'agent', negate: true },
});
const known = (variable_name: string, expected_value: string) => ({
  type: 'VARIABLE_EXTRACTED',
  name: variable_name,
  config: { variable_name, expected_value },
});
const books = [
  reached('done'),
  known('patient_name', 'Sam Reed'),
  known('day', '2030-05-04'),
  {
    type: 'WEBHOOK_TRIGGERED',
    name: 'books',
    config: { node_id: 'book', body_match: { day: '2030-05-04' } },
  },
];

const facts = '\n- name: Sam Reed\n- date: May 4, 2030';

/** @param prompts of the templates, by id */
export function clinicCallers(prompts: ReadonlyMap<string, string>): ClinicCaller[] {
  const caller = (
    template: string,
    category: Category,
    max_turns: number,
    assertions: readonly object[],
    more = '',
  ): ClinicCaller => ({
    template,
    category,
    max_turns,
    tester_persona_prompt: `${prompts.get(template) ?? ''}${more}`,
    tester_persona_name: 'Sam Reed',
    assertions,
  });
  const wish = `\nGoal: book an appointment${facts}`;
  return [
    caller('tmpl_voicemail_basic', 'VOICEMAIL', 4, [reached('mailbox'), says('call us back')]),
    caller('tmpl_call_screener', 'CALL_SCREENER', 6, [reached('held'), says('My name is Ava')]),
    caller('tmpl_gatekeeper', 'CALL_SCREENER', 10, [
      reached('message'),
      neverSays('personal matter|just put me through'),
    ]),
    caller(
      'tmpl_angry_caller',
      'ANGRY_CALLER',
      12,
      [reached('soothe'), says('I understand'), neverSays('calm down'), reached('done')],
      wish,
    ),
    caller('tmpl_abusive_caller', 'BELLIGERENT_CALLER', 10, [
      reached('limit'),
      reached('farewell'),
      neverSays('idiot|stupid'),
    ]),
    caller('tmpl_rambling_caller', 'CONFUSED_CALLER', 15, books, wish),
    caller('tmpl_happy_path', 'HAPPY_PATH', 12, books, wish),
    caller('tmpl_edge_interruptions', 'EDGE_CASE', 20, books, wish),
    caller('tmpl_custom_blank', 'CUSTOM', 20, books, wish),
  ];
}
