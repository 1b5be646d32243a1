/**
 * The first start creates an organization with keys, a demo number with a demo pathway, and line check numbers.
 * `bootstrap.json` records them; while it exists, later starts change nothing.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { newId } from '#shared/ids.ts';
import { pathExists } from '#shared/path-exists.ts';
import { SettingError } from '#shared/settings/reader.ts';
import { namingPath } from '#shared/storage-fault.ts';
import { type Db, type Json, toJson } from './db/index.ts';
import { demoEdges, demoNodes } from './demo-pathway.ts';
import { updateNumber } from './numbers/index.ts';
import { createApiKey, createEdgeToken, createOrganization, isoTime } from './organizations/index.ts';
import { acceptGraph, insertPathway } from './pathways/index.ts';
import type { Services } from './services.ts';
import type { ControlConfig } from './settings/index.ts';
import { attachNumbers, sipServer } from './trunks/index.ts';

const Bootstrap = Type.Object({
  org_id: Type.String(),
  api_key: Type.String(),
  operator_key: Type.String(),
  edge_token: Type.String(),
  control_url: Type.String(),
  sip: Type.Object({ host: Type.String(), port: Type.Integer(), ca_cert: Type.String() }),
});
export type Bootstrap = Static<typeof Bootstrap>;

export const demoNumber = '+14155550100';
/** Echoes the caller's audio. */
export const echoNumber = '+14155550101';
/** Plays a 440 Hz tone. */
export const toneNumber = '+14155550102';
const toneHz = 440;

const thisMachine = ['127.0.0.1', '::1'];

/**
 * Creates or reads `bootstrap.json`. Its addresses follow the settings; everything else is from the first start.
 * @param caCert path of the certificate that peers must trust
 * @throws Error when the file exists and cannot be parsed
 */
export async function bootstrap(services: Services, caCert: string): Promise<Bootstrap> {
  const { config } = services;
  const file = join(config.dataFolder, 'bootstrap.json');
  const kept = pathExists(file) ? readBootstrap(file) : null;
  const known = kept ?? (await firstStart(services));
  const current: Bootstrap = {
    ...known,
    control_url: config.url,
    sip: { host: sipServer(services), port: config.sip.port, ca_cert: resolve(caCert) },
  };
  // A start without changes writes nothing, so it works on a full disk.
  if (!isDeepStrictEqual(kept, current)) writePrivate(config, file, current);
  return current;
}

function readBootstrap(file: string): Bootstrap {
  const value = parsed(namingPath(file, () => readFileSync(file, 'utf8')));
  if (Value.Check(Bootstrap, value)) return value;
  throw new SettingError(
    `${file} was not written by a first start; restore it, or move it away: the next start makes new keys for the same organization`,
  );
}

/** undefined: not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function writePrivate(config: ControlConfig, file: string, content: Bootstrap): void {
  mkdirSync(config.dataFolder, { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

type Made = Pick<Bootstrap, 'org_id' | 'api_key' | 'operator_key' | 'edge_token'>;

async function firstStart(services: Services): Promise<Made & Pick<Bootstrap, 'control_url' | 'sip'>> {
  const { clock, config, secrets } = services;
  const organization = { name: 'Default', region: config.region, sipEnabled: true };
  const made = await services.catalogue.change(async (db, altered): Promise<Made> => {
    // A first start that was interrupted, or whose file was lost, is resumed with new keys.
    const org_id =
      (await holderOf(db, demoNumber)) ?? (await createOrganization(db, clock, secrets, organization));
    altered.organizations.add(org_id);
    return {
      org_id,
      api_key: await createApiKey(db, clock, { kind: 'customer', orgId: org_id }, 'first key'),
      operator_key: await createApiKey(db, clock, { kind: 'operator' }, 'first operator key'),
      edge_token: await createEdgeToken(db, clock, 'first edge'),
    };
  });
  await makeNumbers(services, made.org_id);
  return { ...made, control_url: '', sip: { host: '', port: 0, ca_cert: '' } };
}

/** The organization that holds a number. */
async function holderOf(db: Db, number: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('numbers')
    .select('org_id')
    .where('number', '=', number)
    .where('archived_at', 'is', null)
    .executeTakeFirst();
  return row?.org_id;
}

/** Numbers held by another organization are left alone. */
async function makeNumbers(services: Services, orgId: string): Promise<void> {
  const { configured } = await attachNumbers(services, orgId, {
    phone_numbers: [demoNumber, echoNumber, toneNumber],
    directions: [{ type: 'inbound', options: { allowed_ips: thisMachine } }],
  });
  await services.catalogue.change(async (db, altered) => {
    for (const number of configured) {
      await updateNumber(db, orgId, number, await agentOf(services, db, orgId, number));
      altered.numbers.add(number);
    }
  });
}

async function agentOf(services: Services, db: Db, orgId: string, number: string) {
  if (number === echoNumber) return { builtin_agent: 'echo', settings: label('Line check: echo') };
  if (number === toneNumber)
    return { builtin_agent: `tone:${toneHz}`, settings: label('Line check: 440 Hz') };
  const id = newId();
  await insertPathway(db, {
    id,
    orgId,
    name: 'Demo',
    description: 'Greets, and takes a key: 1 for sales, 2 for support.',
    now: isoTime(services.clock),
    ...acceptGraph(demoNodes, demoEdges, services.allowedTargets),
  });
  return { pathway_id: id, settings: label('Demo') };
}

function label(text: string): Json {
  return toJson({ label: text });
}
