/** Asterisk with its PJSIP channel (version 16 and later), and what is built on it. */
import { type PbxFacts, type PbxFile, passwordToFill } from './facts.ts';

const codecNames: Readonly<Record<string, string>> = {
  PCMU: 'ulaw',
  PCMA: 'alaw',
  Opus: 'opus',
  'G.722': 'g722',
  'G.729': 'g729',
};

export function asterisk(facts: PbxFacts): readonly PbxFile[] {
  const { access } = facts;
  // An endpoint that a registration identifies is named as its user.
  const name = access.how === 'register' ? plain(access.username) : 'trunkline';
  return [
    {
      path: '/etc/asterisk/pjsip.conf',
      text: [...transport, '', ...endpoint(name, facts), '', ...address(name, facts)].join('\n'),
    },
    { path: '/etc/asterisk/extensions.conf', text: dialplan(name, facts).join('\n') },
  ];
}

/** A semicolon begins a comment. */
const plain = (value: string): string => value.replaceAll(';', '\\;');

const transport: readonly string[] = [
  '; a transport for TLS; leave it out if there is one already, but see that it has these lines',
  '[transport-tls]',
  'type = transport',
  'protocol = tls',
  'bind = 0.0.0.0:5061',
  'method = tlsv1_2',
  'cert_file = /etc/asterisk/keys/pbx.crt',
  'priv_key_file = /etc/asterisk/keys/pbx.key',
  'ca_list_file = /etc/asterisk/keys/trusted.pem',
  'verify_server = yes',
];

function endpoint(name: string, { codecs, number, access }: PbxFacts): readonly string[] {
  return [
    `[${name}]`,
    'type = endpoint',
    'transport = transport-tls',
    'context = from-trunkline',
    `aors = ${name}`,
    ...(access.how === 'digest' ? [`outbound_auth = ${name}`] : []),
    ...(access.how === 'register' ? [`auth = ${name}`, 'identify_by = username'] : []),
    'media_encryption = sdes',
    'media_encryption_optimistic = no',
    'dtmf_mode = rfc4733',
    'direct_media = no',
    ...(access.how === 'register' ? ['rewrite_contact = yes'] : []),
    ...(number === null ? [] : [`from_user = ${number}`]),
    'disallow = all',
    `allow = ${codecs.flatMap((one) => codecNames[one] ?? []).join(',')}`,
  ];
}

/** Where it calls, and whose calls are its own. */
function address(name: string, { server, port, addresses, access }: PbxFacts): readonly string[] {
  const secrets =
    access.how === 'address'
      ? []
      : [
          `[${name}]`,
          'type = auth',
          'auth_type = userpass',
          `username = ${plain(access.username)}`,
          `password = ${passwordToFill}`,
        ];
  if (access.how === 'register') {
    return [
      `[${name}]`,
      'type = aor',
      'max_contacts = 1',
      'remove_existing = yes',
      'qualify_frequency = 60',
      '',
      ...secrets,
    ];
  }
  return [
    `[${name}]`,
    'type = aor',
    `contact = sip:${server}:${port}\\;transport=tls`,
    'qualify_frequency = 60',
    '',
    ...(secrets.length > 0 ? [...secrets, ''] : []),
    `[${name}]`,
    'type = identify',
    `endpoint = ${name}`,
    ...addresses.map((one) => `match = ${one}`),
  ];
}

/** Variables of Asterisk. */
const dialed = `\${EXTEN}`;
/** Of what was dialed: an `@` or `&` in it would name other endpoints. */
const digits = `\${FILTER(0-9,\${EXTEN})}`;
const withoutPlus = `\${EXTEN:1}`;

function dialplan(name: string, { number }: PbxFacts): readonly string[] {
  return [
    '; calls of agents: each goes to the extension that was dialed',
    '[from-trunkline]',
    `exten => _X.,1,Dial(PJSIP/${digits},30)`,
    `exten => _+X.,1,Goto(${withoutPlus},1)`,
    '',
    '; calls to agents: include this context where your phones dial',
    '[to-trunkline]',
    `exten => ${number ?? '_+X.'},1,Dial(PJSIP/${dialed}@${name})`,
  ];
}
