/** FreeSWITCH: a gateway of a profile with TLS. */
import { type PbxFacts, type PbxFile, passwordToFill } from './facts.ts';

export function freeswitch(facts: PbxFacts): readonly PbxFile[] {
  const { access, server, addresses } = facts;
  if (access.how === 'register') {
    return [
      { path: 'directory/default/trunkline.xml', text: user(access.username) },
      dialplan(`user/${access.username}`, facts),
    ];
  }
  const params: readonly (readonly [string, string])[] = [
    ['proxy', `${server}:${facts.port}`],
    ...(access.how === 'digest'
      ? ([
          ['realm', access.realm],
          ['username', access.username],
          ['password', passwordToFill],
        ] as const)
      : []),
    ['register', 'false'],
    ['register-transport', 'tls'],
    ...(facts.number === null ? [] : ([['from-user', facts.number]] as const)),
    ['caller-id-in-from', 'true'],
  ];
  const gateway = [
    '<include>',
    '  <gateway name="trunkline">',
    ...params.map(([name, value]) => `    <param name="${name}" value="${escaped(value)}"/>`),
    '  </gateway>',
    '</include>',
  ].join('\n');
  return [
    { path: 'sip_profiles/external/trunkline.xml', text: gateway },
    { path: 'autoload_configs/acl.conf.xml', text: acl(addresses) },
    dialplan('sofia/gateway/trunkline/$1', facts),
  ];
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text inside an attribute of XML. */
function escaped(value: string): string {
  return value.replace(/[&<>"]/g, (one) => entities[one] ?? one);
}

/** Whose calls the external profile takes without a password. */
function acl(addresses: readonly string[]): string {
  return [
    '<!-- in <network-lists>; the profile names it: <param name="apply-inbound-acl" value="trunkline"/> -->',
    '<list name="trunkline" default="deny">',
    ...addresses.map((one) => `  <node type="allow" cidr="${one}/${one.includes(':') ? 128 : 32}"/>`),
    '</list>',
  ].join('\n');
}

/** As which the edge registers. */
function user(username: string): string {
  return [
    '<include>',
    `  <user id="${escaped(username)}">`,
    `    <params><param name="password" value="${passwordToFill}"/></params>`,
    '    <variables><variable name="user_context" value="from-trunkline"/></variables>',
    '  </user>',
    '</include>',
  ].join('\n');
}

function dialplan(target: string, { number }: PbxFacts): PbxFile {
  const dialed = number === null ? '^(\\+[1-9][0-9]+)$' : `^(${number.replace('+', '\\+')})$`;
  const text = [
    '<include>',
    '  <extension name="to-trunkline">',
    `    <condition field="destination_number" expression="${dialed}">`,
    '      <action application="export" data="rtp_secure_media=mandatory:AES_CM_128_HMAC_SHA1_80"/>',
    `      <action application="bridge" data="${escaped(target)}"/>`,
    '    </condition>',
    '  </extension>',
    '</include>',
  ].join('\n');
  return { path: 'dialplan/default/trunkline.xml', text };
}
