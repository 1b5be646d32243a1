import { describe, expect, it } from 'vitest';
import { response } from '../../../test/kit/edge/discovery.ts';
import { fingerprints } from './fingerprints.ts';
import { recognise } from './recognise.ts';

const named = (name: string, header = 'User-Agent') => response([`${header}: ${name}`]);

describe('the name a system sends', () => {
  it.each([
    ['Asterisk PBX 20.5.2', 'Asterisk'],
    ['FPBX-16.0.40.7(18.20.0)', 'FreePBX'],
    ['FreeSWITCH-mod_sofia/1.10.12-release~64bit', 'FreeSWITCH'],
    ['kamailio (5.7.4 (x86_64/linux))', 'Kamailio'],
    ['OpenSIPS (3.4.2 (x86_64/linux))', 'OpenSIPS'],
    ['3CXPhoneSystem 18.0.9.20 (20)', '3CX'],
    ['Cisco-SIPGateway/IOS-17.6.5', 'Cisco CUBE'],
    ['Cisco-CUCM12.5', 'Cisco CUCM'],
    ['TANDBERG/4137 (X14.0.2)', 'Cisco Expressway'],
    ['Avaya CM/R018x.00.0.822.0', 'Avaya Aura'],
    ['AVAYA-SM-8.1.3.0.813014', 'Avaya Aura'],
    ['IP Office 11.1.2.4.0 build 18', 'Avaya IP Office'],
    ['Avaya SBCE 10.1', 'Avaya SBC'],
    ['Mitel-3300-ICP 15.0.3.21', 'Mitel MiVoice'],
    ['Yeastar S50', 'Yeastar'],
    ['Grandstream UCM6304V1.2A 1.0.19.27', 'Grandstream UCM'],
    ['Sonus SBC V.5.7', 'Ribbon (Sonus)'],
    ['Acme Packet SBC', 'Oracle SBC (Acme Packet)'],
    ['Oracle ESBC/9.0', 'Oracle SBC (Acme Packet)'],
    ['Audiocodes-Sip-Gateway-Mediant 1000/v.7.20A.258.367', 'AudioCodes'],
    ['Mediant VE SBC/v.7.40A.250.440', 'AudioCodes'],
    ['Metaswitch Perimeta', 'Metaswitch'],
    ['Genesys SIP Server 8.1', 'Genesys'],
    ['Microsoft.PSTNHub.SIPProxy v.2024.5.27.2 i.ASEA.5', 'Microsoft Teams Direct Routing'],
    ['Twilio Gateway', 'Twilio'],
    ['Telnyx SIP Proxy', 'Telnyx'],
    ['Bandwidth SBC', 'Bandwidth'],
    ['Vonage', 'Vonage'],
    ['baresip v3.5.0 (x86_64/Linux)', 'baresip'],
    ['drachtio 0.8.26', 'drachtio/jambonz'],
    ['jambonz', 'drachtio/jambonz'],
    ['LiveKit', 'LiveKit SIP'],
    ['Sangoma SBC', 'Sangoma'],
    ['SignalWire', 'SignalWire'],
    ['2600hz', '2600Hz Kazoo'],
    ['YATE/6.4.0', 'Yate'],
    ['Trunkline', 'Trunkline'],
  ])('%s is %s, in User-Agent and in Server', (name, system) => {
    for (const header of ['User-Agent', 'Server']) {
      const found = recognise(named(name, header));
      expect(found.system).toBe(system);
      expect(found.confidence).toBeGreaterThanOrEqual(0.9);
      expect(found.evidence[0]).toBe(`its name is "${name}"`);
    }
  });
});

