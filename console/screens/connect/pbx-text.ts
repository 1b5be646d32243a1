/** The configuration of a PBX as text, for the systems that discovery recognizes. */

export interface PbxFacts {
  /** Where the PBX sends calls: the edge. */
  readonly server: string;
  readonly port: number;
  readonly codecs: readonly string[];
  /** From which the edge calls the PBX. */
  readonly addresses: readonly string[];
  /** The attached number; null: none yet. */
  readonly number: string | null;
  readonly credentials: { readonly username: string; readonly realm: string | null } | null;
}

export interface PbxText {
  readonly system: string;
  /** Where it belongs. */
  readonly file: string;
  readonly text: string;
}

/** What stands where only the reader knows what. */
const password = 'THE-PASSWORD-THAT-YOU-SET';

const asteriskCodecs: Readonly<Record<string, string>> = {
  PCMU: 'ulaw',
  PCMA: 'alaw',
  Opus: 'opus',
  'G.722': 'g722',
  'G.729': 'g729',
};

function asterisk({ server, port, codecs, addresses, number, credentials }: PbxFacts): string {
  const allowed = codecs.flatMap((one) => asteriskCodecs[one] ?? []).join(',');
  return [
    '[trunkline]',
    'type = endpoint',
    'transport = transport-tls',
    'context = from-trunkline',
    'media_encryption = sdes',
    'dtmf_mode = rfc4733',
    'aors = trunkline',
    ...(credentials ? ['outbound_auth = trunkline'] : []),
    ...(number === null ? [] : [`from_user = ${number}`]),
    'disallow = all',
    `allow = ${allowed}`,
    '',
    '[trunkline]',
    'type = aor',
    `contact = sip:${server}:${port}\\;transport=tls`,
    'qualify_frequency = 60',
    '',
    ...(credentials
      ? [
          '[trunkline]',
          'type = auth',
          'auth_type = userpass',
          `username = ${credentials.username}`,
          `password = ${password}`,
          '',
        ]
      : []),
    '[trunkline]',
    'type = identify',
    'endpoint = trunkline',
    ...addresses.map((address) => `match = ${address}`),
  ].join('\n');
}

function freeswitch({ server, port, number, credentials }: PbxFacts): string {
  const params: readonly (readonly [string, string])[] = [
    ['proxy', `${server}:${port}`],
    ...(credentials
      ? ([
          ['realm', credentials.realm ?? server],
          ['username', credentials.username],
          ['password', password],
        ] as const)
      : []),
    ['register', 'false'],
    ['register-transport', 'tls'],
    ...(number === null ? [] : ([['from-user', number]] as const)),
    ['caller-id-in-from', 'true'],
  ];
  return [
    '<include>',
    '  <gateway name="trunkline">',
    ...params.map(([name, value]) => `    <param name="${name}" value="${value}"/>`),
    '  </gateway>',
    '</include>',
    '',
    '<!-- in the dialplan: calls through the gateway are encrypted -->',
    '<action application="export" data="rtp_secure_media=mandatory:AES_CM_128_HMAC_SHA1_80"/>',
    '<action application="bridge" data="sofia/gateway/trunkline/$1"/>',
  ].join('\n');
}

function kamailio({ server, port, addresses }: PbxFacts): string {
  const [first = '198.51.100.7', ...others] = addresses;
  const source = [first, ...others].map((address) => `src_ip == ${address}`).join(' || ');
  return [
    '# calls of agents: route(FROM_TRUNKLINE) in request_route, before other routes',
    'route[FROM_TRUNKLINE] {',
    `  if (proto == TLS && (${source})) {`,
    '    route(RELAY);',
    '    exit;',
    '  }',
    '}',
    '',
    '# calls to agents',
    'route[TO_TRUNKLINE] {',
    `  $du = "sip:${server}:${port};transport=tls";`,
    '  t_relay();',
    '  exit;',
    '}',
  ].join('\n');
}

interface Writer {
  readonly systems: readonly string[];
  readonly file: string;
  readonly write: (facts: PbxFacts) => string;
}

const writers: readonly Writer[] = [
  { systems: ['Asterisk', 'FreePBX', 'Issabel', 'Sangoma'], file: 'pjsip.conf', write: asterisk },
  {
    systems: ['FreeSWITCH', 'FusionPBX', 'SignalWire'],
    file: 'sip_profiles/external/trunkline.xml',
    write: freeswitch,
  },
  { systems: ['Kamailio'], file: 'kamailio.cfg', write: kamailio },
];

/** Systems that there is text for: the first name of each kind. */
export const knownSystems = writers.flatMap(({ systems }) => systems.slice(0, 1));

/** @param system as discovery names it @returns null when there is no text for it */
export function pbxText(system: string, facts: PbxFacts): PbxText | null {
  const found = writers.find(({ systems }) => systems.includes(system));
  return found ? { system, file: found.file, text: found.write(facts) } : null;
}
