/**
 * How to recognize SIP systems. To add one, add a row: each trait names where to look, what to match, and how much it
 * proves, from 0 to 1. Traits of one system combine as independent evidence (recognise.ts), so a weight is the
 * confidence when the trait is the only evidence:
 *
 *     0.95  the system's own name, which no other system has reason to send
 *     0.8   a name also sent by other products of the vendor, or by resellers
 *     0.5   a habit of this system and few others
 *     0.3   a habit shared by several systems
 *
 * A system built on another (FreePBX on Asterisk) has its own name and wins by it. When it shows only the habits of its
 * base, the base is reported.
 */

/** Where to look in the response to an OPTIONS. */
export type TraitSource =
  /** User-Agent or Server */
  | 'name'
  /** The whole value of a header, by its long name; a list with its elements joined by `, `. */
  | `header:${string}`
  /** The header's presence: the pattern is matched against its name as written. */
  | 'header-names'
  | 'reason-phrase'
  | 'sdp';

export interface Trait {
  readonly where: TraitSource;
  readonly is: RegExp;
  /** 0..1 */
  readonly weight: number;
}

export interface Fingerprint {
  readonly system: string;
  readonly traits: readonly Trait[];
}

/** The system's own name. */
const named = (is: RegExp, weight = 0.95): Trait => ({ where: 'name', is, weight });
const header = (name: string, is: RegExp, weight: number): Trait => ({ where: `header:${name}`, is, weight });
const has = (is: RegExp, weight: number): Trait => ({ where: 'header-names', is, weight });

