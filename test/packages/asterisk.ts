/** docs/pbx/asterisk.md on a fresh Debian: its package, its files, its commands. */
import { appendFile } from 'node:fs/promises';
import { eventually, saw } from '../kit/programs/eventually.ts';
import { shownCommands } from '../kit/shown-commands.ts';
import { phonesOf } from '../peers/asterisk-phones.ts';
import { limitMs } from './deployment.ts';
import type { Machine } from './machine.ts';
import { Service } from './service.ts';
import { number, type Trunk } from './trunk.ts';

/** Behind the PBX. */
const callee = '+14155550197';

export async function walkAsterisk(trunk: Trunk, pbx: Machine): Promise<void> {
  await pbx.apt(['install', 'asterisk', 'ca-certificates']);
  const version = (await pbx.chroot('asterisk', ['-V'])).trim();
  pbx.check(version.startsWith('Asterisk '), `Debian's package is ${version}`);
  await pbx.chroot('install', ['-d', '-o', 'asterisk', '-g', 'asterisk', '/run/asterisk']);
  // As its unit starts it, with the configuration of the package.
  const asterisk = new Service(pbx, ['/usr/sbin/asterisk', '-f', '-U', 'asterisk', '-G', 'asterisk', '-vvv']);
  try {
    await booted(pbx, asterisk);
    await trunk.configure(pbx, 'asterisk');
    await appendFile(
      pbx.path('etc/asterisk/extensions.conf'),
      phonesOf({ callee, recording: '/var/spool/asterisk/heard.wav' }),
    );
    await trunk.certificates(pbx, '/etc/asterisk/keys', 'asterisk', true);
    const [restart = '', show = ''] = shownCommands('pbx/asterisk.md', 'asterisk').map(({ line }) => line);
    await pbx.shell(restart);
    await eventually('the restart', () => asterisk.output.includes('Asterisk is now restarting') || null);
    await eventually(
      'the contact to be available',
      async () => {
        asterisk.mustRun();
        const { output } = await pbx.shell(show);
        return /^ *Contact: +trunkline\/sip:.* Avail /m.test(saw(output)) || null;
      },
      limitMs,
    );
    pbx.tell(`docs/pbx/asterisk.md: after ${restart}, ${show} has the contact as Avail`);
    await trunk.isHealthy(pbx);
    const originate = `asterisk -rx 'channel originate Local/${number}@to-trunkline extension caller@test'`;
    await trunk.call(pbx, 'inbound', async () => {
      await pbx.shell(originate);
    });
    await trunk.call(pbx, 'outbound', () => trunk.agentCalls(callee));
  } catch (error) {
    console.error(asterisk.output.slice(-4000));
    throw error;
  } finally {
    await asterisk.stop();
  }
}

async function booted(pbx: Machine, asterisk: Service): Promise<void> {
  await eventually(
    'Asterisk to be ready',
    async () => {
      asterisk.mustRun();
      const { output } = await pbx.shell("asterisk -rx 'core waitfullybooted'");
      return saw(output).includes('fully booted') || null;
    },
    limitMs,
  );
}
