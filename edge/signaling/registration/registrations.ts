/**
 * All registrations of the edge, according to the configuration. Records that register the same user with the
 * same password at the same registrar share one binding and its state.
 *
 * A removed registration is first un-registered and only then replaced: the registrar knows us by one Contact,
 * and a late un-REGISTER would remove the new binding.
 */
import type { Timer } from '#shared/clock.ts';
import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import type { RegistrationState } from '#shared/edge-protocol/reports.ts';
import { isSameHost, plainAddress, plainHost } from '#shared/networks.ts';
import type { Environment } from '../srf/environment.ts';
import type { Exchange } from '../srf/exchange.ts';
import type { BindingState } from './binding-state.ts';
import { RefusalBudget } from './refusal-budget.ts';
import { noRefusals, type RefusalStore, type RefusedRegistration } from './refused-registrations.ts';
import type { RegistrarTargets } from './register-exchange.ts';
import { type Registrar, registrarHostPort } from './register-request.ts';
import { Registration, type RegistrationSettings } from './registration.ts';

/** What signaling needs from the edge to register. */
export interface RegistrarAccess {
  /** Where a registrar can be reached (RFC 3263, contract 1.9). Never rejects. */
  readonly resolve: (host: string, port: number) => Promise<RegistrarTargets>;
  /** @param orderId of the order whose outcome this is */
  readonly report: (trunkId: string, state: RegistrationState, orderId?: string) => void;
  readonly settings: RegistrationSettings;
  /** Stores rejections over a restart; absent: nothing is stored. */
  readonly refusals?: RefusalStore;
  /** An opaque name of a registration, stable across restarts; passwords cannot be guessed from it. */
  readonly nameOf?: (key: string) => string;
}

export interface RegistrationsOptions extends RegistrarAccess {
  readonly environment: Pick<
    Environment,
    'clock' | 'log' | 'random' | 'publicAddress' | 'software' | 'engineIsEmbedded'
  >;
  readonly exchange: Exchange;
}

interface Binding {
  readonly key: string;
  readonly registrar: Registrar;
  readonly registration: Registration;
  /** The records that share it. Those of an ending binding are notified of its end. */
  readonly trunkIds: Set<string>;
  /** For its scheduled start. */
  turn: Timer | null;
  reported: BindingState;
  /** The stored rejection; null: none. */
  kept: RefusedRegistration | null;
}

export class Registrations {
  readonly #options: RegistrationsOptions;
  readonly #bindings = new Map<string, Binding>();
  readonly #ending = new Set<Binding>();
  /** Key of the binding of each record. */
  readonly #keys = new Map<string, string>();
  /** When the record of each binding was last changed, as reported by control; null: not reported. */
  #changedAt: ReadonlyMap<string, string | null> = new Map();
  /** When the records of each binding were last changed, combined into one text. */
  #marks: ReadonlyMap<string, string> = new Map();
  readonly #refusals: RefusalStore;
  readonly #budget: RefusalBudget;
  #engineUp = false;
  #closed = false;
  /** The first configuration has been applied: later records were attached or changed while the edge was running. */
  #following = false;
  /** When the next registration may start, on the clock's elapsed time. */
  #nextTurnAt = 0;
  #successes = 0;
  #failures = 0;

  constructor(options: RegistrationsOptions) {
    this.#options = options;
    this.#refusals = options.refusals ?? noRefusals;
    this.#budget = new RefusalBudget(options.environment.clock);
  }

