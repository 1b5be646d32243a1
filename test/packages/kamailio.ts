/** docs/pbx/kamailio.md on a fresh Debian: its packages, its files, and a phone that registers. */
import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { shownCommand } from '../kit/shown-commands.ts';
import { silence, withoutSoundCard } from '../peers/baresip.ts';
import { page, shownIn } from './guides.ts';
import type { Machine } from './machine.ts';
import { Service } from './service.ts';
import { number, pbxAddress, pbxName, type Trunk } from './trunk.ts';

const name = 'pbx/kamailio.md';
const folder = '/root/phone';

export async function walkKamailio(trunk: Trunk, pbx: Machine): Promise<void> {
  const packages = [...shownIn(name, /\(Debian: ([^)]+)\)/).matchAll(/`([\w-]+)`/g)].map(
    ([, one = '']) => one,
  );
  await pbx.apt(['install', ...packages]);
  await pbx.apt(['--no-install-recommends', 'install', 'baresip-core', 'dnsmasq-base']);
  const version = (await pbx.chroot('kamailio', ['-v'])).split('\n')[0] ?? '';
  pbx.check(version.includes('kamailio'), `Debian's package is ${version}`);
  await trunk.configure(pbx, 'kamailio');
  await trunk.certificates(pbx, '/etc/kamailio/tls', 'kamailio', false);
  const { code, output } = await pbx.shell(shownCommand(name, 'kamailio').line);
  pbx.check(code === 0, `docs/${name}: kamailio -c accepts the files`, output);
  await pbx.chroot('install', ['-d', '-o', 'kamailio', '-g', 'kamailio', '/run/kamailio']);
  const names = await nameServer(pbx);
  const user = ['-u', 'kamailio', '-g', 'kamailio', '-m', '64', '-M', '8'];
  // As its unit starts it.
  const kamailio = new Service(pbx, ['/usr/sbin/kamailio', '-DD', '-E', ...user]);
  try {
    await trunk.isHealthy(pbx);
    await writePhone(trunk, pbx);
    await calls(trunk, pbx, kamailio);
  } catch (error) {
    console.error(kamailio.output.slice(-4000));
    throw error;
  } finally {
    await kamailio.stop();
    await names.stop();
  }
}

/** A phone of the PBX is called, and calls: a person answers, listens, and hangs up. */
async function calls(trunk: Trunk, pbx: Machine, kamailio: Service): Promise<void> {
  const [, dial = '', hangUp = ''] =
    /type `(\w)\+\d+`\. Digits .* `(\w)` hangs up/.exec(page('pbx/baresip.md')) ?? [];
  const phone = new Service(pbx, ['baresip', '-f', folder]);
  const talk = async (count: number) => {
    await eventually('a call of the phone', () => {
      phone.mustRun();
      return saw(phone.output).split('Call established').length > count || null;
    });
    await pause(5_000);
    phone.type(hangUp);
  };
  try {
    const registered = /REGISTER .* contact .*<sip:\+14155550199[^>]*>/;
    await eventually('the phone to be registered', () => {
      phone.mustRun();
      return registered.test(kamailio.output) || null;
    });
    pbx.tell(`docs/${name}: the phone is registered, and the log has its line`);
    await trunk.call(pbx, 'outbound', async () => {
      await trunk.agentCalls('+14155550199');
      await talk(1);
    });
    await trunk.call(pbx, 'inbound', async () => {
      phone.type(`${dial}${number}\n`);
      await talk(2);
    });
  } finally {
    await phone.stop();
  }
}

/** Kamailio asks name servers alone: the names of the pages are in none. */
async function nameServer(pbx: Machine): Promise<Service> {
  await writeFile(pbx.path('etc/resolv.conf'), 'nameserver 127.0.0.1\n');
  const options = ['--keep-in-foreground', '--no-resolv', '--local=/example.com/', '--user=root'];
  return new Service(pbx, [
    '/usr/sbin/dnsmasq',
    ...options,
    '--listen-address=127.0.0.1',
    '--bind-interfaces',
  ]);
}

/** TLS, SRTP by SDES, its number as user name, with the configuration of docs/pbx/baresip.md. */
async function writePhone(trunk: Trunk, pbx: Machine): Promise<void> {
  const [, text = ''] =
    /^`~\/\.baresip\/config`:\n\n```\n([\s\S]*?)^```$/m.exec(page('pbx/baresip.md')) ?? [];
  const password = shownIn(name, /\$sht\(phones=>\+14155550199\) = "([^"]+)"/);
  const settings = { sip_listen: `${pbxAddress}:5070` };
  const config = withoutSoundCard({ copied: text, folder, settings, without: [] });
  const account = [
    `<sip:+14155550199@${pbxName};transport=tls>`,
    `auth_pass=${password}`,
    `outbound="sip:${pbxAddress}:5061;transport=tls"`,
    'regint=600;mediaenc=srtp-mand;audio_codecs=PCMU;answermode=auto',
  ];
  await mkdir(pbx.path(`${folder}/recordings`), { recursive: true });
  const { pair, authority } = trunk.identity;
  for (const [file, content] of Object.entries({
    config,
    accounts: `${account.join(';')}\n`,
    contacts: '',
    'phone.pem': `${pair.cert}${pair.key}`,
    'trusted.pem': authority,
    'speech.wav': silence(),
  }))
    await writeFile(pbx.path(`${folder}/${file}`), content);
}
