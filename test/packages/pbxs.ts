/** PBXs with the complete configuration of their pages, each on a fresh Debian of its own. */
import { join } from 'node:path';
import type { Administrator } from './administrator.ts';
import { walkAsterisk } from './asterisk.ts';
import { freshRoot, removeRoot } from './debian-root.ts';
import type { Deployment } from './deployment.ts';
import { walkKamailio } from './kamailio.ts';
import { Machine } from './machine.ts';
import { Trunk } from './trunk.ts';

/** Neither Debian 12 nor Debian 13 has a package of Asterisk. */
const suiteOfAsterisk = 'forky';

/** @param work the folder for their roots */
export async function walkPbxs(
  deployment: Deployment,
  administrator: Administrator,
  work: string,
): Promise<void> {
  const trunk = new Trunk(deployment, administrator);
  await trunk.prepare();
  const { name } = deployment.machine;
  await withPbx(`${name}-kamailio`, name, work, (pbx) => walkKamailio(trunk, pbx));
  await withPbx(`${name}-asterisk`, suiteOfAsterisk, work, (pbx) => walkAsterisk(trunk, pbx));
  await trunk.admitOwnCalls();
}

async function withPbx(
  name: string,
  suite: string,
  work: string,
  walk: (pbx: Machine) => Promise<void>,
): Promise<void> {
  const root = join(work, name);
  const pbx = new Machine({ root, name, network: `trunkline-${name}-${process.pid}` });
  try {
    await freshRoot(suite, root);
    await pbx.prepare();
    await walk(pbx);
  } finally {
    await pbx.end();
    await removeRoot(root);
  }
}
