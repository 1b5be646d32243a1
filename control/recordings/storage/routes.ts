/** /v1/org/recording-storage and /v1/admin/recording-storage: where recordings are stored outside (contract 9.7). */

import type { FastifyRequest } from 'fastify';
import { requireAllowedHost } from '#shared/allowed-host.ts';
import { plain } from '#shared/api/common.ts';
import {
  RecordingStorage as Body,
  RecordingStorageAnswer,
  type RecordingStorageView,
  StorageTrialAnswer,
} from '#shared/api/recording-storage.ts';
import { ApiError } from '#shared/errors.ts';
import { actorOf, recordChange } from '../../audit/index.ts';
import type { RecordingStorageRow } from '../../db/index.ts';
import { type Access, type App, orgOf, untilGone } from '../../http/index.ts';
import type { RecordingsDeps } from '../deps.ts';
import { withBucketInHost } from '../s3/client.ts';
import {
  formerStorages,
  ownStorage,
  removeStorages,
  type StorageSettings,
  type StorageState,
  saveStorage,
  secretOf,
  storageState,
} from './storages-store.ts';
import { tryStorage } from './trial.ts';

/** One request of a trial, ms. */
const trialTimeoutMs = 10_000;

/** Whose storage a path is about. */
interface Owner {
  readonly url: string;
  readonly of: string;
  /** The least role to see it, and to change it. */
  readonly access: { readonly see: Access; readonly change: Access };
  readonly errors: readonly 'OPERATOR_KEY_REQUIRED'[];
  /** null: the operator's */
  readonly orgId: (request: FastifyRequest) => string | null;
}

const owners: readonly Owner[] = [
  {
    url: '/v1/org/recording-storage',
    of: 'of the organization',
    access: { see: 'read', change: 'admin' },
    errors: [],
    orgId: orgOf,
  },
  {
    url: '/v1/admin/recording-storage',
    of: 'of organizations without their own',
    access: { see: 'operator', change: 'operator' },
    errors: ['OPERATOR_KEY_REQUIRED'],
    orgId: () => null,
  },
];

export function recordingStorageRoutes(app: App, services: RecordingsDeps): void {
  for (const owner of owners) routesOf(app, services, owner);
}

