/** What happens in a turn, in the order of a usual one; the last three are barge-ins. */
export const turnEvents = [
  'voice',
  'pause',
  'turn',
  'words',
  'keys',
  'silence',
  'token',
  'decided',
  'sound',
  'end',
  'held',
  'resumed',
  'cut',
] as const;
export type TurnEvent = (typeof turnEvents)[number];
