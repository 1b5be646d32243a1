/**
 * Sends what is due, each delivery on its own (contract 13):
 *
 *     stored --due--> attempt --2xx--> delivered
 *                        | ^
 *         anything else  | | 10, 50, 200, 560 s after the first
 *                        v |
 *                     waiting --410, or the fifth failed--> given up
 *
 * The state is in the database, so deliveries outlive a restart; one that was on its way then is sent again.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Timer } from '#shared/clock.ts';
import { callView } from '../calls/rules.ts';
import { findCall, findTranscript } from '../calls/store.ts';
import type { SecretBox } from '../db/secrets.ts';
import type { Db, WebhookDeliveryRow } from '../db/tables.ts';
import { findOrganization, signingSecretContext } from '../organizations/store.ts';
import type { Services } from '../services.ts';
import { type PostParts, post } from './post.ts';
import { nextAttempt, verdictOf, webhookHeaders } from './rules.ts';
import { callCompleted, dueDeliveries, nextDue, updateDelivery, webhookSubject } from './store.ts';

/** On their way at the same time, of all organizations and of one, so that none holds up the others. */
const mostRunning = 64;
const mostPerOrganization = 8;
/** After a failure of the database, ms. */
const pauseMs = 5_000;

export interface DeliveryParts extends PostParts {
  readonly db: Db;
  readonly secrets: SecretBox;
  readonly announcements: Services['announcements'];
  readonly log: FastifyBaseLogger;
  /** 0..1 */
  readonly random?: () => number;
  /** Called after each attempt. */
  readonly onAttempt?: (outcome: 'delivered' | 'again' | 'stopped') => void;
}

export class WebhookDeliveries {
  readonly #parts: DeliveryParts;
  readonly #running = new Map<string, { orgId: string; done: Promise<void> }>();
  readonly #ending = new AbortController();
  readonly #stopListening: () => void;
  #look: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;

  /** Begins at once with what is due. */
  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#stopListening = parts.announcements.on(webhookSubject, () => this.#wake());
    this.#wake();
  }

  /** Breaks off what is on its way; it is sent again after the next start. */
  async close(): Promise<void> {
    this.#ending.abort(new Error('the control plane is ending'));
    this.#stopListening();
    this.#timer?.cancel();
    await this.#look;
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  #wake(): void {
    this.#look = this.#look
      .then(() => this.#begin())
      .catch((error: unknown) => {
        this.#parts.log.error({ err: error }, 'webhook deliveries could not be read');
        this.#wakeAfter(pauseMs);
      });
  }

  #wakeAfter(ms: number): void {
    if (this.#ending.signal.aborted) return;
    this.#timer?.cancel();
    this.#timer = this.#parts.clock.after(ms, () => this.#wake());
  }

  async #begin(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const { clock, db } = this.#parts;
    const now = new Date(clock.now()).toISOString();
    for (;;) {
      const free = mostRunning - this.#running.size;
      const without = { ids: [...this.#running.keys()], organizations: this.#fullOrganizations() };
      const due = free > 0 ? await dueDeliveries(db, now, without, free) : [];
      if (due.length === 0) break;
      for (const row of due) if (!this.#fullOrganizations().includes(row.org_id)) this.#run(row);
    }
    const next = await nextDue(db, now);
    if (next !== null) this.#wakeAfter(Date.parse(next) - clock.now());
  }

  #run(row: WebhookDeliveryRow): void {
    const done = this.#attempt(row).finally(() => {
      this.#running.delete(row.id);
      this.#wake();
    });
    this.#running.set(row.id, { orgId: row.org_id, done });
  }

  /** Organizations that may not have more on their way. */
  #fullOrganizations(): string[] {
    const byOrganization = Map.groupBy(this.#running.values(), ({ orgId }) => orgId);
    return [...byOrganization]
      .filter(([, running]) => running.length >= mostPerOrganization)
      .map(([orgId]) => orgId);
  }

  async #attempt(row: WebhookDeliveryRow): Promise<void> {
    try {
      await this.#send(row);
    } catch (error) {
      this.#parts.log.error({ err: error, webhook: row.id }, 'webhook could not be handled');
      // The row is still due; without a pause it would be taken up again at once.
      const later = new Date(this.#parts.clock.now() + pauseMs).toISOString();
      await updateDelivery(this.#parts.db, row.id, { next_attempt_at: later }).catch(() => undefined);
    }
  }

  async #send(row: WebhookDeliveryRow): Promise<void> {
    const { clock, db, log, secrets, random = Math.random } = this.#parts;
    const body = row.body ?? (await this.#bodyOf(row));
    if (body === null)
      return updateDelivery(db, row.id, { next_attempt_at: null, last_error: 'nothing to send' });
    const { signing_secret } = await findOrganization(db, row.org_id);
    const secret = secrets.open(signing_secret, signingSecretContext(row.org_id));
    const began = clock.now();
    const headers = webhookHeaders({ id: row.id, type: row.type, body }, secret, began);
    const result = await post(this.#parts, row.url, headers, body, this.#ending.signal);
    if (this.#ending.signal.aborted) return;
    const verdict = verdictOf(result);
    const first = row.first_attempt_at === null ? began : Date.parse(row.first_attempt_at);
    const attempts = row.attempts + 1;
    const next = verdict === 'again' ? nextAttempt(attempts, first, random()) : null;
    await updateDelivery(db, row.id, {
      body,
      attempts,
      first_attempt_at: new Date(first).toISOString(),
      next_attempt_at: next === null ? null : new Date(Math.max(next, clock.now())).toISOString(),
      delivered_at: verdict === 'delivered' ? new Date(clock.now()).toISOString() : null,
      last_status: 'status' in result ? result.status : null,
      last_error: 'error' in result ? result.error : null,
    });
    this.#parts.onAttempt?.(verdict);
    const facts = { webhook: row.id, org_id: row.org_id, type: row.type, attempts, ...result };
    if (verdict === 'delivered') log.info(facts, 'webhook delivered');
    else log.warn({ ...facts, next_attempt_at: next }, next === null ? 'webhook given up' : 'webhook failed');
  }

  /** Null when what it is about is gone. */
  async #bodyOf(row: WebhookDeliveryRow): Promise<string | null> {
    const { clock, db } = this.#parts;
    if (row.type !== callCompleted) return null;
    const call = await findCall(db, row.org_id, row.subject_id);
    return call ? JSON.stringify(callView(call, await findTranscript(db, call.id), clock.now())) : null;
  }
}