function routesOf(app: App, services: RecordingsDeps, { url, of, access, errors, orgId }: Owner): void {
  const { clock, database, recordingStorage, secrets } = services;
  const { db } = database;
  const now = () => new Date(clock.now()).toISOString();
  const answer = async (owner: string | null) =>
    plain({ storage: view(await storageState(db, owner)), former: await formerStorages(db, owner) });
  const change = (action: string, fields: string[] = []) => ({
    area: 'recordings',
    subject: 'storage',
    action,
    fields,
  });

  app.route({
    method: 'GET',
    url,
    config: { access: access.see, errors: [...errors] },
    schema: {
      summary: `Where recordings ${of} are stored outside`,
      response: { 200: RecordingStorageAnswer },
    },
    handler: (request) => answer(orgId(request)),
  });

  app.route({
    method: 'PUT',
    url,
    config: { access: access.change, errors: [...errors, 'TARGET_NOT_ALLOWED'] },
    schema: {
      summary: `Set where recordings ${of} are stored outside`,
      description:
        'Recordings that are completed from now on are brought there. Those in the storage before stay in it, and are read and deleted there. A storage that was in force before, with the same url, bucket and prefix, comes back with the new key.',
      body: Body,
      response: { 200: RecordingStorageAnswer },
    },
    handler: async (request) => {
      const owner = orgId(request);
      const settings = settingsOf(request.body, owner, services);
      await db.transaction().execute(async (trx) => {
        const before = await ownStorage(trx, owner);
        const secret = request.body.secret_access_key ?? keptSecret(before, settings, services);
        await saveStorage(trx, owner, settings, secret, { secrets, now: now() });
        const fields = Object.keys(request.body).sort();
        await recordChange(trx, clock, actorOf(request), { orgId: owner, ...change('set_storage', fields) });
      });
      recordingStorage.wake();
      return answer(owner);
    },
  });

  app.route({
    method: 'DELETE',
    url,
    config: { access: access.change, errors: [...errors, 'RECORDING_STORAGE_NOT_FOUND'] },
    schema: {
      summary: `Store new recordings ${of} in the deployment again`,
      description: 'Those in the storage stay in it, and are read and deleted there.',
      response: { 200: RecordingStorageAnswer },
    },
    handler: async (request) => {
      const owner = orgId(request);
      await db.transaction().execute(async (trx) => {
        if (!(await removeStorages(trx, owner, now()))) throw ApiError.of('RECORDING_STORAGE_NOT_FOUND');
        await recordChange(trx, clock, actorOf(request), { orgId: owner, ...change('remove_storage') });
      });
      recordingStorage.wake();
      return answer(owner);
    },
  });

  app.route({
    method: 'POST',
    url: `${url}/test`,
    config: {
      access: access.change,
      limits: [{ scope: 'organization_storage_tests', limit: 10, windowSeconds: 60 }],
      errors: [...errors, 'TARGET_NOT_ALLOWED'],
    },
    schema: {
      summary: 'Try a storage: write, read and delete a small object',
      description: 'Stores no settings. Without secret_access_key it is the stored one.',
      body: Body,
      response: { 200: StorageTrialAnswer },
    },
    handler: async (request) => {
      const owner = orgId(request);
      const settings = settingsOf(request.body, owner, services);
      const before = await ownStorage(db, owner);
      const secret = request.body.secret_access_key ?? keptSecret(before, settings, services);
      const client = recordingStorage.clientOf(settings, owner, secret, trialTimeoutMs);
      return plain(await untilGone(request, (signal) => tryStorage(client, settings.prefix, clock, signal)));
    },
  });
}

/** @throws ApiError INVALID_PARAMETER, TARGET_NOT_ALLOWED */
function settingsOf(
  { url, bucket, region = 'us-east-1', prefix = '', path_style = true, access_key_id }: Body,
  orgId: string | null,
  { allowedTargets }: RecordingsDeps,
): StorageSettings {
  const read = /^[a-z]+:\/\/[^\s\\?#]+$/i.test(url) && URL.canParse(url) ? new URL(url) : null;
  // The operator's may be beside the deployment; what is stored is encrypted.
  const isAllowed = read?.protocol === 'https:' || (orgId === null && read?.protocol === 'http:');
  if (read === null || !isAllowed || read.username !== '' || read.password !== '')
    throw ApiError.invalid('/url', 'must be an absolute https:// URL without user information and query');
  if (orgId !== null) requireAllowedHost(read.hostname, '/url', allowedTargets);
  if (!path_style && /^[0-9.]+$|^\[/.test(read.hostname))
    throw ApiError.invalid('/path_style', 'must be true: the host of url is an address');
  if (!path_style && withBucketInHost(url, bucket) === null)
    throw ApiError.invalid('/path_style', 'must be true: bucket and the host of url make no host name');
  return { url, bucket, region, prefix, path_style: path_style ? 1 : 0, access_key_id };
}

/** The stored secret goes to no other host. @throws ApiError INVALID_PARAMETER */
function keptSecret(
  before: RecordingStorageRow | undefined,
  { url }: StorageSettings,
  { secrets }: RecordingsDeps,
): string {
  if (before && new URL(before.url).host === new URL(url).host) return secretOf(before, secrets);
  throw ApiError.invalid('/secret_access_key', 'required: none is stored for this host');
}

function view(state: StorageState | null): RecordingStorageView | null {
  if (state === null) return null;
  const { url, bucket, region, prefix, path_style, access_key_id, created_at, last_error, last_error_at } =
    state.row;
  return {
    url,
    bucket,
    region,
    prefix,
    path_style: path_style === 1,
    access_key_id,
    created_at,
    waiting: state.waiting,
    last_error,
    last_error_at,
  };
}
