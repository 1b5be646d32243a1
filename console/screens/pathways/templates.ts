/** Graphs that a new pathway may begin with; null: the one of the API, a node that says hello. */
import type { pathways } from '../../text/pathways.ts';
import type { Graph } from '../graph/graph.ts';

export type TemplateName = keyof typeof pathways.templates;

const node = (id: string, type: string, data: object) => ({ id, type, data: { name: id, ...data } });
const edge = (source: string, target: string, label: string) => ({ source, target, data: { label } });

export const templates: Readonly<Record<TemplateName, Graph | null>> = {
  empty: null,
  menu: {
    nodes: [
      node('Menu', 'Default', {
        isStart: true,
        text: 'Welcome. For our opening hours, press 1. To leave a message, press 2.',
      }),
      node('Opening hours', 'Default', { text: 'We are open from eight to six. Can I do anything else?' }),
      node('Message', 'Default', {
        text: 'Please say your name, and what it is about.',
        extractVars: [
          ['name', 'string', 'name of the caller'],
          ['message', 'string', 'what the call is about'],
        ],
      }),
      node('Thanks', 'End Call', { text: 'Thank you, {{name}}. We call you back. Goodbye.' }),
      node('Goodbye', 'End Call', { text: 'Thank you for your call. Goodbye.' }),
    ],
    edges: [
      edge('Menu', 'Opening hours', 'press 1'),
      edge('Menu', 'Message', 'press 2'),
      edge('Menu', 'Goodbye', 'no input'),
      edge('Opening hours', 'Message', 'wants to leave a message'),
      edge('Opening hours', 'Goodbye', 'nothing else'),
      edge('Message', 'Thanks', 'name and message given'),
    ],
  },
  questions: {
    nodes: [
      node('Greeting', 'Default', {
        isStart: true,
        text: 'Hello, what can I do for you?',
        extractVars: [['reason', 'string', 'what the caller wants']],
      }),
      node('Account', 'Default', {
        text: 'Gladly. What is your account number?',
        extractVars: [['account', 'integer', 'account number']],
      }),
      node('Transfer', 'Transfer Call', {
        text: 'I am putting you through.',
        transferNumber: '+14155550100',
        transferAnnouncement: 'A caller with account {{account}}: {{reason}}.',
      }),
      node('Nobody there', 'End Call', { text: 'Nobody is free now. We call you back. Goodbye.' }),
      node('Goodbye', 'End Call', { text: 'Thank you for your call. Goodbye.' }),
    ],
    edges: [
      edge('Greeting', 'Account', 'has a question or a problem'),
      edge('Greeting', 'Goodbye', 'nothing'),
      edge('Account', 'Transfer', 'number given'),
      edge('Transfer', 'Nobody there', 'transfer failed'),
    ],
  },
};
