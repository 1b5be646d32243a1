/** The pathway of the demo number: a menu of two keys. Every branch has its own sentence. */
import type { OpenObject } from './pathways/index.ts';

export const demoNodes: OpenObject[] = [
  {
    id: 'greeting',
    type: 'Default',
    position: { x: 0, y: 0 },
    data: {
      name: 'Greeting',
      isStart: true,
      text: 'Welcome to Trunkline. Press 1 for sales, or press 2 for support.',
    },
  },
  {
    id: 'repeat',
    type: 'Default',
    position: { x: 0, y: 200 },
    data: { name: 'Repeat', text: 'That is not on the menu. Press 1 for sales, or press 2 for support.' },
  },
  {
    id: 'sales',
    type: 'End Call',
    position: { x: -300, y: 400 },
    data: { name: 'Sales', text: 'You have reached sales. Thank you for calling, goodbye.' },
  },
  {
    id: 'support',
    type: 'End Call',
    position: { x: 300, y: 400 },
    data: { name: 'Support', text: 'You have reached support. Thank you for calling, goodbye.' },
  },
];

const menu = (source: string): OpenObject[] => [
  edge(source, 'sales', 'User pressed 1', 'The caller presses 1 or asks for sales'),
  edge(source, 'support', 'User pressed 2', 'The caller presses 2 or asks for support'),
  edge(source, 'repeat', 'Anything else', 'The caller presses another key or says something else'),
];

function edge(source: string, target: string, label: string, description: string): OpenObject {
  return { id: `${source}-${target}`, source, target, label, data: { label, description } };
}

export const demoEdges: OpenObject[] = [...menu('greeting'), ...menu('repeat')];
