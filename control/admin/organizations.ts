/** Commands for organizations: create, show, disable and enable, SIP entitlement, secret and alerts. */
import { randomBytes } from 'node:crypto';
import { Value } from 'typebox/value';
import { OrganizationPatch } from '#shared/api/organization.ts';
import { toE164 } from '#shared/e164.ts';
import { commandLineActor, recordChange } from '../audit/index.ts';
import type { Altered } from '../catalogue/index.ts';
import { type ApiKeyRow, type Db, fromJson, type OrganizationRow, toJson } from '../db/index.ts';
import { listNumbers } from '../numbers/index.ts';
import {
  type CallCeiling,
  ceilingOf,
  createOrganization,
  isoTime,
  listApiKeys,
  listOrganizations,
  type OrganizationChange,
  setDisabled,
  signingSecretContext,
  updateOrganization,
} from '../organizations/index.ts';
import { listLargeSources, listWideNumbers } from '../trunks/index.ts';
import { type Command, checkedName, required, type Tools, UsageError } from './command.ts';

export const organizationCommands: Readonly<Record<string, Command>> = {
  'org create': {
    takes: '<name>',
    help: [
      'make an organization; prints its id',
      '--email <address> of its owner, who gets its alerts; may be given several times',
      '--sip lets it use SIP (else SIP_ENTITLEMENT_DEFAULT decides); --region <name>',
    ].join('\n'),
    options: ['email', 'sip', 'region'],
    first: true,
    run: async ({ config, secrets, catalogue, clock }, name, { email = [], sip, region }) => {
      const organization = {
        name: checkedName(name, 'name'),
        region: region === undefined ? config.region : checkedName(region, 'region'),
        sipEnabled: sip ?? config.sipEntitlementDefault,
        ownerEmails: checkedEmails(email),
      };
      return (await catalogue()).change(async (db, altered) => {
        const id = await createOrganization(db, clock, secrets, organization);
        altered.organizations.add(id);
        await recordChange(db, clock, commandLineActor, { ...subject(id), action: 'create' });
        return id;
      });
    },
  },
  'org list': {
    takes: '',
    help: 'all organizations',
    options: [],
    run: async ({ database }) => (await listOrganizations(database.db)).map(line),
  },
  'org show': {
    takes: '<org id>',
    help: 'one organization with its settings',
    options: [],
    run: async ({ config, clock, database: { db } }, id) => {
      const row = await find(db, id);
      const keys = await listApiKeys(db, row.id);
      return Object.entries({
        ...line(row),
        region: row.region,
        alert_emails: fromJson(row.alert_emails).join(', '),
        alert_sms_numbers: fromJson(row.alert_sms_numbers).join(', '),
        event_webhook_url: row.event_webhook_url ?? '',
        call_ceiling: toJson(ceilingOf(row.call_ceiling, config.callLimits)),
        call_limits: row.call_limits ?? 'none of its own',
        wide_sources: row.wide_sources === 1 ? 'permitted' : 'not permitted',
        numbers: (await listNumbers(db, row.id)).length,
        keys_in_force: keys.filter((key) => isInForce(key, isoTime(clock))).length,
      }).map(([setting, value]) => ({ setting, value }));
    },
  },
  'org disable': {
    takes: '<org id>',
    help: 'its keys are rejected and its numbers are not answered until it is enabled again; nothing is deleted',
    options: [],
    run: (tools, id) => switchTo(tools, id, false),
  },
  'org enable': {
    takes: '<org id>',
    help: 'undo a disable',
    options: [],
    run: (tools, id) => switchTo(tools, id, true),
  },
  'org alerts': {
    takes: '<org id>',
    help: [
      'set the recipients of alerts; the new list replaces the old one',
      '--email <address> and --sms <number>, each several times; an empty one ("") clears the list',
    ].join('\n'),
    options: ['email', 'sms'],
    run: async (tools, id, { email, sms }) => {
      if (!email && !sms) throw new UsageError('Give --email, --sms or both.');
      const change = {
        ...(email && { alert_emails: toJson(checkedEmails(given(email))) }),
        ...(sms && { alert_sms_numbers: toJson(checkedNumbers(given(sms))) }),
      };
      await changeRow(tools, id, 'update', change);
      return 'alert recipients set';
    },
  },
  'org call-ceiling': {
    takes: '<org id>',
    help: [
      'set the most outgoing calls that an organization can make; its own limits can only be lower',
      '--concurrent and --per-minute <1 to 10000>, "none" for no ceiling, or "default" for that of the deployment',
    ].join('\n'),
    options: ['concurrent', 'per-minute'],
    run: async (tools, id, { concurrent, 'per-minute': perMinute }) => {
      if (concurrent === undefined && perMinute === undefined) {
        throw new UsageError('Give --concurrent, --per-minute or both.');
      }
      const row = await find(tools.database.db, id);
      const call_ceiling = changedCeiling(row.call_ceiling, { concurrent, per_minute: perMinute });
      await changeRow(tools, row.id, 'update', { call_ceiling }, (orgId, altered) =>
        altered.organizations.add(orgId),
      );
      return toJson(ceilingOf(call_ceiling, tools.config.callLimits));
    },
  },
  'org rotate-secret': {
    takes: '<org id>',
    help: 'replace the secret that signs its webhooks; the new one is shown once and used from the next attempt on',
    options: [],
    run: async (tools, id) => {
      const secret = randomBytes(32).toString('hex');
      const seal = (orgId: string) => ({
        signing_secret: tools.secrets.seal(secret, signingSecretContext(orgId)),
      });
      await changeRow(tools, id, 'replace_secret', seal, (orgId, altered) =>
        altered.organizations.add(orgId),
      );
      return secret;
    },
  },
  'sip enable': {
    takes: '<org id>',
    help: 'let an organization use /v1/sip',
    options: [],
    run: (tools, id) => entitle(tools, id, true),
  },
  'sip disable': {
    takes: '<org id>',
    help: 'answer its requests to /v1/sip with 403; calls of its numbers are unaffected',
    options: [],
    run: (tools, id) => entitle(tools, id, false),
  },
  'sip allow-wide': {
    takes: '<org id>',
    help: 'let an organization accept calls from networks wider than /16 (IPv4) or /32 (IPv6), or than four of these in all',
    options: [],
    run: (tools, id) => permitWide(tools, id, true),
  },
  'sip deny-wide': {
    takes: '<org id>',
    help: 'undo it; what its numbers list already stays ("sip wide" shows it)',
    options: [],
    run: (tools, id) => permitWide(tools, id, false),
  },
  'sip large': {
    takes: '',
    help: 'all organizations whose numbers list more than four /16 or /32 in all, and whether they are permitted to',
    options: [],
    run: ({ database }) => listLargeSources(database.db),
  },
  'sip wide': {
    takes: '',
    help: 'all numbers that accept calls from such networks, and whether their organization is permitted to',
    options: [],
    run: ({ database }) => listWideNumbers(database.db),
  },
};

