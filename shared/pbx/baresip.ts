/** baresip 1.0 and later: a phone without a PBX. */
import { type PbxFacts, type PbxFile, passwordToFill } from './facts.ts';

const codecNames: Readonly<Record<string, string>> = {
  PCMU: 'PCMU',
  PCMA: 'PCMA',
  Opus: 'opus/48000/2',
  'G.722': 'G722/16000/1',
};

export function baresip({ server, port, codecs, access }: PbxFacts): readonly PbxFile[] {
  const account = [
    `<sip:+14155550199@${server}:${port};transport=tls>`,
    'regint=0',
    'mediaenc=srtp-mand',
    `audio_codecs=${codecs.flatMap((one) => codecNames[one] ?? []).join(',')}`,
    ...(access.how === 'digest' ? [`auth_user=${access.username}`, `auth_pass=${passwordToFill}`] : []),
  ].join(';');
  const lines = [
    ...(access.how === 'register'
      ? [
          `# baresip accepts no registrations: attach the number with auth_mode ip or digest in place of register`,
        ]
      : []),
    '# the user is the number of this phone: calls to it ring',
    account,
  ];
  return [
    { path: '~/.baresip/accounts', text: lines.join('\n') },
    { path: '~/.baresip/config', text: configuration.join('\n') },
  ];
}

const configuration: readonly string[] = [
  '# calls of agents come in over TLS at the port above this one, 5061; the firewall keeps 5060 closed',
  'sip_listen 0.0.0.0:5060',
  '# the certificate of this phone, and its key',
  'sip_certificate /etc/baresip/phone.pem',
  'sip_cafile /etc/baresip/trusted.pem',
  'audio_source alsa,default',
  'audio_player alsa,default',
  'audio_alert alsa,default',
  'audio_path /usr/share/baresip',
  'rtp_ports 10000-10099',
  'module_path /usr/lib/baresip/modules',
  'module stdio.so',
  'module alsa.so',
  'module g711.so',
  'module opus.so',
  'module g722.so',
  'module srtp.so',
  'module_tmp account.so',
  'module_app menu.so',
];
