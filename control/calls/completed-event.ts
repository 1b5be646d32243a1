/**
 * The `call.completed` event: queued with the report that ends a call. Its body is built at the first attempt, because
 * transcript lines may still arrive after the event is stored.
 */
import {
  builtOnce,
  type CallRow,
  type Db,
  insertsMany,
  isAmong,
  type WebhookDeliveryRow,
} from '../db/index.ts';
import { readSettings } from '../numbers/index.ts';
import { waitingDelivery } from '../webhooks/index.ts';
import { callView } from './rules.ts';
import { findCall, findTranscript } from './store.ts';

const callCompleted = 'call.completed';

/** Most octets of transcript JSON in the event; a call shows the transcript three times. */
const sentOctets = 262_144;

/** Builds the body of a delivery stored without one; null: another event, or the call was deleted. @param now ms */
export async function completedBody(
  db: Db,
  { type, org_id, subject_id }: Pick<WebhookDeliveryRow, 'type' | 'org_id' | 'subject_id'>,
  now: number,
): Promise<string | null> {
  if (type !== callCompleted) return null;
  const call = await findCall(db, org_id, subject_id);
  return call ? JSON.stringify(callView(call, await findTranscript(db, call.id, sentOctets), now)) : null;
}

/** What the event depends on, for calls that their edge ends and calls that control closes. */
type EndedCall = Pick<CallRow, 'id' | 'org_id' | 'number' | 'ended_at' | 'parent_id' | 'test_run_id'>;

/**
 * Whether a call has an event of its own. Test calls of trunks have none: no customer agent spoke. The leg to a
 * transfer target belongs to the transferred call, and test runs report their own calls.
 */
function hasOwnEvent({ id, ended_at, parent_id, test_run_id }: EndedCall): boolean {
  return ended_at !== null && !id.startsWith('tc_') && parent_id === null && test_run_id === null;
}

const findStored = builtOnce((db, ids: readonly string[]) =>
  db
    .selectFrom('calls')
    .select(['id', 'ended_at', 'webhook'])
    .where(isAmong(db, 'id', ids)),
);

const findNumbers = builtOnce((db, numbers: readonly string[]) =>
  db
    .selectFrom('numbers')
    .select(['org_id', 'number', 'settings'])
    .where(isAmong(db, 'number', numbers))
    .where('archived_at', 'is', null),
);

const findOrganizations = builtOnce((db, ids: readonly string[]) =>
  db
    .selectFrom('organizations')
    .select(['id', 'event_webhook_url'])
    .where(isAmong(db, 'id', ids)),
);

export const insertDeliveries = insertsMany<WebhookDeliveryRow>(
  'webhook_deliveries',
  {
    id: 'text',
    org_id: 'text',
    type: 'text',
    url: 'text',
    subject_id: 'text',
    body: 'text',
    created_at: 'text',
    first_attempt_at: 'text',
    attempts: 'bigint',
    next_attempt_at: 'text',
    delivered_at: 'text',
    last_status: 'bigint',
    last_error: 'text',
  },
  'ignore',
);

/**
 * To run on ended calls just before they are stored, in their transaction: the first end of each queues `call.completed` to
 * the URL of the call, else of its number, else of the organization. The body is built at the first attempt, so that it
 * has the whole conversation.
 *
 * The event's id is the call's, so a call that was closed because its edge was gone, and then resumed, is announced
 * once.
 * @returns whether any delivery was queued
 */
export async function queueCallsCompleted(
  db: Db,
  ended: readonly EndedCall[],
  now: string,
): Promise<boolean> {
  const own = ended.filter(hasOwnEvent);
  if (own.length === 0) return false;
  const stored = new Map(
    (
      await findStored(
        db,
        own.map(({ id }) => id),
      )
    ).map((row) => [row.id, row]),
  );
  const first = own.filter(({ id }) => (stored.get(id)?.ended_at ?? null) === null);
  const webhookOf = await webhooksOf(
    db,
    first.filter(({ id }) => (stored.get(id)?.webhook ?? null) === null),
  );
  const deliveries = first.flatMap((call) => {
    const { id, org_id: orgId } = call;
    const url = stored.get(id)?.webhook ?? webhookOf(call);
    return url
      ? [waitingDelivery({ id: `evt_${id}`, orgId, type: callCompleted, subjectId: id, url, now })]
      : [];
  });
  return (await insertDeliveries(db, deliveries)) > 0;
}

type Called = Pick<CallRow, 'org_id' | 'number'>;

/** Where events go of calls without a URL of their own. */
async function webhooksOf(db: Db, calls: readonly Called[]): Promise<(call: Called) => string | null> {
  if (calls.length === 0) return () => null;
  const distinct = (values: readonly string[]) => [...new Set(values)];
  const organizations = await findOrganizations(db, distinct(calls.map(({ org_id }) => org_id)));
  const numbers = await findNumbers(db, distinct(calls.map(({ number }) => number)));
  const key = ({ org_id, number }: Called) => `${org_id} ${number}`;
  const ofNumber = new Map(numbers.map((row) => [key(row), readSettings(row.settings).webhook]));
  const ofOrganization = new Map(organizations.map((row) => [row.id, row.event_webhook_url]));
  return (call) => {
    // Of an organization that was deleted nothing is announced.
    const url = ofOrganization.get(call.org_id);
    return url === undefined ? null : (ofNumber.get(key(call)) ?? url);
  };
}