function isInForce({ expires_at, revoked_at }: ApiKeyRow, now: string): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now);
}

function subject(orgId: string) {
  return { orgId, area: 'organization', subject: orgId };
}

function line({ id, name, sip_enabled, disabled_at, created_at }: OrganizationRow) {
  return { id, name, sip: sip_enabled === 1, created_at, disabled_at: disabled_at ?? '' };
}

async function find(db: Db, id: string | undefined): Promise<OrganizationRow> {
  const wanted = required(id, 'org id');
  const row = (await listOrganizations(db)).find((organization) => organization.id === wanted);
  if (!row) throw new UsageError(`There is no organization ${wanted}; "org list" shows them.`);
  return row;
}

/** Stores a change of one organization with its audit entry. */
async function changeRow(
  { catalogue, clock }: Tools,
  id: string | undefined,
  action: string,
  change: OrganizationChange | ((orgId: string) => OrganizationChange),
  publish: (orgId: string, altered: Altered) => void = () => {},
): Promise<void> {
  return (await catalogue()).change(async (db, altered) => {
    const { id: orgId } = await find(db, id);
    const columns = typeof change === 'function' ? change(orgId) : change;
    await updateOrganization(db, orgId, columns);
    publish(orgId, altered);
    const fields = Object.keys(columns).sort();
    await recordChange(db, clock, commandLineActor, { ...subject(orgId), action, fields });
  });
}

