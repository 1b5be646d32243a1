/** Kamailio: two routes of its configuration. */
import { type PbxFacts, type PbxFile, passwordToFill } from './facts.ts';

export function kamailio({ server, port, addresses, access }: PbxFacts): readonly PbxFile[] {
  const [first = '198.51.100.7', ...others] = addresses;
  const source = [first, ...others].map((address) => `src_ip == ${address}`).join(' || ');
  const text = [
    '# needs tls.so and, for t_relay, tm.so; in tls.cfg the method is TLSv1.2+ and ca_list has the authority of the edge',
    '',
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
    ...(access.how === 'digest' ? ['  t_on_failure("TRUNKLINE_CHALLENGE");'] : []),
    '  t_relay();',
    '  exit;',
    '}',
    ...(access.how === 'digest'
      ? [
          '',
          '# the edge asks who calls: needs uac.so with modparam("uac", "auth_realm_avp", ...) unset',
          'failure_route[TRUNKLINE_CHALLENGE] {',
          '  if (t_is_canceled() || !t_check_status("401")) exit;',
          `  $avp(realm) = "${access.realm}";`,
          `  $avp(user) = "${access.username}";`,
          `  $avp(password) = "${passwordToFill}";`,
          '  if (uac_auth()) t_relay();',
          '}',
        ]
      : []),
  ].join('\n');
  return [{ path: '/etc/kamailio/kamailio.cfg', text }];
}
