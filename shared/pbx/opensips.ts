/** OpenSIPS 3.4 and later: a registrar for phones over TLS, with a trunk to the edge. */
import { type PbxFacts, type PbxFile, passwordToFill, quoted } from './facts.ts';

export function opensips(facts: PbxFacts): readonly PbxFile[] {
  return [{ path: '/etc/opensips/opensips.cfg', text: configuration(facts).join('\n') }];
}

const param = (modules: string, name: string, value: string | number): string =>
  `modparam("${modules}", "${name}", ${typeof value === 'number' ? value : quoted(value)})`;

function configuration(facts: PbxFacts): readonly string[] {
  const { access } = facts;
  const challenged = access.how === 'digest' ? ['uac_auth', 'uac'] : [];
  return [
    'log_level=3',
    "# the PBX's own address, and its name: that of its certificate",
    'socket=tls:203.0.113.10:5061 as pbx.example.com:5061',
    'alias="pbx.example.com"',
    'tcp_workers=8',
    'mpath="/usr/lib/x86_64-linux-gnu/opensips/modules/"',
    '',
    ...[...modules, ...challenged].map((name) => `loadmodule "${name}.so"`),
    '',
    ...tls,
    param('usrloc', 'working_mode_preset', 'single-instance-no-db'),
    param('registrar', 'max_expires', 3600),
    param('registrar|nathelper', 'received_avp', '$avp(received)'),
    param('auth', 'username_spec', '$avp(user)'),
    param('auth', 'password_spec', '$avp(password)'),
    param('auth', 'calculate_ha1', 1),
    ...(access.how === 'digest'
      ? [param('uac_auth', 'credential', `${access.username}:${access.realm}:${passwordToFill}`)]
      : []),
    '',
    ...requests(facts),
    '',
    ...toTrunkline(facts),
    '',
    ...phones(facts),
    '',
    ...relay,
  ];
}

const modules = [
  'proto_tls',
  'tls_mgm',
  'tls_openssl',
  'signaling',
  'sl',
  'tm',
  'rr',
  'maxfwd',
  'sipmsgops',
  'usrloc',
  'registrar',
  'nathelper',
  'auth',
];

/** A domain for connections of others, and one for those to the edge. */
const domain = (kind: 'server' | 'client', name: string, more: readonly string[]): readonly string[] => [
  param('tls_mgm', `${kind}_domain`, name),
  ...[
    'match_ip_address:*',
    'match_sip_domain:*',
    'tls_method:TLSv1_2-',
    'certificate:/etc/opensips/tls/pbx.crt',
    'private_key:/etc/opensips/tls/pbx.key',
    ...more,
  ].map((setting) => {
    const at = setting.indexOf(':');
    return param('tls_mgm', setting.slice(0, at), `[${name}]${setting.slice(at + 1)}`);
  }),
];

const tls: readonly string[] = [
  ...domain('server', 'pbx', ['verify_cert:0', 'require_cert:0']),
  ...domain('client', 'edge', ['ca_list:/etc/opensips/tls/trusted.pem', 'verify_cert:1', 'require_cert:1']),
  param('proto_tls', 'tls_port', 5061),
];

function requests({ number, access }: PbxFacts): readonly string[] {
  const trunk =
    number === null
      ? '$rU =~ "^\\+[0-9]+$" && !is_registered("location", "$ru")'
      : `$rU == ${quoted(number)}`;
  return [
    'route {',
    '  if (!mf_process_maxfwd_header(10)) { send_reply(483, "Too Many Hops"); exit; }',
    '  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }',
    '  if (has_totag()) { route(IN_DIALOG); exit; }',
    '  t_check_trans();',
    '  if (is_method("OPTIONS")) { send_reply(200, "OK"); exit; }',
    '  if (is_method("REGISTER")) { route(REGISTER); exit; }',
    '  if (!is_method("INVITE")) { send_reply(405, "Method Not Allowed"); exit; }',
    '  remove_hf("Route");',
    '  record_route();',
    '',
    '  # calls to agents: a line for each number',
    `  if (${trunk}) route(TO_TRUNKLINE);`,
    '  # calls of agents, and of phones',
    '  route(IS_TRUNKLINE);',
    ...(access.how === 'register'
      ? ['  if ($rc < 0) route(AUTHENTICATE); else fix_nated_contact();']
      : ['  if ($rc < 0) route(AUTHENTICATE);']),
    '  if (!lookup("location")) { send_reply(480, "No phone has this number"); exit; }',
    '  t_on_reply("FROM_PHONE");',
    '  route(RELAY);',
    '}',
  ];
}

