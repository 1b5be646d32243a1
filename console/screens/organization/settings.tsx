/** The settings of the organization; each part is saved alone, so that none overwrites what it does not show. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { type Answer, request } from '../../api/client.ts';
import { session } from '../../api/session.ts';
import { AskedButton } from '../../parts/asked-button.tsx';
import { CopiedText } from '../../parts/copied.tsx';
import { linesOf } from '../../parts/format.ts';
import { useLoaded } from '../../parts/load.ts';
import { Facts, LoadState, Screen } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { useTitle } from '../../parts/title.ts';
import { organization } from '../../text/organization.ts';
import { priceLines, pricesOf } from './prices.ts';

type Settings = Answer<'GET /v1/org/settings'>['data'];
type Change = Parameters<typeof request<'PATCH /v1/org/settings'>>[1]['body'];

const words = organization.settings;

export function OrganizationSettings() {
  useTitle(words.title);
  const loaded = useLoaded(
    'settings',
    async (signal) => (await request('GET /v1/org/settings', { signal })).data,
    usual,
  );
  const { data } = loaded;
  const isAdmin = session.value?.role === 'admin';
  const save = async (change: Change) => {
    await request('PATCH /v1/org/settings', { body: change });
    loaded.reload();
  };
  return (
    <Screen title={data?.name ?? words.title}>
      <LoadState of={loaded} />
      {data && (
        <>
          <SettingFacts settings={data} />
          {!isAdmin && <p class="quiet">{words.onlyAdmins}</p>}
          {isAdmin && (
            <>
              <Alerts settings={data} save={save} />
              <Webhooks settings={data} save={save} />
              <Limits settings={data} save={save} />
              <Prices settings={data} save={save} />
              <Terms settings={data} save={save} />
            </>
          )}
        </>
      )}
    </Screen>
  );
}

function SettingFacts({ settings }: { settings: Settings }) {
  const { facts } = words;
  const { concurrent, per_minute } = settings.call_ceiling;
  const number = (value: number | null) => value?.toLocaleString() ?? words.noLimit;
  return (
    <Facts
      rows={[
        [facts.id, <code key="id">{settings.org_id}</code>],
        [facts.region, settings.region],
        [facts.sip, settings.sip_enabled ? facts.on : facts.off],
        [facts.ceiling, words.ceiling(number(concurrent), number(per_minute))],
        [facts.recording, settings.recording?.mode ?? words.none],
        [facts.realtime, settings.realtime.map(({ name }) => name).join(', ') || words.none],
        [facts.pronunciations, settings.pronunciations.length],
      ]}
    />
  );
}

interface PartProps {
  readonly settings: Settings;
  readonly save: (change: Change) => Promise<void>;
}

function Part(props: {
  id: string;
  title: string;
  run: (form: FormData) => Promise<void>;
  children: ComponentChildren;
  after?: ComponentChildren;
}) {
  const saved = useSignal(false);
  const run = async (form: FormData) => {
    saved.value = false;
    await props.run(form);
    saved.value = true;
  };
  return (
    <section class="card" aria-labelledby={`${props.id}-title`}>
      <h2 id={`${props.id}-title`}>{props.title}</h2>
      <Form class="stacked" submit={words.save} run={run} label={props.title}>
        {props.children}
      </Form>
      <p role="status" class="quiet">
        {saved.value && words.saved}
      </p>
      {props.after}
    </section>
  );
}

function Lines(props: { name: string; label: string; lines: readonly string[]; hint?: string }) {
  return (
    <label>
      {props.label}
      <textarea name={props.name} rows={3} defaultValue={props.lines.join('\n')} />
      <small class="quiet">{props.hint ?? words.perLine}</small>
    </label>
  );
}

function Alerts({ settings, save }: PartProps) {
  const run = (form: FormData) =>
    save({
      alert_emails: linesOf(textOf(form, 'emails')),
      alert_sms_numbers: linesOf(textOf(form, 'numbers')),
    });
  return (
    <Part id="alerts" title={words.alerts.title} run={run}>
      <Lines name="emails" label={words.alerts.emails} lines={settings.alert_emails} />
      <Lines name="numbers" label={words.alerts.numbers} lines={settings.alert_sms_numbers} />
    </Part>
  );
}

function Webhooks({ settings, save }: PartProps) {
  const secret = useSignal<string | null>(null);
  const run = (form: FormData) => save({ event_webhook_url: textOf(form, 'url') || null });
  const renew = async () => {
    secret.value = (await request('POST /v1/org/webhook-secret', {})).data.secret;
  };
  return (
    <Part
      id="webhooks"
      title={words.webhook.title}
      run={run}
      after={
        <>
          {secret.value && (
            <>
              <p class="note warn">{words.webhook.secretOnce}</p>
              <CopiedText text={secret.value} name={words.webhook.secretTitle} />
            </>
          )}
          <div>
            <AskedButton words={words.webhook.renew} name="" run={renew} />
          </div>
        </>
      }
    >
      <label>
        {words.webhook.url}
        <input
          name="url"
          type="url"
          placeholder="https://hooks.example.com/trunkline"
          defaultValue={settings.event_webhook_url ?? ''}
        />
      </label>
    </Part>
  );
}

function Limits({ settings: { call_limits: limits }, save }: PartProps) {
  const number = (form: FormData, name: string) => {
    const given = textOf(form, name);
    return given === '' ? null : Number(given);
  };
  const run = (form: FormData) =>
    save({
      call_limits: {
        concurrent: number(form, 'concurrent'),
        per_minute: number(form, 'per_minute'),
        allowed_prefixes: linesOf(textOf(form, 'allowed')),
        blocked_prefixes: linesOf(textOf(form, 'blocked')),
      },
    });
  return (
    <Part id="limits" title={words.limits.title} run={run}>
      <label>
        {words.limits.concurrent}
        <input name="concurrent" type="number" min="0" defaultValue={String(limits?.concurrent ?? '')} />
      </label>
      <label>
        {words.limits.perMinute}
        <input name="per_minute" type="number" min="0" defaultValue={String(limits?.per_minute ?? '')} />
      </label>
      <Lines
        name="allowed"
        label={words.limits.allowed}
        lines={limits?.allowed_prefixes ?? []}
        hint={words.limits.allowedHint}
      />
      <Lines name="blocked" label={words.limits.blocked} lines={limits?.blocked_prefixes ?? []} />
    </Part>
  );
}

function Prices({ settings: { model_prices: prices }, save }: PartProps) {
  const run = (form: FormData) =>
    save({ model_prices: pricesOf(textOf(form, 'currency'), linesOf(textOf(form, 'models'))) });
  return (
    <Part id="prices" title={words.prices.title} run={run}>
      <label>
        {words.prices.currency}
        <input
          name="currency"
          required
          pattern="[A-Z]{3}"
          maxLength={3}
          defaultValue={prices?.currency ?? 'USD'}
        />
      </label>
      <Lines
        name="models"
        label={words.prices.models}
        lines={prices ? priceLines(prices).split('\n') : []}
        hint={words.prices.hint}
      />
    </Part>
  );
}

function Terms({ settings, save }: PartProps) {
  const run = (form: FormData) => save({ key_terms: linesOf(textOf(form, 'terms')) });
  return (
    <Part id="terms" title={words.terms.title} run={run}>
      <Lines name="terms" label={words.terms.label} lines={settings.key_terms} hint={words.terms.hint} />
    </Part>
  );
}
