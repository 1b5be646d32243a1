/** Texts of the screen of calls in progress. */
import { aFirstCall } from './commands.ts';

export const live = {
  title: 'Live calls',
  counted: (count: number) => (count === 1 ? '1 call' : `${count} calls`),
  following: 'live',
  connecting: 'connecting…',
  head: {
    state: 'State',
    time: 'Time',
    levels: 'Levels',
    words: 'Last words',
    action: 'Action',
  },
  received: 'From the other side',
  sent: 'To the other side',
  dbov: (level: number) => `${Math.round(level)} dBov`,
  states: { ringing: 'setting up', answered: 'answered' },
  empty: 'No call is in progress.',
  emptyNext: `Calls appear here as they begin; nothing has to be reloaded. ${aFirstCall}`,
  more: (read: number) =>
    `Only the newest ${read} calls were read, and those that began since; there may be more.`,
  transfer: {
    button: 'Transfer',
    label: (call: string) => `Transfer ${call}`,
    question: (call: string) => `Transfer ${call}?`,
    what: 'The target is called; when it answers, the agent leaves the call. If it does not, the call stays with its agent.',
    target: 'To',
    hint: 'a number, an extension or a SIP URI; park:<slot> or conference:<name>',
    yes: 'Transfer',
    no: 'Keep the call',
  },
  hangUp: {
    button: 'Hang up',
    label: (call: string) => `Hang up ${call}`,
    question: (call: string) => `Hang up ${call}?`,
    what: 'The call ends at once for both sides.',
    yes: 'Hang up',
    no: 'Keep the call',
  },
} as const;
