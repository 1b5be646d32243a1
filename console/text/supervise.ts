/** Texts of the supervision of calls. */
export const supervise = {
  listen: 'Listen',
  listenTo: (call: string) => `Listen to ${call}`,
  to: (call: string) => `Supervising ${call}`,
  whisper: 'Whisper',
  speak: 'Speak',
  takeOver: 'Take over',
  giveBack: 'Give back',
  leave: 'Leave',
  modes: (call: string) => `What you do: ${call}`,
  of: (button: string, call: string) => `${button}: ${call}`,
  states: {
    listen: 'Nobody hears you',
    whisper: 'The agent hears you',
    barge: 'Both hear you',
    take_over: 'You talk in place of the agent',
  },
  tell: 'Tell the agent',
  send: 'Send',
  told: 'The agent was told.',
  note: 'What was said, for the agent',
  giveBackWith: 'Give back with it',
} as const;
