import { expect, it } from 'vitest';
import { knownSystems, type PbxFacts, pbxText } from './pbx-text.ts';

const facts: PbxFacts = {
  server: 'sip.example.com',
  port: 5061,
  codecs: ['PCMU', 'PCMA', 'Opus'],
  addresses: ['198.51.100.7', '198.51.100.8'],
  number: '+14155550100',
  credentials: null,
};

it('writes the endpoint, the server and who may call for Asterisk and what is built on it', () => {
  const { file, text } = pbxText('FreePBX', facts) ?? { file: '', text: '' };
  expect(file).toBe('pjsip.conf');
  for (const line of [
    'media_encryption = sdes',
    'allow = ulaw,alaw,opus',
    'contact = sip:sip.example.com:5061\\;transport=tls',
    'match = 198.51.100.7',
    'match = 198.51.100.8',
  ])
    expect(text.split('\n')).toContain(line);
  expect(text).not.toContain('type = auth');
});

it('names the user where calls are authenticated, and never a password', () => {
  const credentials = { username: 'acme-trunk', realm: 'trunkline' };
  const written = knownSystems.map((system) => pbxText(system, { ...facts, credentials })?.text ?? '');
  expect(written[0]).toContain('username = acme-trunk');
  expect(written[1]).toContain('<param name="realm" value="trunkline"/>');
  for (const text of written.slice(0, 2)) expect(text).toContain('THE-PASSWORD-THAT-YOU-SET');
});

it('has no text for systems that are set up in a page of their own', () => {
  expect(pbxText('Cisco CUCM', facts)).toBeNull();
  expect(pbxText('unknown', facts)).toBeNull();
});
