/** Texts of the first screen. */
export const overview = {
  title: 'Overview',
  live: { title: 'Calls now', link: 'Live calls' },
  today: {
    title: 'Today (UTC)',
    calls: 'Calls',
    asr: 'Answered (ASR)',
    acd: 'Mean duration (ACD)',
    mos: 'MOS, median',
    poor: 'MOS, worst 5 %',
    link: 'Calls of today',
    none: 'No call has ended today.',
    incomplete: 'Calls of an earlier version are still being counted.',
  },
  trunks: {
    title: 'Trunks that are not healthy',
    none: 'No trunk is unreachable.',
    link: 'Trunks',
    noNumbers: 'No number has a SIP configuration yet: connect your PBX or carrier to attach the first one.',
    connect: 'Connect a PBX',
  },
  alerts: { title: 'Open alerts', none: 'No open alerts.', link: 'Alerts' },
  tests: { title: 'Last failed tests', none: 'No test has failed.', link: 'Test runs' },
  refused: { title: 'Last refused calls', none: 'No call was refused.', link: 'Refused calls' },
} as const;
