/**
 * Bodies that are made at the first attempt, because what they show may still arrive when the event is stored.
 * Events of other types are stored with their body (`queueEvent`).
 */
import { callView } from '../calls/rules.ts';
import { findCall, findTranscript } from '../calls/store.ts';
import type { Db, WebhookDeliveryRow } from '../db/tables.ts';
import { callCompleted } from './store.ts';

type MakeBody = (
  db: Db,
  row: Pick<WebhookDeliveryRow, 'org_id' | 'subject_id'>,
  now: number,
) => Promise<string | null>;

/** Of what was said in a call, octets of JSON; a call shows it three times. */
const sentOctets = 262_144;

const lateBodies: ReadonlyMap<string, MakeBody> = new Map([
  [
    callCompleted,
    async (db, { org_id, subject_id }, now) => {
      const call = await findCall(db, org_id, subject_id);
      return call ? JSON.stringify(callView(call, await findTranscript(db, call.id, sentOctets), now)) : null;
    },
  ],
]);

/** Null when what the event is about is gone. @param now ms */
export async function lateBody(db: Db, row: WebhookDeliveryRow, now: number): Promise<string | null> {
  return (await lateBodies.get(row.type)?.(db, row, now)) ?? null;
}