export const fingerprints: readonly Fingerprint[] = [
  // ------------------------------------------------------------ open source
  {
    system: 'Asterisk',
    traits: [
      named(/^asterisk\b/i),
      // chan_sip
      header(
        'allow',
        /^INVITE, ACK, CANCEL, OPTIONS, BYE, REFER, SUBSCRIBE, NOTIFY, INFO, PUBLISH(, MESSAGE)?$/,
        0.5,
      ),
      header('supported', /^replaces, timer$/, 0.3),
      // chan_pjsip
      header(
        'allow',
        /^OPTIONS, (REGISTER, )?SUBSCRIBE, NOTIFY, PUBLISH, INVITE, ACK, BYE, CANCEL, UPDATE, PRACK/,
        0.5,
      ),
      header('supported', /^100rel, timer, replaces, norefersub/, 0.3),
      header('accept', /application\/xpidf\+xml, application\/cpim-pidf\+xml/, 0.3),
      header('www-authenticate', /realm="asterisk"/i, 0.6),
      header('to', /;tag=as[0-9a-f]{8}$/, 0.4),
      { where: 'sdp', is: /^s=Asterisk/m, weight: 0.7 },
    ],
  },
  {
    system: 'FreePBX',
    traits: [named(/^FPBX-/i), header('www-authenticate', /realm="(freepbx|sangoma)"/i, 0.5)],
  },
  { system: 'Issabel', traits: [named(/\bissabel\b/i)] },
  {
    system: 'FreeSWITCH',
    traits: [
      named(/^FreeSWITCH/i),
      header(
        'allow',
        /^INVITE, ACK, BYE, CANCEL, OPTIONS, MESSAGE, INFO, UPDATE, (REGISTER, )?REFER, NOTIFY/,
        0.5,
      ),
      header('allow-events', /^talk, hold, conference/, 0.5),
      header('supported', /^(timer, )?path, replaces$/, 0.3),
      header('contact', /sip:mod_sofia@/i, 0.8),
      has(/^X-FS-/, 0.8),
      { where: 'sdp', is: /^[os]=FreeSWITCH\b/m, weight: 0.8 },
    ],
  },
  { system: 'FusionPBX', traits: [named(/\bfusionpbx\b/i)] },
  {
    system: 'Kamailio',
    traits: [
      named(/^kamailio\b/i),
      header('to', /;tag=[0-9a-f]{32}[.-][0-9a-f]{4,8}$/, 0.3),
      header('accept', /^\*\/\*$/, 0.2),
      header('accept-encoding', /^$/, 0.3),
    ],
  },
  {
    system: 'OpenSIPS',
    traits: [
      named(/^opensips\b/i),
      header('to', /;tag=[0-9a-f]{32}[.-][0-9a-f]{4,8}$/, 0.25),
      header('accept', /^\*\/\*$/, 0.2),
      header('accept-encoding', /^$/, 0.25),
    ],
  },
  {
    system: 'drachtio/jambonz',
    traits: [
      named(/\bjambonz\b/i),
      named(/\bdrachtio\b/i),
      has(/^X-Jambonz-/i, 0.8),
      named(/^sofia-sip\//i, 0.5),
    ],
  },
  { system: 'LiveKit SIP', traits: [named(/\blivekit\b/i), has(/^X-LK-/i, 0.7)] },
  {
    system: 'baresip',
    traits: [
      named(/^baresip\b/i),
      header(
        'allow',
        /^INVITE, ACK, BYE, CANCEL, OPTIONS, NOTIFY, SUBSCRIBE, INFO, MESSAGE, UPDATE, REFER$/,
        0.5,
      ),
    ],
  },
  { system: 'Yate', traits: [named(/^YATE\//i)] },
  { system: 'Flexisip', traits: [named(/^flexisip\b/i)] },
  { system: 'repro (reSIProcate)', traits: [named(/\b(repro|reSIProcate)\b/i, 0.8)] },
  { system: 'SIPp', traits: [named(/^sipp\b/i)] },
  { system: 'PJSIP application', traits: [named(/^(pjsua|pjsip|microsip)\b/i, 0.8)] },
  { system: 'Trunkline', traits: [named(/^trunkline\b/i)] },

  // ------------------------------------------------------------ PBXs
  {
    system: '3CX',
    traits: [
      named(/^3CX/i),
      has(/^X-3CX-/i, 0.8),
      header('www-authenticate', /realm="3CXPhoneSystem"/i, 0.9),
    ],
  },
  {
    system: 'Cisco CUCM',
    traits: [
      named(/^Cisco-CUCM/i),
      header('supported', /X-cisco-srtp-fallback/i, 0.6),
      header(
        'allow',
        /^INVITE, OPTIONS, INFO, BYE, CANCEL, ACK, PRACK, UPDATE, REFER, SUBSCRIBE, NOTIFY$/,
        0.6,
      ),
      header('allow-events', /^presence, kpml$/, 0.5),
      { where: 'sdp', is: /^o=CiscoSystemsCCM-SIP /m, weight: 0.9 },
    ],
  },
  {
    system: 'Avaya Aura',
    traits: [
      named(/^Avaya (CM|Communication Manager)/i),
      named(/^AVAYA-SM/i),
      named(/^Avaya/i, 0.8),
      has(/^(Av-Global-Session-ID|Av-Correlation-ID|Endpoint-View|P-AV-Message-Id)$/i, 0.8),
    ],
  },
  { system: 'Avaya IP Office', traits: [named(/^IP Office\b/i)] },
  { system: 'Avaya SBC', traits: [named(/^Avaya[- ]?(SBCE?|Session Border)/i, 0.97), named(/^sipera/i)] },
  {
    system: 'Mitel MiVoice',
    traits: [named(/^Mitel\b/i), named(/\bMiVoice\b/i), named(/^(Aastra MX-ONE|ShoreGear|ShoreTel)/i, 0.9)],
  },
  { system: 'Yeastar', traits: [named(/^(yeastar|mypbx)/i)] },
  { system: 'Grandstream UCM', traits: [named(/^Grandstream UCM/i), named(/^Grandstream\b/i, 0.6)] },
  { system: 'Sangoma', traits: [named(/\b(sangoma|netborder|pbxact|switchvox)\b/i)] },
  {
    system: 'Genesys',
    traits: [
      named(/^(genesys|purecloud)\b/i),
      named(/^ININ[-_]/i),
      named(/^GVP\b/i, 0.8),
      has(/^(X-Genesys-|X-ININ-)/i, 0.9),
    ],
  },
  { system: 'Alcatel-Lucent OmniPCX', traits: [named(/OmniPCX|OXO_|^OXE/i)] },
  { system: 'Unify OpenScape', traits: [named(/\b(openscape|hipath)\b/i), named(/^OSV\b/i, 0.6)] },
  { system: 'innovaphone', traits: [named(/\binnovaphone\b/i)] },
  { system: 'Panasonic', traits: [named(/^panasonic\b/i, 0.9)] },
  { system: 'NEC', traits: [named(/^NEC\b/, 0.8), named(/\b(SV8100|SV9100|SL2100|UNIVERGE)\b/i)] },
  { system: 'Wildix', traits: [named(/\bwildix\b/i)] },
  { system: 'Vodia', traits: [named(/^(vodia|snom-?pbx|pbxnsip)/i)] },
  { system: 'PBXware', traits: [named(/^pbxware\b/i)] },
  { system: 'Fritz!Box', traits: [named(/fritz!?box/i)] },
  { system: 'Huawei', traits: [named(/^huawei\b|SoftX3000|eSpace/i, 0.9)] },
  { system: 'BroadWorks', traits: [named(/broadworks|broadsoft/i), has(/^X-BroadWorks-/i, 0.9)] },

  // ------------------------------------------------------------ session border controllers and gateways
  {
    system: 'Cisco CUBE',
    traits: [
      named(/^Cisco-SIPGateway\/IOS/i),
      header(
        'allow',
        /^INVITE, OPTIONS, BYE, CANCEL, ACK, PRACK, UPDATE, REFER, SUBSCRIBE, NOTIFY, INFO, REGISTER$/,
        0.6,
      ),
      header('supported', /^(100rel, )?(timer, )?resource-priority, replaces, sdp-anat$/, 0.6),
      header('allow-events', /^telephone-event$/, 0.3),
      has(/^Cisco-Guid$/i, 0.6),
      { where: 'sdp', is: /^o=CiscoSystemsSIP-GW-UserAgent /m, weight: 0.9 },
    ],
  },
  { system: 'Cisco Expressway', traits: [named(/^TANDBERG\/4\d{3} \(X/i)] },
  {
    system: 'Ribbon (Sonus)',
    traits: [
      named(/^sonus\b|\bsonus[ _-]/i),
      named(/\bribbon\b/i),
      named(/\bgenband\b|^edgemarc\b/i, 0.9),
      { where: 'sdp', is: /^o=Sonus_UAC /m, weight: 0.95 },
    ],
  },
  {
    system: 'Oracle SBC (Acme Packet)',
    traits: [
      named(/acme ?packet/i),
      named(/^oracle\b.*\b(sbc|esbc|ecb|session border)/i),
      named(/^oracle\b/i, 0.7),
      has(/^P-Acme-/i, 0.9),
    ],
  },
  {
    system: 'AudioCodes',
    traits: [
      named(/audiocodes/i),
      named(/\bmediant\b/i, 0.9),
      named(/\/v\.?\d\.\d\d[A-Z]{0,2}\.\d{3}\.\d{3}/, 0.7),
      header('supported', /^em, (100rel, )?timer, replaces, path/, 0.5),
      { where: 'sdp', is: /^o=AudiocodesGW /m, weight: 0.95 },
    ],
  },
  { system: 'Metaswitch', traits: [named(/\b(metaswitch|metasphere|perimeta)\b/i)] },
  {
    system: 'Microsoft Teams Direct Routing',
    traits: [
      named(/^Microsoft\.PSTNHub\.SIPProxy/i),
      header('allow', /^INVITE, ACK, OPTIONS, CANCEL, BYE, NOTIFY$/, 0.5),
      has(/^X-MS-/i, 0.5),
    ],
  },
  { system: 'Microsoft Skype for Business', traits: [named(/^RTCC\/|MediationServer/i)] },
  { system: 'Patton SmartNode', traits: [named(/^patton\b|\bsmartware\b|^trinity\b/i, 0.9)] },
  { system: 'Sansay', traits: [named(/\bsansay\b/i)] },
  { system: 'Dialogic', traits: [named(/\bdialogic\b|bordernet/i)] },
  { system: 'Ingate', traits: [named(/\bingate\b/i)] },
  { system: 'Frafos ABC SBC', traits: [named(/\bfrafos\b|^abc sbc\b/i)] },
  { system: 'Ericsson', traits: [named(/\bericsson\b/i, 0.9)] },
  { system: 'Nokia', traits: [named(/^nokia\b/i, 0.8)] },

  // ------------------------------------------------------------ carriers and platforms
  { system: 'Twilio', traits: [named(/\btwilio\b/i), has(/^X-Twilio-/i, 0.9)] },
  { system: 'Telnyx', traits: [named(/\btelnyx\b/i), has(/^X-Telnyx-/i, 0.9)] },
  { system: 'Bandwidth', traits: [named(/\bbandwidth(\.com)?\b/i, 0.9), has(/^X-(BW|Bandwidth)-/i, 0.7)] },
  { system: 'Vonage', traits: [named(/\b(vonage|nexmo)\b/i), has(/^X-(Vonage|Nexmo)-/i, 0.9)] },
  { system: 'Plivo', traits: [named(/\bplivo\b/i), has(/^X-PH-|^X-Plivo-/i, 0.7)] },
  { system: 'SignalWire', traits: [named(/\bsignalwire\b/i, 0.97), has(/^X-Relay-/i, 0.3)] },
  { system: 'RingCentral', traits: [named(/ringcentral|^RC_/i, 0.9), has(/^X-RC-|^P-RC-/i, 0.6)] },
  { system: 'Zoom Phone', traits: [named(/^zoom\b/i, 0.9), has(/^X-Zoom-/i, 0.8)] },
  { system: '2600Hz Kazoo', traits: [named(/\b2600hz\b|\bkazoo\b/i, 0.97)] },
  {
    system: 'Amazon Chime Voice Connector',
    traits: [named(/chime|^aws\b/i, 0.8), has(/^X-(Amzn|Chime)-/i, 0.7)],
  },
];
