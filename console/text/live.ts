/** Texts of the screen of calls in progress. */
export const live = {
  title: 'Live calls',
  counted: (count: number) => (count === 1 ? '1 call' : `${count} calls`),
  following: 'live',
  connecting: 'connecting…',
  head: {
    state: 'State',
    time: 'Time',
    words: 'Last words',
    action: 'Action',
  },
  states: { ringing: 'setting up', answered: 'answered' },
  empty: 'No call is in progress.',
  emptyNext: 'Calls appear here as they begin; nothing has to be reloaded. On this machine: npm run call',
  more: (shown: number, all: number) => `The newest ${shown} of ${all} calls are shown.`,
  hangUp: {
    button: 'Hang up',
    label: (call: string) => `Hang up ${call}`,
    question: (call: string) => `Hang up ${call}?`,
    what: 'The call ends at once for both sides.',
    yes: 'Hang up',
    no: 'Keep the call',
  },
} as const;
