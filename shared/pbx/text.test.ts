import { describe, expect, it } from 'vitest';
import type { PbxAccess, PbxFacts } from './facts.ts';
import { knownSystems, pbxFiles, pbxNames } from './text.ts';

const facts: PbxFacts = {
  server: 'sip.example.com',
  port: 5061,
  codecs: ['PCMU', 'PCMA', 'Opus'],
  addresses: ['198.51.100.7', '198.51.100.8'],
  number: '+14155550100',
  access: { how: 'address' },
};
const digest: PbxAccess = { how: 'digest', username: 'acme-trunk', realm: 'trunkline' };
const register: PbxAccess = { how: 'register', username: 'acme-trunk' };

function written(system: string, more: Partial<PbxFacts> = {}): string {
  return (pbxFiles(system, { ...facts, ...more }) ?? [])
    .map(({ path, text }) => `${path}\n${text}`)
    .join('\n\n');
}

function lines(system: string, more: Partial<PbxFacts> = {}): string[] {
  return written(system, more)
    .split('\n')
    .map((line) => line.trim());
}

describe('the configuration of a PBX', () => {
  it('names the endpoint, the server and who may call for Asterisk and what is built on it', () => {
    expect(lines('FreePBX')).toEqual(
      expect.arrayContaining([
        '/etc/asterisk/pjsip.conf',
        'method = tlsv1_2',
        'media_encryption = sdes',
        'media_encryption_optimistic = no',
        'allow = ulaw,alaw,opus',
        'contact = sip:sip.example.com:5061\\;transport=tls',
        'match = 198.51.100.7',
        'match = 198.51.100.8',
        `exten => +14155550100,1,Dial(PJSIP/\${EXTEN}@trunkline)`,
      ]),
    );
    expect(written('FreePBX')).not.toContain('type = auth');
  });

  it('gives the user to the side that is asked: the PBX calls, or the edge registers', () => {
    expect(lines('Asterisk', { access: digest })).toEqual(
      expect.arrayContaining(['outbound_auth = trunkline', 'username = acme-trunk', 'match = 198.51.100.7']),
    );
    const registered = lines('Asterisk', { access: register });
    expect(registered).toEqual(
      expect.arrayContaining([
        '[acme-trunk]',
        'auth = acme-trunk',
        'rewrite_contact = yes',
        'max_contacts = 1',
      ]),
    );
    expect(registered.filter((line) => /^(outbound_auth|contact|match) =/.test(line))).toEqual([]);
    expect(lines('FreeSWITCH', { access: digest })).toContain('<param name="realm" value="trunkline"/>');
    expect(lines('FreeSWITCH', { access: register })).toContain('<user id="acme-trunk">');
    expect(lines('Kamailio', { access: digest })).toContain('$avp(trunk_user) = "acme-trunk";');
    expect(lines('Kamailio', { access: register })).toContain('$rU = "acme-trunk";');
    expect(written('baresip', { access: digest })).toContain(';auth_user=acme-trunk;');
  });

  it.each(knownSystems)('never has a password, but says where it belongs: %s', (system) => {
    expect(written(system)).not.toContain('PASSWORD');
    const authenticated = [digest, register].map((access) => written(system, { access })).join();
    expect(authenticated).toContain('THE-PASSWORD-THAT-YOU-SET');
  });

  it('lets no user name end what it stands in', () => {
    const access = { how: 'register', username: 'a;b"><x' } as const;
    expect(written('Asterisk', { access })).toContain('username = a\\;b"><x');
    expect(written('FreeSWITCH', { access })).not.toContain('<x');
    expect(written('Kamailio', { access })).toContain('$rU = "a;b\\"><x";');
  });

  it('has what answers the challenge of the edge, or the account of the edge, for OpenSIPS and CUBE', () => {
    expect(lines('OpenSIPS', { access: digest })).toEqual(
      expect.arrayContaining([
        'loadmodule "uac_auth.so"',
        'modparam("uac_auth", "credential", "acme-trunk:trunkline:THE-PASSWORD-THAT-YOU-SET")',
        't_on_failure("TRUNK_CHALLENGE");',
      ]),
    );
    const registered = lines('OpenSIPS', { access: register, number: null });
    expect(registered).toEqual(expect.arrayContaining(['case "acme-trunk":', '$rU = "acme-trunk";']));
    expect(registered.filter((line) => line.startsWith('$du ='))).toEqual([]);
    expect(lines('Cisco CUBE', { access: digest, codecs: ['G.722', 'Opus', 'PCMA'] })).toEqual(
      expect.arrayContaining([
        'codec preference 1 g722-64',
        'codec preference 2 g711alaw',
        'authentication username acme-trunk password THE-PASSWORD-THAT-YOU-SET realm trunkline',
      ]),
    );
    expect(written('cisco-cube', { access: register })).toMatch(
      /^running-config\n! CUBE takes no registrations/,
    );
  });

  it('is what is entered in the pages of systems that have no file', () => {
    expect(written('audiocodes', { codecs: ['PCMA', 'G.729'] })).toContain(`
Signaling & Media → Core Entities → Proxy Sets: a new one
  Name                    Trunkline
  SBC IPv4 SIP Interface  Trunkline
  TLS Context Name        Trunkline
  Proxy Keep-Alive        Using OPTIONS
  Proxy Keep-Alive Time   60
  Proxy Address           sip.example.com:5061
  Transport Type          TLS

Signaling & Media → Coders & Profiles → Allowed Audio Coders Groups: a new one
  Name   Trunkline
  Coder  G.711 A-law
  Coder  G.729
`);
    expect(written('AudioCodes', { access: digest })).toMatch(/^ {2}Authentication Mode +SBC as Client$/m);
    expect(written('AudioCodes', { access: digest })).toMatch(/^ {2}User Name +acme-trunk$/m);
    expect(written('Ribbon (Sonus)', { access: digest })).toMatch(/^ {2}Realm +trunkline$/m);
    expect(written('Ribbon (Sonus)', { access: digest })).toMatch(/^ {2}Authentication ID +acme-trunk$/m);
    for (const system of ['AudioCodes', 'Ribbon']) {
      expect(written(system, { access: register })).toMatch(/^.*\nThe SBC takes no registration/);
    }
    expect(written('3CX')).toContain('attach the number with auth_mode register');
    expect(written('3CX', { access: register })).toMatch(/^ {2}IP Phone, Authentication ID +acme-trunk$/m);
  });

  it('is found by any name and case, and missing for systems that nobody has described', () => {
    for (const name of pbxNames) expect(written(name)).toMatch(/sip\.example\.com|198\.51\.100\.7/);
    expect(pbxFiles('Cisco CUCM', facts)).toBeNull();
    expect(pbxFiles('unknown', facts)).toBeNull();
  });
});