describe('a system that hides its name', () => {
  it('is recognized by its habits: FreeSWITCH', () => {
    const found = recognise(
      response([
        'User-Agent: Acme Trunk 1.0',
        'Allow: INVITE, ACK, BYE, CANCEL, OPTIONS, MESSAGE, INFO, UPDATE, REGISTER, REFER, NOTIFY',
        'Supported: timer, path, replaces',
        'Allow-Events: talk, hold, conference, refer',
      ]),
    );
    // 1 - (1 - 0.5) (1 - 0.5) (1 - 0.3)
    expect(found).toEqual({
      system: 'FreeSWITCH',
      confidence: 0.83,
      evidence: [
        'Allow is "INVITE, ACK, BYE, CANCEL, OPTIONS, MESSAGE, INFO, UPDATE, REGISTER, REFER, NOTIFY"',
        'Allow-Events is "talk, hold, conference, refer"',
        'Supported is "timer, path, replaces"',
      ],
    });
  });

  it.each<[string, string[], string]>([
    [
      'Asterisk',
      ['Allow: INVITE, ACK, CANCEL, OPTIONS, BYE, REFER, SUBSCRIBE, NOTIFY, INFO, PUBLISH, MESSAGE'],
      '',
    ],
    [
      'Asterisk',
      ['WWW-Authenticate: Digest realm="asterisk",nonce="1/2"', 'To: <sip:a@b>;tag=as1b85dfe3'],
      '',
    ],
    [
      'Cisco CUBE',
      [
        'Supported: 100rel,timer,resource-priority,replaces,sdp-anat',
        'Allow: INVITE, OPTIONS, BYE, CANCEL, ACK, PRACK, UPDATE, REFER, SUBSCRIBE, NOTIFY, INFO, REGISTER',
      ],
      '',
    ],
    ['Cisco CUCM', ['Supported: X-cisco-srtp-fallback', 'Supported: Geolocation'], ''],
    ['Microsoft Teams Direct Routing', ['ALLOW: INVITE,ACK,OPTIONS,CANCEL,BYE,NOTIFY'], ''],
    [
      'Kamailio',
      [
        'To: <sip:127.0.0.1>;tag=fb0792f1f840ab65f2763018d1c5fac6.e4dc26a8',
        'Accept: */*',
        'Accept-Encoding: ',
        'Accept-Language: en',
        'Supported: ',
      ],
      '',
    ],
    ['Ribbon (Sonus)', [], 'v=0\r\no=Sonus_UAC 1 1 IN IP4 192.0.2.1\r\n'],
    ['AudioCodes', ['Supported: em,timer,replaces,path,resource-priority,sdp-anat'], ''],
  ])('is recognized by its habits: %s %#', (system, lines, body) => {
    expect(recognise(response(lines, body)).system).toBe(system);
  });

  it('is unknown when no trait matches', () => {
    const found = recognise(response(['User-Agent: Acme Trunk 1.0', 'Allow: INVITE, ACK', 'Accept: */*']));
    expect(found).toEqual({ system: 'unknown', confidence: 0, evidence: [] });
  });
});

describe('weighing', () => {
  const table = [
    {
      system: 'one',
      traits: [
        { where: 'header:allow', is: /INVITE/, weight: 0.5 },
        { where: 'header:allow', is: /^INVITE, ACK$/, weight: 0.6 },
      ],
    },
    { system: 'two', traits: [{ where: 'header-names', is: /^X-Two$/, weight: 0.7 }] },
    { system: 'three', traits: [{ where: 'reason-phrase', is: /^Fine$/, weight: 0.7 }] },
  ] as const;

  it('counts one header once, with its strongest trait', () => {
    expect(recognise(response(['Allow: INVITE,ACK']), table)).toMatchObject({
      system: 'one',
      confidence: 0.6,
    });
  });

  it('prefers the more likely system, and the earlier row on a tie', () => {
    const both = response(['Allow: INVITE,ACK', 'X-Two: 1'], '', 'SIP/2.0 200 Fine');
    expect(recognise(both, table)).toMatchObject({
      system: 'two',
      confidence: 0.7,
      evidence: ['it sends the header X-Two'],
    });
  });
});

describe('the table', () => {
  it('has one row per system, and no weight of 1', () => {
    const systems = fingerprints.map(({ system }) => system);
    expect(new Set(systems).size).toBe(systems.length);
    expect(systems.length).toBeGreaterThanOrEqual(25);
    for (const { traits } of fingerprints) {
      expect(traits.length).toBeGreaterThan(0);
      for (const { weight, is } of traits) {
        expect(weight).toBeGreaterThan(0);
        expect(weight).toBeLessThan(1);
        // A stateful pattern would match only every other response.
        expect(is.flags).not.toMatch(/[gy]/);
      }
    }
  });
});