  /**
   * Registers what is configured and un-registers what no longer is. Records in the first configuration were set
   * up earlier: a restart of the edge does not restart their frequent retries.
   */
  follow(numbers: readonly RegisteringNumber[]): void {
    if (this.#closed) return;
    const wanted = wantedBy(numbers);
    this.#marks = marksOf(wanted);
    if (!this.#following) this.#refusals.keepOnly([...this.#marks.keys()].map((key) => this.#nameOf(key)));
    const gone = [...this.#keys].filter(([trunkId]) => !wanted.has(trunkId));
    for (const [trunkId, key] of gone) this.#leave(trunkId, key, true);
    for (const [trunkId, { registrar, changedAt, orgId }] of wanted) {
      const key = keyOf(registrar);
      const before = this.#keys.get(trunkId);
      if (before === key) {
        if (isLater(changedAt, this.#changedAt.get(trunkId)))
          this.#bindings.get(key)?.registration.setUpAgain();
        continue;
      }
      if (before !== undefined) this.#leave(trunkId, before, false);
      this.#join(trunkId, key, registrar, orgId);
    }
    this.#changedAt = new Map([...wanted].map(([trunkId, { changedAt }]) => [trunkId, changedAt]));
    this.#following = true;
  }

  /**
   * Tries a record's registration now; the outcome is reported with `orderId`.
   * @throws Error when there is nothing to try
   */
  tryNow(trunkId: string, orderId: string): void {
    const binding = this.#bindings.get(this.#keys.get(trunkId) ?? '');
    if (!binding) throw new Error('this edge has no registration for the record');
    if (!this.#engineUp) throw new Error('the SIP engine of the edge is not running');
    binding.registration.tryNow(() => this.#report(binding, trunkId, binding.registration.state, orderId));
  }

  /** Whether the registrar at this address has granted the record's binding, even if it has since expired. */
  isBoundAt(trunkId: string, address: string): boolean {
    const binding = this.#bindings.get(this.#keys.get(trunkId) ?? '');
    const boundAt = binding?.registration.boundAt ?? null;
    return boundAt !== null && plainAddress(boundAt) === plainAddress(address);
  }

  /** The engine is up: everything registers, one after another. */
  engineUp(): void {
    this.#engineUp = true;
    for (const binding of this.#bindings.values()) this.#takeTurn(binding);
  }

  engineLost(): void {
    this.#engineUp = false;
    for (const binding of [...this.#bindings.values(), ...this.#ending]) {
      binding.turn?.cancel();
      binding.turn = null;
      binding.registration.engineLost();
    }
  }

  /** Un-registers everything. Resolves when done, at the latest after the timeout of one request. */
  async end(): Promise<void> {
    this.#closed = true;
    for (const binding of [...this.#bindings.values()]) this.#end(binding);
    await Promise.all([...this.#ending].map((binding) => this.#gone(binding)));
  }

  /** Drops everything without sending or reporting. */
  close(): void {
    this.#closed = true;
    for (const binding of [...this.#bindings.values()]) this.#end(binding);
    for (const binding of [...this.#ending]) binding.registration.engineLost();
    this.#refusals.close();
  }

  /** By Prometheus name. */
  metrics(): Record<string, number> {
    const count = { registering: 0, registered: 0, failed: 0, ended: 0 };
    for (const { registration } of this.#bindings.values()) count[registration.state.state] += 1;
    return {
      'trunkline_edge_registrations{state="registering"}': count.registering,
      'trunkline_edge_registrations{state="registered"}': count.registered,
      'trunkline_edge_registrations{state="failed"}': count.failed,
      'trunkline_edge_registrations_total{result="success"}': this.#successes,
      'trunkline_edge_registrations_total{result="failure"}': this.#failures,
    };
  }

  #join(trunkId: string, key: string, registrar: Registrar, orgId: string): void {
    this.#keys.set(trunkId, key);
    const known = this.#bindings.get(key);
    if (known && this.#following) known.registration.setUpAgain();
    const binding = known ?? this.#open(key, registrar, orgId);
    binding.trunkIds.add(trunkId);
    this.#report(binding, trunkId);
  }

  /** @param over whether the record no longer registers at all, as opposed to elsewhere */
  #leave(trunkId: string, key: string, over: boolean): void {
    this.#keys.delete(trunkId);
    const binding = this.#bindings.get(key);
    if (!binding) return;
    const isShared = binding.trunkIds.size > 1;
    // The last record of a binding is notified once the binding has ended.
    if (isShared || !over) binding.trunkIds.delete(trunkId);
    if (!isShared) this.#end(binding);
    else if (over) {
      this.#report(binding, trunkId, { ...binding.registration.state, state: 'ended', expiresAt: null });
    }
  }

  #open(key: string, registrar: Registrar, orgId: string): Binding {
    const { environment, exchange, resolve, settings } = this.#options;
    const { host, port, username } = registrar;
    const registration = new Registration({
      environment,
      log: environment.log.child({ registrar: registrarHostPort(registrar), username }),
      registrar,
      exchange,
      resolve: () => resolve(host, port),
      settings,
      budget: this.#budget.shareOf(JSON.stringify([orgId, plainHost(host)])),
      setUp: this.#following,
      // Records attached or changed while the edge runs are tried at once.
      refused: this.#following
        ? null
        : this.#refusals.refusalOf(this.#nameOf(key), this.#marks.get(key) ?? ''),
      changed: () => this.#changed(binding),
    });
    const trunkIds = new Set<string>();
    const binding: Binding = {
      key,
      registrar,
      registration,
      trunkIds,
      turn: null,
      reported: registration.state,
      kept: registration.refused,
    };
    this.#bindings.set(key, binding);
    this.#takeTurn(binding);
    return binding;
  }

  /** Spreads the start of thousands of registrations. */
  #takeTurn(binding: Binding): void {
    const inTheWay = [...this.#ending].some((other) => isSameUser(other.registrar, binding.registrar));
    if (!this.#engineUp || inTheWay || binding.turn) return;
    const { environment, settings } = this.#options;
    const now = environment.clock.elapsed();
    const at = Math.max(now, this.#nextTurnAt);
    this.#nextTurnAt = at + 1000 / settings.perSecond;
    binding.turn = environment.clock.after(at - now, () => {
      binding.turn = null;
      binding.registration.start();
    });
  }

  /** Stores what a later start must know about a rejection. */
  #keepRefusal(binding: Binding): void {
    const { refused } = binding.registration;
    if (refused === binding.kept) return;
    binding.kept = refused;
    const name = this.#nameOf(binding.key);
    if (refused) this.#refusals.keep(name, this.#marks.get(binding.key) ?? '', refused);
    else this.#refusals.forget(name);
  }

  #nameOf(key: string): string {
    return this.#options.nameOf?.(key) ?? key;
  }

  #end(binding: Binding): void {
    this.#bindings.delete(binding.key);
    // A shutdown of the edge does not end the rejection.
    if (!this.#closed) this.#refusals.forget(this.#nameOf(binding.key));
    binding.turn?.cancel();
    this.#ending.add(binding);
    binding.registration.end(this.#options.settings.timeoutMs, () => {
      this.#ending.delete(binding);
      for (const other of this.#bindings.values()) {
        if (isSameUser(other.registrar, binding.registrar)) this.#takeTurn(other);
      }
    });
  }

  #gone(binding: Binding): Promise<void> {
    return new Promise((resolve) => binding.registration.end(0, resolve));
  }

  #changed(binding: Binding): void {
    const { state } = binding.registration;
    const { reported } = binding;
    if (!this.#closed && this.#bindings.get(binding.key) === binding) this.#keepRefusal(binding);
    if (state.state === 'registered') this.#successes++;
    if (state.state === 'failed') this.#failures++;
    if (!this.#isNews(reported, state)) return;
    binding.reported = state;
    const { log } = this.#options.environment;
    for (const trunkId of binding.trunkIds) {
      if (reported.state !== state.state) {
        const facts = {
          trunk_id: trunkId,
          registrar: registrarHostPort(binding.registrar),
          sip_status: state.sipCode,
        };
        log.info({ ...facts, state: state.state, error: state.lastError }, 'registration');
      }
      this.#report(binding, trunkId);
    }
  }

  /**
   * A refresh is reported once half of the reported time has passed; otherwise short ones would be reported every
   * time.
   */
  #isNews(before: BindingState, now: BindingState): boolean {
    if (before.state !== now.state || before.sipCode !== now.sipCode) return true;
    if (before.lastError !== now.lastError || before.nextTryAt !== now.nextTryAt) return true;
    if (before.expiresAt === null || now.expiresAt === null) return before.expiresAt !== now.expiresAt;
    const present = this.#options.environment.clock.now();
    return before.expiresAt - present < (now.expiresAt - present) / 2;
  }

  #report(
    binding: Binding,
    trunkId: string,
    state = binding.registration.state,
    orderId: string | undefined = undefined,
  ): void {
    const iso = (ms: number): string => new Date(ms).toISOString();
    const report = {
      state: state.state,
      registrar: registrarHostPort(binding.registrar),
      at: iso(this.#options.environment.clock.now()),
      expires_at: state.expiresAt === null ? null : iso(state.expiresAt),
      next_try_at: state.nextTryAt === null ? null : iso(state.nextTryAt),
      sip_code: state.sipCode,
      last_error: state.lastError,
    };
    if (orderId === undefined) this.#options.report(trunkId, report);
    else this.#options.report(trunkId, report, orderId);
  }
}

type RegisteringNumber = Pick<NumberConfig, 'inbound' | 'org_id'>;

interface Wanted {
  readonly orgId: string;
  readonly registrar: Registrar;
  readonly changedAt: string | null;
}

/** The registrars of the registering records, by record. */
function wantedBy(numbers: readonly RegisteringNumber[]): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  const records = numbers.flatMap(({ org_id, inbound }) =>
    inbound.map((record) => ({ ...record, orgId: org_id })),
  );
  for (const { id, auth_mode, orgId, registration } of records) {
    if (auth_mode !== 'register' || !registration) continue;
    const { host, port, username, password, expires_s, changed_at = null } = registration;
    const registrar = { host, port, username, password, expiresS: expires_s };
    wanted.set(id, { registrar, changedAt: changed_at, orgId });
  }
  return wanted;
}

/** When the records of each binding were last changed, by the binding's key. */
function marksOf(wanted: ReadonlyMap<string, Wanted>): Map<string, string> {
  const byKey = Map.groupBy(wanted, ([, { registrar }]) => keyOf(registrar));
  return new Map(
    [...byKey].map(([key, records]) => [
      key,
      JSON.stringify(records.map(([trunkId, { changedAt }]) => [trunkId, changedAt]).toSorted()),
    ]),
  );
}

/** A previously unknown time means nothing: the control plane has just started to report it. */
function isLater(changedAt: string | null, before: string | null | undefined): boolean {
  return changedAt !== null && before !== null && before !== undefined && changedAt !== before;
}

function keyOf({ host, port, username, password, expiresS }: Registrar): string {
  return JSON.stringify([plainHost(host), port, username, password, expiresS]);
}

function isSameUser(one: Registrar, other: Registrar): boolean {
  return isSameHost(one.host, other.host) && one.port === other.port && one.username === other.username;
}
