/** The command line of a deployment: organizations, keys, the SIP entitlement, edge tokens (contract 1.1). */
import { parseArgs } from 'node:util';
import { Value } from 'typebox/value';
import { OrganizationPatch } from '#shared/api/organization.ts';
import { systemClock } from '#shared/clock.ts';
import { readControlConfig } from './config.ts';
import { openDatabase } from './db/open.ts';
import { loadSecretKey, SecretBox } from './db/secrets.ts';
import { EdgeConfigStore } from './edges/store.ts';
import {
  createApiKey,
  createEdgeToken,
  createOrganization,
  listApiKeys,
  listEdgeTokens,
  listOrganizations,
  revokeApiKey,
  revokeEdgeToken,
  setSipEnabled,
} from './organizations/store.ts';

const usage = `Usage: npm run admin -- <command>

  org create <name>            make an organization (SIP as SIP_ENTITLEMENT_DEFAULT says, or --sip);
                               --email <address> of its owner, who is told of its alerts
  org list
  key create <org id>          make an API key; it is shown once (--name <text>)
  key create --operator        make an operator key
  key list <org id>            or --operator
  key revoke <key id>
  sip enable <org id>          let an organization use /v1/sip
  sip disable <org id>
  edge-token create            make a token for an edge; it is shown once (--name <text>)
  edge-token list
  edge-token revoke <token id>

The data folder is TRUNKLINE_DATA (./data). Changes take effect at once in a running control plane.`;

/** A command that cannot be carried out; the message says why. */
class UsageError extends Error {}

interface Tools {
  readonly config: ReturnType<typeof readControlConfig>;
  readonly secrets: SecretBox;
  readonly edgeConfig: EdgeConfigStore;
  readonly database: Awaited<ReturnType<typeof openDatabase>>;
}

interface Options {
  readonly name?: string;
  readonly operator?: boolean;
  readonly sip?: boolean;
  readonly email?: string;
}

/** What a command prints: a text, or rows of a table. */
type Output = string | Record<string, unknown>[];
type Command = (tools: Tools, subject: string | undefined, options: Options) => Promise<Output>;

const commands: Readonly<Record<string, Command>> = {
  'org create': async ({ config, secrets, edgeConfig }, name, options) => {
    const organization = {
      name: required(name, 'name'),
      region: config.region,
      sipEnabled: options.sip ?? config.sipEntitlementDefault,
      ...(options.email !== undefined && { ownerEmail: checkedEmail(options.email) }),
    };
    return edgeConfig.change(async (db, altered) => {
      const id = await createOrganization(db, systemClock, secrets, organization);
      altered.organizations.add(id);
      return id;
    });
  },
  'org list': async ({ database }) =>
    (await listOrganizations(database.db)).map(({ id, name, sip_enabled, created_at }) => ({
      id,
      name,
      sip: sip_enabled === 1,
      created_at,
    })),
  'key create': async ({ database }, orgId, { operator, name = 'made on the command line' }) => {
    if (operator) return createApiKey(database.db, systemClock, { kind: 'operator' }, name);
    const id = required(orgId, 'org id');
    const known = (await listOrganizations(database.db)).some((organization) => organization.id === id);
    if (!known) throw new UsageError(`There is no organization ${id}; "org list" shows them.`);
    return createApiKey(database.db, systemClock, { kind: 'customer', orgId: id }, name);
  },
  'key list': async ({ database }, orgId, { operator }) =>
    (await listApiKeys(database.db, operator ? null : required(orgId, 'org id'))).map(keyLine),
  'key revoke': async ({ database }, id) => {
    if (await revokeApiKey(database.db, systemClock, required(id, 'key id'))) return 'revoked';
    throw new UsageError(`There is no key ${id} that is in force; "key list" shows the ids.`);
  },
  'sip enable': (tools, orgId) => entitle(tools, orgId, true),
  'sip disable': (tools, orgId) => entitle(tools, orgId, false),
  'edge-token create': async ({ database }, _subject, { name = 'made on the command line' }) =>
    createEdgeToken(database.db, systemClock, name),
  'edge-token list': async ({ database }) => (await listEdgeTokens(database.db)).map(keyLine),
  'edge-token revoke': async ({ database }, id) => {
    if (await revokeEdgeToken(database.db, systemClock, required(id, 'token id'))) return 'revoked';
    throw new UsageError(`There is no token ${id} that is in force; "edge-token list" shows the ids.`);
  },
};

async function entitle({ database }: Tools, orgId: string | undefined, enabled: boolean): Promise<string> {
  const id = required(orgId, 'org id');
  if (!(await setSipEnabled(database.db, id, enabled)))
    throw new UsageError(`There is no organization ${id}.`);
  return enabled ? 'SIP enabled' : 'SIP disabled';
}

function checkedEmail(text: string): string {
  if (Value.Check(OrganizationPatch, { alert_emails: [text] })) return text;
  throw new UsageError(`"${text}" is not a mail address.`);
}

function required(value: string | undefined, what: string): string {
  if (value === undefined || value === '') throw new UsageError(`The ${what} is missing.\n\n${usage}`);
  return value;
}

function keyLine(row: {
  id: string;
  name: string;
  prefix: string;
  created_at: string;
  revoked_at: string | null;
}) {
  const { id, name, prefix, created_at, revoked_at } = row;
  return { id, name, begins: `${prefix}…`, created_at, revoked_at: revoked_at ?? '' };
}

/** Runs one command. @returns its output @throws UsageError */
async function run(args: readonly string[]): Promise<Output> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      operator: { type: 'boolean' },
      sip: { type: 'boolean' },
      email: { type: 'string' },
    },
  });
  const [area = '', verb = '', subject] = positionals;
  const command = commands[`${area} ${verb}`];
  if (!command) throw new UsageError(usage);
  const config = readControlConfig();
  const database = await openDatabase(config.databaseFile);
  try {
    const secrets = new SecretBox(loadSecretKey(config.secretKey, config.dataFolder));
    const edgeConfig = new EdgeConfigStore(database, secrets, config);
    return await command({ config, secrets, edgeConfig, database }, subject, values);
  } finally {
    await database.close();
  }
}

try {
  const output = await run(process.argv.slice(2));
  if (typeof output === 'string') console.log(output);
  else console.table(output);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
