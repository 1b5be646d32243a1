/** Texts of a visitor's call. The script element may replace each: `callMuteLabel` by `data-call-mute-label`. */
const defaults = {
  callLabel: 'Call',
  callConsentText:
    'For a call, this page needs your microphone. Your voice goes to the assistant, and what is said is written down in this chat.',
  callStartLabel: 'Start the call',
  callDeclineLabel: 'Not now',
  callMicrophoneText: 'Allow the microphone in your browser…',
  callConnectingText: 'Connecting…',
  callTalkingText: 'In a call',
  callMutedText: 'In a call; you are muted',
  callBrokenText: 'The connection was lost. Connecting again…',
  callMuteLabel: 'Mute',
  callHangUpLabel: 'Hang up',
  callKeysLabel: 'Keys',
  callOwnLevelLabel: 'You',
  callOtherLevelLabel: 'Assistant',
  callCloseLabel: 'Close',
  callEndedText: 'The call has ended.',
  callDeniedText:
    'The microphone is not allowed. Allow it for this page in your browser and call again, or write here.',
  callNoMicrophoneText: 'No microphone was found. You can write here instead.',
  callMicrophoneBusyText:
    'The microphone cannot be used: another program may have it. You can write here instead.',
  callUnsupportedText: 'Calls do not work in this browser or on this page. You can write here instead.',
  callUnavailableText: 'Calls are not available at the moment. You can write here instead.',
  callBusyText: 'There are too many calls at the moment. Call again in a minute, or write here.',
  callLostText: 'The connection was lost, and the call with it. Call again, or write here.',
  callRefusedText: 'The chat is not available on this page.',
} as const;

export type Texts = Readonly<Record<keyof typeof defaults, string>>;

export function textsOf(given: Readonly<Record<string, string | undefined>>): Texts {
  return Object.fromEntries(
    Object.entries(defaults).map(([name, text]) => [name, given[name] || text]),
  ) as Texts;
}
