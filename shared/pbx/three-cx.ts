/** 3CX: the edge registers at it, as a phone of its extension does. */
import { type PbxFacts, type PbxFile, passwordToFill } from './facts.ts';
import { asFile, type WebPage } from './web-pages.ts';

export function threeCx(facts: PbxFacts): readonly PbxFile[] {
  const first =
    facts.access.how === 'register'
      ? []
      : ['3CX connects a trunk over TLS only by registration: attach the number with auth_mode register.'];
  return [asFile('web pages, Admin', threeCxPages(facts), first)];
}

/** What 3CX calls the codecs. */
const names: Readonly<Record<string, string>> = {
  PCMU: 'G.711 U-law',
  PCMA: 'G.711 A-law',
  'G.722': 'G.722',
  'G.729': 'G.729',
  Opus: 'OPUS',
};

const extension = '850';

export function threeCxPages({ codecs, addresses, number, access }: PbxFacts): readonly WebPage[] {
  const isAccount = access.how === 'register';
  return [
    {
      place: 'Users → Add',
      fields: [
        ['Extension', extension],
        ['First Name', 'Trunkline'],
        [
          'IP Phone, Authentication ID',
          isAccount ? access.username : { own: 'the username of register_auth when you attach the number' },
        ],
        [
          'IP Phone, Authentication Password',
          isAccount ? passwordToFill : { own: 'the register_password_for_pbx of the answer' },
        ],
        ['Options, Disallow use of extension outside the LAN', 'off'],
        ['Options, PBX Delivers Audio', 'on'],
        ['Options, SRTP', 'on'],
        ['Options, Codecs', codecs.flatMap((codec) => names[codec] ?? []).join(', ')],
      ],
    },
    {
      place: 'Inbound Rules',
      makes: 'a new one',
      fields: [
        ['DID', number ?? { own: 'the number that the agent answers' }],
        ['Route calls to', `Extension ${extension}`],
      ],
    },
    {
      place: 'Security → IP Blacklist',
      makes: 'Allow',
      fields: addresses.map((address) => ['Network Address', address] as const),
    },
  ];
}
