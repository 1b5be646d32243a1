/** Commands for the keys of organizations, operators and edges. */
import { type KeyRole, keyRoles } from '#shared/api/keys.ts';
import { type Change, commandLineActor, recordChange } from '../audit/index.ts';
import type { ApiKeyRow, Db, EdgeTokenRow } from '../db/index.ts';
import {
  createApiKey,
  createEdgeToken,
  findKeyRow,
  listApiKeys,
  listEdgeTokens,
  listOrganizations,
  revokeApiKey,
  revokedTokensTopic,
  revokeEdgeToken,
} from '../organizations/index.ts';
import { type Command, checkedName, type Options, required, type Tools, UsageError } from './command.ts';

const defaultName = 'made on the command line';

export const keyCommands: Readonly<Record<string, Command>> = {
  'key create': {
    takes: '<org id> | --operator | --edge',
    help: [
      'create a key; it is stored hashed and shown only once; --name <text>',
      "--role read|member|admin of an organization's key: see all; also change and run; also settings, keys and ports (default)",
    ].join('\n'),
    options: ['operator', 'edge', 'name', 'role'],
    first: true,
    run: (tools, orgId, options) => create(tools, orgId, options),
  },
  'key list': {
    takes: '<org id> | --operator | --edge',
    help: 'keys by their first characters, with their roles, and when each was last used (to a minute)',
    options: ['operator', 'edge'],
    run: async ({ database: { db } }, orgId, options) => {
      assertOneOwner(orgId, options);
      if (options.edge) return (await listEdgeTokens(db)).map(line);
      return (await listApiKeys(db, await ownerOf(db, orgId, options))).map(line);
    },
  },
  'key revoke': {
    takes: '<key id>',
    help: 'revoke a key at once; an edge connected with it is disconnected',
    options: [],
    run: (tools, id) => revoke(tools, required(id, 'key id')),
  },
  'edge-token create': {
    takes: '',
    help: 'the same as key create --edge',
    options: ['name'],
    first: true,
    run: (tools, _subject, options) => create(tools, undefined, { ...options, edge: true }),
  },
  'edge-token list': {
    takes: '',
    help: 'the same as key list --edge',
    options: [],
    run: async ({ database: { db } }) => (await listEdgeTokens(db)).map(line),
  },
  'edge-token revoke': {
    takes: '<token id>',
    help: 'the same as key revoke',
    options: [],
    run: (tools, id) => revoke(tools, required(id, 'token id')),
  },
};

function line(row: ApiKeyRow | EdgeTokenRow) {
  const { id, name, prefix, created_at, last_used_at, revoked_at } = row;
  return {
    id,
    name,
    begins: `${prefix}…`,
    ...('role' in row && { role: row.kind === 'operator' ? 'operator' : row.role }),
    created_at,
    last_used_at: last_used_at ?? 'never',
    ...('role' in row && { expires_at: row.expires_at ?? '' }),
    revoked_at: revoked_at ?? '',
  };
}

/** A key that opens more than intended is worse than none. @throws UsageError unless the key has exactly one owner */
function assertOneOwner(orgId: string | undefined, { operator, edge }: Options): void {
  const given = [orgId, operator && '--operator', edge && '--edge'].filter(Boolean);
  if (given.length > 1) {
    throw new UsageError(`Give one of <org id>, --operator and --edge, not ${given.join(' and ')}.`);
  }
}

/** @throws UsageError */
function checkedRole({ edge, operator, role }: Options): KeyRole | undefined {
  if (role === undefined) return undefined;
  if (operator || edge) throw new UsageError('Only keys of organizations have a --role.');
  const found = keyRoles.find((one) => one === role);
  if (found) return found;
  throw new UsageError(`"${role}" is not a role: give ${keyRoles.join(', ')}.`);
}

/** null: operators. */
async function ownerOf(db: Db, orgId: string | undefined, options: Options): Promise<string | null> {
  if (options.operator) return null;
  const id = required(orgId, 'org id (or --operator, or --edge)');
  if ((await listOrganizations(db)).some((organization) => organization.id === id)) return id;
  throw new UsageError(`There is no organization ${id}; "org list" shows them.`);
}

function create(tools: Tools, orgId: string | undefined, options: Options): Promise<string> {
  const { clock, database } = tools;
  assertOneOwner(orgId, options);
  const name = checkedName(options.name ?? defaultName, 'name');
  const role = checkedRole(options);
  return database.db.transaction().execute(async (db) => {
    if (options.edge) {
      const token = await createEdgeToken(db, clock, name);
      await record(tools, db, {
        orgId: null,
        subject: (await findKeyRow(db, token))?.id ?? '',
        action: 'create',
      });
      return token;
    }
    const owner = await ownerOf(db, orgId, options);
    const kind =
      owner === null
        ? ({ kind: 'operator' } as const)
        : ({ kind: 'customer', orgId: owner, role: role ?? 'admin' } as const);
    const key = await createApiKey(db, clock, kind, name);
    await record(tools, db, {
      orgId: owner,
      subject: (await findKeyRow(db, key))?.id ?? '',
      action: 'create',
    });
    return key;
  });
}

function revoke(tools: Tools, id: string): Promise<string> {
  const { bus, clock, database } = tools;
  return database.db.transaction().execute(async (db) => {
    const owner = await db.selectFrom('api_keys').select('org_id').where('id', '=', id).executeTakeFirst();
    const isEdges = await revokeEdgeToken(db, clock, id);
    if (isEdges) await revokedTokensTopic(bus).publish(db, null);
    if (!isEdges && !(await revokeApiKey(db, clock, id)))
      throw new UsageError(`There is no active key ${id}; "key list" shows the ids.`);
    await record(tools, db, { orgId: owner?.org_id ?? null, subject: id, action: 'revoke' });
    return 'revoked';
  });
}

function record({ clock }: Tools, db: Db, change: Omit<Change, 'area'>): Promise<void> {
  return recordChange(db, clock, commandLineActor, { ...change, area: 'keys' });
}
