/**
 * A demo organization with sample data, created through the API. Each step is recorded in `demo.json` of the data
 * folder, so a second run, or one after a failed one, creates only what is missing.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { pathExists } from '#shared/path-exists.ts';
import type { App } from '../http/index.ts';
import { createApiKey, createOrganization } from '../organizations/index.ts';
import { demoCallReports } from './demo-calls.ts';
import * as demo from './demo-data.ts';
import type { OperationDeps } from './deps.ts';
import { OperationError } from './operation-error.ts';

const Noted = Type.Object({
  org_id: Type.String(),
  api_key: Type.String(),
  /** Ids created by each step, by its name. */
  made: Type.Record(Type.String(), Type.String()),
});
type Noted = Static<typeof Noted>;

export interface SeedParts {
  readonly app: App;
  readonly services: OperationDeps;
  /** Stores reports as an edge named `demo`. */
  storeReports(bodies: readonly ReportBody[]): Promise<void>;
}

export interface Seeded {
  readonly orgId: string;
  readonly apiKey: string;
  /** Names of the steps that this run did. */
  readonly made: readonly string[];
}

/** @throws OperationError when a request is rejected */
export async function seedDemo(parts: SeedParts): Promise<Seeded> {
  const file = join(parts.services.config.dataFolder, 'demo.json');
  const noted = readNoted(file) ?? (await firstRun(parts, file));
  const made: string[] = [];
  for (const [name, step] of Object.entries(steps)) {
    if (name in noted.made) continue;
    noted.made[name] = await step(parts, noted);
    write(file, noted);
    made.push(name);
  }
  return { orgId: noted.org_id, apiKey: noted.api_key, made };
}

/** Creates one object and returns its id. In this order, because later steps reference earlier ones. */
type Step = (parts: SeedParts, noted: Noted) => Promise<string>;

const steps: Readonly<Record<string, Step>> = {
  numbers: async (parts, noted) => {
    const read = await post(parts, noted, '/v1/sip/attach', demo.demoAttach);
    const problem = read('data', 'failed', '0', 'message');
    if (problem !== '')
      throw new OperationError(`${read('data', 'failed', '0', 'phone_number')}: ${problem}`);
    return read('data', 'configured');
  },
  pathway: async (parts, noted) => {
    const { name, description, graph } = demo.demoPathway;
    const read = await post(parts, noted, '/v1/pathway/create', { name, description });
    await post(parts, noted, `/v1/pathway/${read('pathway_id')}`, graph);
    return read('pathway_id');
  },
  tool: async (parts, noted) => (await post(parts, noted, '/v2/tools', demo.demoTool))('data', 'id'),
  persona: async (parts, noted) => {
    const body = demo.demoPersona(noted.made.tool ?? '');
    return (await post(parts, noted, '/v1/personas', body))('data', 'id');
  },
  agents: async (parts, noted) => {
    const { menu, desk } = demo.demoNumbers;
    await post(parts, noted, `/v1/inbound/${menu}`, { pathway_id: noted.made.pathway, label: 'Demo: menu' });
    await post(parts, noted, `/v1/inbound/${desk}`, { persona_id: noted.made.persona, label: 'Demo: desk' });
    return `${menu},${desk}`;
  },
  widget: async (parts, noted) =>
    (await post(parts, noted, '/v1/widget', demo.demoWidget(noted.made.pathway ?? '')))(
      'data',
      'widget',
      'id',
    ),
  port: async (parts, noted) =>
    (await post(parts, noted, '/v1/sip/port/initiate', demo.demoPort))('data', 'port_request_id'),
  calls: async ({ services, storeReports }, noted) => {
    const facts = { orgId: noted.org_id, pathwayId: noted.made.pathway ?? '', now: services.clock.now() };
    const reports = demoCallReports(facts);
    await storeReports(reports);
    return String(reports.filter(({ type }) => type === 'call').length);
  },
};

/** The text at a path of a response. */
type Read = (...path: string[]) => string;

async function post({ app }: SeedParts, noted: Noted, url: string, payload: object): Promise<Read> {
  const answer = await app.inject({
    method: 'POST',
    url,
    headers: { authorization: noted.api_key },
    payload,
  });
  if (answer.statusCode !== 200)
    throw new OperationError(`POST ${url} was answered with ${answer.statusCode}: ${answer.body}`);
  const body: unknown = answer.json();
  return (...path) => {
    const value = path.reduce((part: unknown, name) => Object(part)[name], body);
    return value === undefined ? '' : String(value);
  };
}

async function firstRun({ services }: SeedParts, file: string): Promise<Noted> {
  const { clock, config, catalogue, secrets } = services;
  const noted = await catalogue.change(async (db, altered) => {
    const organization = { name: demo.demoOrganization, region: config.region, sipEnabled: true };
    const orgId = await createOrganization(db, clock, secrets, organization);
    altered.organizations.add(orgId);
    return {
      org_id: orgId,
      api_key: await createApiKey(db, clock, { kind: 'customer', orgId }, 'demo'),
      made: {},
    };
  });
  write(file, noted);
  return noted;
}

function readNoted(file: string): Noted | null {
  if (!pathExists(file)) return null;
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (Value.Check(Noted, value)) return value;
  throw new OperationError(`${file} cannot be understood; remove it to make a new demo organization.`);
}

function write(file: string, noted: Noted): void {
  writeFileSync(`${file}.tmp`, `${JSON.stringify(noted, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.tmp`, file);
}
