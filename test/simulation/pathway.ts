/** The pathway of the world, which accepts and sends keys. */

/** The keys that the pathway sends. */
export const keysOfPathway = '42#';

const step = (id: string, type: string, data: object) => ({ id, type, data: { name: id, ...data } });
const way = (source: string, target: string, label: string) => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label },
});

/** A menu, an entry of several keys, sent keys, a transfer, and edges back. */
export const pathway = {
  nodes: [
    step('menu', 'Default', { isStart: true, text: 'Press 1, 2 or 3.' }),
    step('account', 'Default', {
      text: 'Your account?',
      extractVars: [['account', 'integer', 'account number']],
    }),
    step('again', 'Default', { text: 'Thanks {{account}}. Press 1 to go on.' }),
    step('transfer', 'Transfer Call', { text: 'One moment.', transferNumber: '+14155550199' }),
    step('sorry', 'End Call', { text: 'Sorry.' }),
    step('bye', 'End Call', { text: 'Goodbye.' }),
    step('dial', 'Press Button', { digits: keysOfPathway }),
  ],
  edges: [
    way('menu', 'account', 'press 1'),
    way('menu', 'transfer', 'press 2'),
    way('menu', 'dial', 'press 3'),
    way('account', 'again', 'entered'),
    way('again', 'menu', 'press 1'),
    way('again', 'bye', 'anything else'),
    way('transfer', 'sorry', 'failure'),
    way('dial', 'menu', 'done'),
  ],
};
