/** Kamailio 5.6 and later: a registrar for phones over TLS, with a trunk to the edge. */
import { type PbxFacts, type PbxFile, passwordToFill, quoted } from './facts.ts';

export function kamailio(facts: PbxFacts): readonly PbxFile[] {
  return [
    { path: '/etc/kamailio/kamailio.cfg', text: configuration(facts).join('\n') },
    { path: '/etc/kamailio/tls.cfg', text: tls.join('\n') },
  ];
}

function configuration(facts: PbxFacts): readonly string[] {
  const { access } = facts;
  return [
    ...start,
    ...(access.how === 'digest' ? credentials(access.username, access.realm) : []),
    '',
    ...accounts,
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
  'tm',
  'sl',
  'kex',
  'pv',
  'rr',
  'maxfwd',
  'sanity',
  'siputils',
  'textops',
  'xlog',
  'tls',
  'usrloc',
  'registrar',
  'nathelper',
  'htable',
  'auth',
  'uac',
];

const start: readonly string[] = [
  '#!KAMAILIO',
  "# the PBX's own address, and its name: that of its certificate",
  'listen=tls:203.0.113.10:5061 advertise pbx.example.com:5061',
  'alias=pbx.example.com',
  'auto_aliases=no',
  'enable_tls=yes',
  'debug=1',
  'children=4',
  'tcp_children=8',
  'tcp_connection_lifetime=3700',
  '',
  ...modules.map((name) => `loadmodule "${name}.so"`),
  '',
  'modparam("tls", "config", "/etc/kamailio/tls.cfg")',
  'modparam("rr", "append_fromtag", 1)',
  'modparam("registrar", "max_expires", 3600)',
  'modparam("registrar|nathelper", "received_avp", "$avp(received)")',
  'modparam("htable", "htable", "phones=>size=8")',
];

/** What `uac_auth()` answers a challenge with. */
const credentials = (username: string, realm: string): readonly string[] => [
  'modparam("uac", "auth_realm_avp", "$avp(trunk_realm)")',
  'modparam("uac", "auth_username_avp", "$avp(trunk_user)")',
  'modparam("uac", "auth_password_avp", "$avp(trunk_password)")',
  '',
  'route[TRUNK_CREDENTIALS] {',
  `  $avp(trunk_realm) = ${quoted(realm)};`,
  `  $avp(trunk_user) = ${quoted(username)};`,
  `  $avp(trunk_password) = ${quoted(passwordToFill)};`,
  '}',
];

const accounts: readonly string[] = [
  '# the phones: each registers with its number as user name',
  'event_route[htable:mod-init] {',
  '  $sht(phones=>+14155550199) = "SECRET-OF-THIS-PHONE";',
  '}',
];

function requests({ number }: PbxFacts): readonly string[] {
  const trunk = number === null ? '$rU =~ "^\\+[0-9]+$" && !registered("location")' : `$rU == "${number}"`;
  return [
    'request_route {',
    '  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }',
    '  if (!sanity_check()) exit;',
    '  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }',
    '  if (has_totag()) { route(IN_DIALOG); exit; }',
    '  t_check_trans();',
    '  if (is_method("OPTIONS")) { sl_send_reply("200", "OK"); exit; }',
    '  if (is_method("REGISTER")) { route(REGISTER); exit; }',
    '  if (!is_method("INVITE")) { sl_send_reply("405", "Method Not Allowed"); exit; }',
    '  remove_hf("Route");',
    '  record_route();',
    '',
    '  # calls to agents: a line for each number',
    `  if (${trunk}) route(TO_TRUNKLINE);`,
    '  # calls of agents, and of phones',
    '  if (!route(IS_TRUNKLINE)) route(AUTHENTICATE);',
    '  if (!lookup("location")) { sl_send_reply("480", "No phone has this number"); exit; }',
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
      '  if (!lookup("location")) { sl_send_reply("480", "The trunk is not registered"); exit; }',
      '  t_on_reply("FROM_PHONE");',
      ...call,
    ];
  }
  const route = [
    'route[TO_TRUNKLINE] {',
    '  route(AUTHENTICATE);',
    `  $du = "sip:${server}:${port};transport=tls";`,
  ];
  if (access.how === 'address') return [...route, ...call];
  return [
    ...route,
    '  t_on_failure("TRUNK_CHALLENGE");',
    ...call,
    '',
    '# the edge asks who calls',
    'failure_route[TRUNK_CHALLENGE] {',
    '  if (t_is_canceled() || !t_check_status("401")) exit;',
    '  route(TRUNK_CREDENTIALS);',
    '  if (uac_auth()) t_relay();',
    '}',
  ];
}

function phones({ addresses, access }: PbxFacts): readonly string[] {
  const [first = '198.51.100.7', ...others] = addresses;
  const sources = [first, ...others].map((address) => `src_ip == ${address}`).join(' || ');
  return [
    'route[REGISTER] {',
    '  route(AUTHENTICATE);',
    '  fix_nated_register();',
    '  if (!save("location")) { sl_reply_error(); exit; }',
    '  xlog("L_NOTICE", "REGISTER $hdr(CSeq) expires $hdr(Expires) contact $ct\\n");',
    '}',
    '',
    'route[AUTHENTICATE] {',
    '  $var(password) = "";',
    ...(access.how === 'register'
      ? [`  if ($au == ${quoted(access.username)}) $var(password) = ${quoted(passwordToFill)};`]
      : []),
    '  if ($sht(phones=>$au) != $null) $var(password) = $sht(phones=>$au);',
    '  if ($var(password) == "" || !pv_auth_check("pbx.example.com", "$var(password)", "0", "1")) {',
    '    auth_challenge("pbx.example.com", "1");',
    '    exit;',
    '  }',
    '  consume_credentials();',
    '  if (is_method("INVITE")) set_contact_alias();',
    '}',
    '',
    'onreply_route[FROM_PHONE] {',
    '  set_contact_alias();',
    '}',
    '',
    'route[IS_TRUNKLINE] {',
    `  if (proto == TLS && (${sources})) return 1;`,
    '  return -1;',
    '}',
    '',
    ...(access.how === 'register'
      ? ['# phones and the edge are reached over the connection that they opened', 'route[ALIAS] {']
      : [
          '# a phone is reached over the connection that it opened',
          'route[ALIAS] {',
          '  if (route(IS_TRUNKLINE)) return;',
        ]),
    '  set_contact_alias();',
    '}',
  ];
}

const relay: readonly string[] = [
  'route[IN_DIALOG] {',
  '  if (is_method("ACK") && t_check_trans()) { t_relay(); exit; }',
  '  if (!loose_route()) { if (!is_method("ACK")) sl_send_reply("404", "Not here"); exit; }',
  '  handle_ruri_alias();',
  '  route(ALIAS);',
  '  t_on_reply("IN_DIALOG");',
  '  route(RELAY);',
  '}',
  '',
  'onreply_route[IN_DIALOG] {',
  '  route(ALIAS);',
  '}',
  '',
  'route[RELAY] {',
  '  if (!t_relay()) sl_reply_error();',
  '  exit;',
  '}',
];

const tls: readonly string[] = [
  '[server:default]',
  'method = TLSv1.2+',
  'certificate = /etc/kamailio/tls/pbx.crt',
  'private_key = /etc/kamailio/tls/pbx.key',
  '',
  '[client:default]',
  'method = TLSv1.2+',
  'ca_list = /etc/kamailio/tls/trusted.pem',
  'verify_certificate = yes',
  'require_certificate = yes',
];
