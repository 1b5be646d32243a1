/**
 * All registrations of the edge, according to the configuration. Records that register the same user with the
 * same password at the same registrar share one binding and its state.
 *
 * A removed registration is first un-registered and only then replaced: the registrar knows us by one Contact,
 * and a late un-REGISTER would remove the new binding.
 *
 * A record that another edge of the fleet is to register is handed over: its binding is kept here until that edge is
 * registered.
 */
import type { Timer } from '#shared/clock.ts';
import type { LearnedRegistration } from '#shared/edge-protocol/fleet.ts';
import { plainAddress, plainHost } from '#shared/networks.ts';
import { isNews, reportOf } from './binding-report.ts';
import type { BindingState } from './binding-state.ts';
import { FleetRegistrations, refusalReport } from './fleet-registrations.ts';
import { RefusalBudget } from './refusal-budget.ts';
import { noRefusals, type RefusalStore, type RefusedRegistration } from './refused-registrations.ts';
import { type Registrar, registrarHostPort } from './register-request.ts';
import type { RegistrationsOptions } from './registrar-access.ts';
import { Registration } from './registration.ts';
import {
  isLater,
  isSameUser,
  keyOf,
  marksOf,
  type RegisteringNumber,
  type Wanted,
  wantedBy,
} from './wanted.ts';

interface Binding {
  readonly key: string;
  readonly registrar: Registrar;
  readonly registration: Registration;
  /** The records that share it. Those of an ending binding are notified of its end. */
  readonly trunkIds: Set<string>;
  /** For its scheduled start. */
  turn: Timer | null;
  reported: BindingState;
  /** What other edges were told last; null: nothing. */
  told: string | null;
  /** The stored rejection; null: none. */
  kept: RefusedRegistration | null;
}