async function entitle(tools: Tools, id: string | undefined, enabled: boolean): Promise<string> {
  await changeRow(tools, id, 'update', { sip_enabled: enabled ? 1 : 0 });
  return enabled ? 'SIP enabled' : 'SIP disabled';
}

async function permitWide(tools: Tools, id: string | undefined, permitted: boolean): Promise<string> {
  await changeRow(tools, id, 'update', { wide_sources: permitted ? 1 : 0 });
  return permitted ? 'very wide networks permitted' : 'very wide networks not permitted';
}

async function switchTo(
  { catalogue, clock }: Tools,
  id: string | undefined,
  enabled: boolean,
): Promise<string> {
  return (await catalogue()).change(async (db, altered) => {
    const { id: orgId } = await find(db, id);
    const action = enabled ? 'enable' : 'disable';
    if (!(await setDisabled(db, clock, orgId, !enabled))) return `was ${action}d before`;
    altered.organizations.add(orgId);
    for (const { number } of await listNumbers(db, orgId)) altered.numbers.add(number);
    await recordChange(db, clock, commandLineActor, { ...subject(orgId), action });
    return `${action}d`;
  });
}

/** An empty text means none. */
function given(texts: readonly string[]): string[] {
  return texts.filter((text) => text !== '');
}

function checkedEmails(texts: readonly string[]): readonly string[] {
  for (const text of texts) {
    if (!Value.Check(OrganizationPatch, { alert_emails: [text] })) {
      throw new UsageError(`"${text}" is not a mail address.`);
    }
  }
  if (Value.Check(OrganizationPatch, { alert_emails: texts })) return texts;
  throw tooMany('--email', texts);
}

function checkedNumbers(texts: readonly string[]): readonly string[] {
  const numbers = texts.map((text) => {
    const number = toE164(text);
    if (number === null) throw new UsageError(`"${text}" is not an E.164 number.`);
    return number;
  });
  if (Value.Check(OrganizationPatch, { alert_sms_numbers: numbers })) return numbers;
  throw tooMany('--sms', numbers);
}

/** Same list limit as in the API. */
function tooMany(option: string, given: readonly string[]): UsageError {
  return new UsageError(`${option} is given ${given.length} times; alerts go to 20 of each at most.`);
}

/** @param stored JSON, null for none @returns the same @throws UsageError */
function changedCeiling(
  stored: OrganizationRow['call_ceiling'],
  given: Readonly<Record<keyof CallCeiling, string | undefined>>,
): OrganizationRow['call_ceiling'] {
  const ceiling = new Map<string, number | null>(
    Object.entries(stored === null ? {} : fromJson<Partial<CallCeiling>>(stored)),
  );
  for (const [name, text] of Object.entries(given)) {
    if (text === 'default') ceiling.delete(name);
    else if (text !== undefined) ceiling.set(name, text === 'none' ? null : checkedCeiling(text));
  }
  return ceiling.size === 0 ? null : toJson(Object.fromEntries(ceiling));
}

function checkedCeiling(text: string): number {
  const number = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= 10_000) return number;
  throw new UsageError(`"${text}" is not a ceiling: give a number from 1 to 10000, "none" or "default".`);
}
