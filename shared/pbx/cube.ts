/** Cisco CUBE, IOS XE 17. */
import { type PbxFacts, type PbxFile, passwordToFill } from './facts.ts';

export function cube(facts: PbxFacts): readonly PbxFile[] {
  return [{ path: 'running-config', text: configuration(facts).join('\n') }];
}

/** What CUBE calls the codecs that it passes on. */
const codecNames: Readonly<Record<string, string>> = {
  PCMU: 'g711ulaw',
  PCMA: 'g711alaw',
  'G.722': 'g722-64',
  'G.729': 'g729r8',
};

function configuration({ server, port, codecs, addresses, number, access }: PbxFacts): readonly string[] {
  const names = codecs.flatMap((codec) => codecNames[codec] ?? []);
  const media = [
    ' voice-class codec 1',
    ' voice-class sip srtp-crypto 1',
    ' dtmf-relay rtp-nte',
    ' srtp',
    ' no vad',
  ];
  const [codec = '', ...others] = media;
  return [
    ...(access.how === 'register'
      ? ['! CUBE takes no registrations: attach the number with auth_mode ip or digest', '!']
      : []),
    '! the authority of the edge\'s certificate: paste its PEM at "crypto pki authenticate TRUNKLINE"',
    'crypto pki trustpoint TRUNKLINE',
    ' enrollment terminal',
    ' revocation-check none',
    '!',
    "! CUBE is the trustpoint of CUBE's own certificate",
    'sip-ua',
    ' transport tcp tls v1.2',
    ' crypto signaling default trustpoint CUBE cn-san-validate server',
    '!',
    'voice service voip',
    ' ip address trusted list',
    ...addresses.map((address) => `  ipv4 ${address}`),
    ' allow-connections sip to sip',
    ' sip',
    '  early-offer forced',
    '!',
    'voice class srtp-crypto 1',
    ' crypto 1 AES_CM_128_HMAC_SHA1_80',
    '!',
    'voice class codec 1',
    ...names.map((name, at) => ` codec preference ${at + 1} ${name}`),
    '!',
    'voice class sip-options-keepalive 1',
    ' transport tcp tls',
    '!',
    'voice class uri TRUNKLINE sip',
    ...addresses.map((address) => ` host ipv4:${address}`),
    '!',
    'dial-peer voice 100 voip',
    ' description calls to agents',
    ` destination-pattern ${number ?? '+T'}`,
    ' session protocol sipv2',
    ` session target dns:${server}:${port}`,
    ' session transport tcp tls',
    codec,
    ' voice-class sip options-keepalive profile 1',
    ...others,
    ...(access.how === 'digest'
      ? [` authentication username ${access.username} password ${passwordToFill} realm ${access.realm}`]
      : []),
    '!',
    'dial-peer voice 101 voip',
    ' description calls of agents, from the edge',
    ' session protocol sipv2',
    ' incoming uri via TRUNKLINE',
    ...media,
  ];
}
