/** Where recordings are stored outside of the deployment (contract 9.7). */
import { type Static, Type } from 'typebox';
import { Closed, Iso, Matching, Nullable, OneOf, Plain, Text } from '#shared/api/common.ts';

const Optional = Type.Optional;
const text = Type.String();

export const RecordingStorage = Closed({
  url: Text(1, 2048, 'An https:// URL'),
  bucket: Matching('^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$', '3 to 63 lower-case letters, digits, . and -'),
  region: Optional(Matching('^[a-z0-9-]{1,64}$', '1 to 64 lower-case letters, digits and -')),
  prefix: Optional(
    Matching(
      '^(?:[A-Za-z0-9_-]{1,64}/){0,4}$',
      'at most 4 names of letters, digits, _ and -, each followed by /',
    ),
  ),
  path_style: Optional(Type.Boolean({ description: 'false: the bucket is part of the host name' })),
  access_key_id: Matching('^[\\x21-\\x7e]{1,128}$', '1 to 128 characters without spaces'),
  /** Omitted: as before. */
  secret_access_key: Optional(Matching('^[\\x21-\\x7e]{1,256}$', '1 to 256 characters without spaces')),
});
export type RecordingStorage = Static<typeof RecordingStorage>;

const View = Type.Object({
  url: text,
  bucket: text,
  region: text,
  prefix: text,
  path_style: Type.Boolean(),
  access_key_id: text,
  created_at: Iso(),
  waiting: Type.Integer({ description: 'Recordings that are complete and not in it yet' }),
  last_error: Nullable(Type.String({ description: 'Of the last attempt, when it failed' })),
  last_error_at: Nullable(Iso()),
});
export type RecordingStorageView = Static<typeof View>;

const Former = Type.Object({
  url: text,
  bucket: text,
  prefix: text,
  access_key_id: text,
  recordings: Type.Integer({ description: 'Recordings that are in it, or are to be deleted there' }),
  last_error: Nullable(Type.String({ description: 'Of the last attempt, when it failed' })),
  last_error_at: Nullable(Iso()),
});
export const RecordingStorageAnswer = Plain(
  Type.Object({
    storage: Nullable(View),
    former: Type.Array(Former, {
      maxItems: 20,
      description: 'Storages before it with recordings in them, the latest first; at most 20',
    }),
  }),
);

const Trial = Type.Object({
  ok: Type.Boolean(),
  failed: Nullable(OneOf(['write', 'read', 'multipart', 'delete'])),
  message: Nullable(Type.String({ description: 'What is wrong' })),
});
export type StorageTrial = Static<typeof Trial>;
export const StorageTrialAnswer = Plain(Trial);
