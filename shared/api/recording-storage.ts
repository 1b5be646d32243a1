/** Where recordings are stored outside of the deployment (contract 9.7). */
import { type Static, Type } from 'typebox';
import { Closed, Iso, Matching, Nullable, OneOf, Plain, Text } from '#shared/api/common.ts';

const Optional = Type.Optional;

export const RecordingStorage = Closed({
  url: Text(1, 2048, 'https:// URL of the server'),
  bucket: Matching('^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$', '3 to 63 lower-case letters, digits, . and -', {
    description: 'Bucket of the server',
  }),
  region: Optional(
    Matching('^[a-z0-9-]{1,64}$', '1 to 64 lower-case letters, digits and -', {
      description: 'Region of the bucket; default: us-east-1',
    }),
  ),
  prefix: Optional(
    Matching(
      '^(?:[A-Za-z0-9_-]{1,64}/){0,4}$',
      'at most 4 names of letters, digits, _ and -, each followed by /',
      { description: 'What object names begin with; default: nothing' },
    ),
  ),
  path_style: Optional(Type.Boolean({ description: 'false: the bucket is part of the host name' })),
  access_key_id: Matching('^[\\x21-\\x7e]{1,128}$', '1 to 128 characters without spaces', {
    description: 'Id of the access key',
  }),

  secret_access_key: Optional(
    Matching('^[\\x21-\\x7e]{1,256}$', '1 to 256 characters without spaces', {
      description: 'Secret of the access key; omitted: as before',
    }),
  ),
});
export type RecordingStorage = Static<typeof RecordingStorage>;

const View = Type.Object({
  url: Type.String({ description: '`https://` URL of the server' }),
  bucket: Type.String({ description: 'Bucket of the server' }),
  region: Type.String({ description: 'Region of the bucket' }),
  prefix: Type.String({ description: 'What object names begin with' }),
  path_style: Type.Boolean({ description: 'false: the bucket is part of the host name' }),
  access_key_id: Type.String({ description: 'Id of the access key' }),
  created_at: Iso('When it was set'),
  waiting: Type.Integer({ description: 'Recordings that are complete and not in it yet' }),
  last_error: Nullable(
    Type.String({ description: 'Of the last attempt, when it failed; null: it succeeded' }),
  ),
  last_error_at: Nullable(Iso(), 'When it failed; null: the last attempt succeeded'),
});
export type RecordingStorageView = Static<typeof View>;

const Former = Type.Object({
  url: Type.String({ description: '`https://` URL of the server' }),
  bucket: Type.String({ description: 'Bucket of the server' }),
  prefix: Type.String({ description: 'What object names begin with' }),
  access_key_id: Type.String({ description: 'Id of the access key' }),
  recordings: Type.Integer({ description: 'Recordings that are in it, or are to be deleted there' }),
  last_error: Nullable(
    Type.String({ description: 'Of the last attempt, when it failed; null: it succeeded' }),
  ),
  last_error_at: Nullable(Iso(), 'When it failed; null: the last attempt succeeded'),
});
export const RecordingStorageAnswer = Plain(
  Type.Object({
    storage: Nullable(View, 'The storage in force; null: recordings stay in the deployment'),
    former: Type.Array(Former, {
      maxItems: 20,
      description: 'Storages before it with recordings in them, the latest first; at most 20',
    }),
  }),
);

const Trial = Type.Object({
  ok: Type.Boolean({ description: 'Whether all steps succeeded' }),
  failed: Nullable(OneOf(['write', 'read', 'multipart', 'delete']), 'Step that failed; null: none did'),
  message: Nullable(Type.String({ description: 'What is wrong; null: nothing' })),
});
export type StorageTrial = Static<typeof Trial>;
export const StorageTrialAnswer = Plain(Trial);
