/** Hosts that the settings name. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type Check, type Finding, failed, ok, skipped } from './check.ts';
import type { Place } from './place.ts';
import { reasonOf } from './reason.ts';

/** The hosts that the settings of a program name, by setting. */
function namedHosts({ scope, edge, control }: Place): Map<string, string> {
  const hosts = new Map<string, string>();
  const add = (setting: string, url: string | URL | null | undefined) => {
    if (!url || !URL.canParse(String(url))) return;
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
    if (host !== '' && isIP(host) === 0) hosts.set(host, setting);
  };
  if (scope.has('edge') && 'settings' in edge) {
    const { controlUrl, tts, stt, models, drachtio } = edge.settings;
    add('CONTROL_URL', controlUrl);
    add('TTS_BASE_URL', tts?.url);
    for (const { url } of stt) add('STT_BASE_URL', url);
    add('LLM_BASE_URL', models.agent?.baseUrl);
    add('OTEL_EXPORTER_OTLP_ENDPOINT', edge.settings.tracing?.endpoint);
    if (drachtio) add('DRACHTIO_HOST', `tcp://${drachtio.host}`);
  }
  if (scope.has('control') && 'settings' in control) {
    const { database, mail, sms, models } = control.settings;
    add('DATABASE_URL', database);
    add('SMTP_URL', mail && `smtp://${mail.host}`);
    add('SMS_API_URL', sms?.url);
    add('LLM_BASE_URL', models.agent?.baseUrl);
    add('LLM_TEST_BASE_URL', models.judge?.baseUrl);
  }
  return hosts;
}

async function servers(place: Place): Promise<Finding> {
  const hosts = namedHosts(place);
  if (hosts.size === 0) return skipped('no setting names a host');
  const unknown: string[] = [];
  for (const [host, setting] of hosts) {
    // As the programs do: with the hosts file.
    await lookup(host).catch((error: unknown) => unknown.push(`${setting}: ${reasonOf(error)}`));
  }
  if (unknown.length === 0) return ok([...hosts.keys()].join(', '));
  return failed(
    unknown.join('; '),
    'correct the setting, or the name servers of the machine (/etc/resolv.conf)',
  );
}

export const serverChecks: readonly Check[] = [
  {
    name: 'dns.servers',
    program: 'both',
    about: 'The hosts that the settings name: control, database, models, speech, mail, SMS.',
    bad: 'A name has no address here.',
    run: servers,
  },
];