export class Registrations {
  readonly #options: RegistrationsOptions;
  readonly #bindings = new Map<string, Binding>();
  readonly #ending = new Set<Binding>();
  /** Key of the binding of each record. */
  readonly #keys = new Map<string, string>();
  /** Records with a binding that other edges are to register. */
  readonly #handed = new Set<string>();
  readonly #fleet: FleetRegistrations;
  #numbers: readonly RegisteringNumber[] = [];
  /** The configured records, those of other edges included. */
  #configured: ReadonlyMap<string, Wanted> = new Map();
  /** When the records of each binding were last changed, combined into one text. */
  #marks: ReadonlyMap<string, string> = new Map();
  readonly #refusals: RefusalStore;
  readonly #budget: RefusalBudget;
  /** Called when the last binding is gone. */
  #whenEmpty: (() => void) | null = null;
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
    this.#fleet = new FleetRegistrations(options.fleet ?? null);
  }

  /**
   * Registers what is configured and un-registers what no longer is. Records in the first configuration were set
   * up earlier: a restart of the edge does not restart their frequent retries.
   */
  follow(numbers: readonly RegisteringNumber[]): void {
    if (this.#closed) return;
    this.#numbers = numbers;
    const configured = wantedBy(numbers);
    this.#marks = marksOf(configured);
    this.#fleet.keepOnly((trunkId) => configured.has(trunkId));
    if (!this.#following) this.#refusals.keepOnly([...this.#marks.keys()].map((key) => this.#nameOf(key)));
    for (const [trunkId, key] of [...this.#keys]) {
      const wanted = configured.get(trunkId);
      if (!wanted && !this.#handed.has(trunkId)) this.#leave(trunkId, key, true);
      else if (wanted && this.#isOurs(wanted)) continue;
      else if (wanted && keyOf(wanted.registrar) === key) this.#handOver(trunkId, key);
      else this.#release(trunkId, key, false);
    }
    for (const [trunkId, wanted] of configured) {
      if (!this.#isOurs(wanted)) continue;
      const key = keyOf(wanted.registrar);
      const before = this.#keys.get(trunkId);
      const isBack = this.#handed.delete(trunkId);
      if (before === key) {
        if (isLater(wanted.changedAt, this.#configured.get(trunkId)?.changedAt))
          this.#bindings.get(key)?.registration.setUpAgain();
        const binding = this.#bindings.get(key);
        if (isBack && binding) this.#report(binding, trunkId, { changed: true });
        continue;
      }
      if (before !== undefined) this.#leave(trunkId, before, false);
      this.#join(trunkId, key, wanted);
    }
    this.#configured = configured;
    this.#following = true;
  }

  /**
   * The fleet has changed: this edge takes over registrations, or hands them over.
   * @param isBack others have registered for this edge meanwhile: they give that up when they hear of its registrations
   */
  reassigned(isBack: boolean): void {
    if (!this.#following) return;
    this.follow(this.#numbers);
    if (!isBack) return;
    for (const binding of this.#bindings.values())
      for (const trunkId of binding.trunkIds) this.#report(binding, trunkId, { changed: true });
  }

  /** Other edges have reported their registrations. */
  learned(registrations: readonly LearnedRegistration[]): void {
    for (const registration of registrations) {
      const { trunk_id: trunkId } = registration;
      if (!this.#configured.has(trunkId)) continue;
      const theirs = this.#fleet.learn(registration);
      const key = this.#keys.get(trunkId);
      if (theirs !== null && key !== undefined && this.#handed.has(trunkId)) {
        this.#release(trunkId, key, theirs === 'replaced');
      }
    }
  }

  /** Resolves when other edges have taken over everything, at the latest after `ms`. */
  async handedOver(ms: number): Promise<void> {
    if (this.#bindings.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.environment.clock.after(ms, resolve);
    this.#whenEmpty = resolve;
    await promise;
    timer.cancel();
    this.#whenEmpty = null;
  }

  /**
   * Tries a record's registration now; the outcome is reported with `orderId`.
   * @throws Error when there is nothing to try
   */
  tryNow(trunkId: string, orderId: string): void {
    const binding = this.#bindings.get(this.#keys.get(trunkId) ?? '');
    if (!binding || this.#handed.has(trunkId))
      throw new Error('this edge has no registration for the record');
    if (!this.#engineUp) throw new Error('the SIP engine of the edge is not running');
    binding.registration.tryNow(() => this.#report(binding, trunkId, { orderId }));
  }

  /** Whether the registrar at this address has granted the record's binding, even if it has since expired. */
  isBoundAt(trunkId: string, address: string): boolean {
    const binding = this.#bindings.get(this.#keys.get(trunkId) ?? '');
    const boundAt = binding?.registration.boundAt ?? this.#fleet.boundAt(trunkId);
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
  async close(): Promise<void> {
    this.#closed = true;
    for (const binding of [...this.#bindings.values()]) this.#end(binding);
    for (const binding of [...this.#ending]) binding.registration.engineLost();
    await this.#refusals.close();
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

  #isOurs({ orgId, registrar }: Wanted): boolean {
    return this.#fleet.isOurs(orgId, registrar.host);
  }

  #join(trunkId: string, key: string, wanted: Wanted): void {
    this.#keys.set(trunkId, key);
    const before = this.#configured.get(trunkId);
    const isSetUp = this.#following && (!before || keyOf(before.registrar) !== key);
    const known = this.#bindings.get(key);
    if (known && isSetUp) known.registration.setUpAgain();
    const binding = known ?? this.#open(trunkId, key, wanted, isSetUp);
    binding.trunkIds.add(trunkId);
    this.#report(binding, trunkId, { changed: true });
  }

  /** Another edge registers the record: its binding stays until that one is registered. */
  #handOver(trunkId: string, key: string): void {
    if (this.#handed.has(trunkId)) return;
    this.#handed.add(trunkId);
    const state = this.#bindings.get(key)?.registration.state.state;
    // Without a binding there is nothing to keep.
    if (state !== 'registered') this.#release(trunkId, key, true);
  }

  /** Gives a record up without a report. @param isReplaced whether an un-REGISTER would remove another edge's binding */
  #release(trunkId: string, key: string, isReplaced: boolean): void {
    this.#handed.delete(trunkId);
    this.#keys.delete(trunkId);
    const binding = this.#bindings.get(key);
    if (!binding) return;
    binding.trunkIds.delete(trunkId);
    if (binding.trunkIds.size > 0) return;
    if (isReplaced) binding.registration.engineLost();
    this.#end(binding);
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
      const state = { ...binding.registration.state, state: 'ended', expiresAt: null } as const;
      this.#report(binding, trunkId, { state, changed: true });
    }
  }

  #open(trunkId: string, key: string, { registrar, orgId, changedAt }: Wanted, isSetUp: boolean): Binding {
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
      setUp: isSetUp,
      // Records attached or changed while the edge runs are tried at once.
      refused: isSetUp ? null : this.#refusalBefore(trunkId, key, changedAt),
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
      told: null,
      kept: registration.refused,
    };
    this.#bindings.set(key, binding);
    this.#takeTurn(binding);
    return binding;
  }

  /** The rejection from before this edge registered: its own, or another edge's. */
  #refusalBefore(trunkId: string, key: string, changedAt: string | null): RefusedRegistration | null {
    const learned = this.#fleet.refusalOf(trunkId, changedAt);
    if (learned || this.#following) return learned;
    return this.#refusals.refusalOf(this.#nameOf(key), this.#marks.get(key) ?? '');
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
    if (this.#bindings.size === 0) this.#whenEmpty?.();
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
    if (!isNews(reported, state, this.#options.environment.clock.now())) return;
    binding.reported = state;
    const told = JSON.stringify([state.state, binding.registration.boundAt, binding.registration.refused]);
    const changed = told !== binding.told;
    binding.told = told;
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
      this.#report(binding, trunkId, { changed });
    }
  }

  #report(
    binding: Binding,
    trunkId: string,
    {
      state = binding.registration.state,
      orderId,
      changed = false,
    }: { state?: BindingState; orderId?: string; changed?: boolean },
  ): void {
    if (this.#handed.has(trunkId)) return;
    const { environment, fleet } = this.#options;
    const { boundAt, refused } = binding.registration;
    const report = {
      ...reportOf(binding.registrar, state, environment.clock.now()),
      ...(fleet && { bound_at: boundAt, refusal: refusalReport(refused), changed }),
    };
    if (orderId === undefined) this.#options.report(trunkId, report);
    else this.#options.report(trunkId, report, orderId);
  }
}
