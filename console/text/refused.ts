/** Texts of the screen of refused calls. */
export const refused = {
  title: 'Refused calls',
  intro: 'Calls to your numbers that were not taken: who called, why not, and what to change.',
  head: {
    last: 'Last',
    source: 'Source',
    number: 'Number',
    why: 'Why, and what to change',
    attempts: 'Attempts',
    caller: 'Caller',
    action: 'Action',
  },
  manySources: 'further sources',
  noNumber: '–',
  empty: 'No call was refused.',
  emptyNext: 'When a PBX or carrier calls and is not let in, it appears here within seconds.',
  allow: {
    button: 'Allow',
    label: (name: string) => `Allow ${name}`,
    question: (name: string) => `Allow ${name}?`,
    what: 'The address is added to allowed_ips of the inbound configuration of the number. Allow it only if the calls are wanted.',
    yes: 'Allow it',
    no: 'Leave it refused',
  },
  block: {
    button: 'Block',
    label: (name: string) => `Block ${name}`,
    question: (name: string) => `Block ${name}?`,
    what: 'The address is taken away from allowed_ips of the inbound configuration of the number. Its next calls are refused.',
    yes: 'Block it',
    no: 'Leave it allowed',
  },
  noInbound: 'The number has no inbound configuration.',
  noInboundHelps: 'Attach the number for inbound calls: POST /v1/sip/attach.',
  notListed: 'The address is not in allowed_ips by itself.',
  notListedHelps:
    'It is allowed by a network in allowed_ips or by the host in sip_endpoint. Change these with POST /v1/sip/update.',
} as const;