function toTrunkline({ server, port, access }: PbxFacts): readonly string[] {
  const call = ['  route(RELAY);', '}'];
  if (access.how === 'register') {
    return [
      '# over the connection of the edge, which registers as a phone does',
      'route[TO_TRUNKLINE] {',
      '  route(AUTHENTICATE);',
      `  $rU = ${quoted(access.username)};`,
      '  if (!lookup("location")) { send_reply(480, "The trunk is not registered"); exit; }',
      '  t_on_reply("FROM_PHONE");',
      ...call,
    ];
  }
  const there = `  $du = "sip:${server}:${port};transport=tls";`;
  const route = ['route[TO_TRUNKLINE] {', '  route(AUTHENTICATE);', there];
  if (access.how === 'address') return [...route, ...call];
  return [
    ...route,
    '  t_on_failure("TRUNK_CHALLENGE");',
    ...call,
    '',
    '# the edge asks who calls',
    'failure_route[TRUNK_CHALLENGE] {',
    '  if (t_was_cancelled() || !t_check_status("401")) exit;',
    there,
    '  if (uac_auth()) t_relay();',
    '}',
  ];
}

function phones({ addresses, access }: PbxFacts): readonly string[] {
  const [first = '198.51.100.7', ...others] = addresses;
  const sources = [first, ...others].map((address) => `$si == "${address}"`).join(' || ');
  const account = (name: string, password: string) => [
    `    case ${quoted(name)}:`,
    `      $avp(password) = ${quoted(password)};`,
    '      break;',
  ];
  return [
    'route[REGISTER] {',
    '  route(AUTHENTICATE);',
    '  fix_nated_register();',
    '  if (!save("location")) { sl_reply_error(); exit; }',
    '  xlog("L_NOTICE", "REGISTER $hdr(CSeq) expires $hdr(Expires) contact $ct\\n");',
    '}',
    '',
    '# the phones: each registers with its number as user name',
    'route[ACCOUNT] {',
    '  $avp(user) = $au;',
    '  $avp(password) = "";',
    '  switch ($au) {',
    ...(access.how === 'register' ? account(access.username, passwordToFill) : []),
    ...account('+14155550199', 'SECRET-OF-THIS-PHONE'),
    '  }',
    '}',
    '',
    'route[AUTHENTICATE] {',
    '  route(ACCOUNT);',
    '  if (is_method("REGISTER")) {',
    '    if ($avp(password) == "" || !pv_www_authorize("pbx.example.com")) {',
    '      www_challenge("pbx.example.com", "auth");',
    '      exit;',
    '    }',
    '  } else if ($avp(password) == "" || !pv_proxy_authorize("pbx.example.com")) {',
    '    proxy_challenge("pbx.example.com", "auth");',
    '    exit;',
    '  }',
    '  consume_credentials();',
    '  if (is_method("INVITE")) fix_nated_contact();',
    '}',
    '',
    access.how === 'register'
      ? '# phones and the edge are reached over the connection that they opened'
      : '# a phone is reached over the connection that it opened',
    'onreply_route[FROM_PHONE] {',
    '  fix_nated_contact();',
    '}',
    '',
    'route[IS_TRUNKLINE] {',
    `  if ($socket_in(proto) == "tls" && (${sources})) return(1);`,
    '  return(-1);',
    '}',
  ];
}

const relay: readonly string[] = [
  'route[IN_DIALOG] {',
  '  if (is_method("ACK") && t_check_trans()) { t_relay(); exit; }',
  '  if (!loose_route()) { if (!is_method("ACK")) send_reply(404, "Not here"); exit; }',
  '  route(RELAY);',
  '}',
  '',
  'route[RELAY] {',
  '  if (!t_relay()) sl_reply_error();',
  '  exit;',
  '}',
];
