/** The operations of the API in the order in which people look for them. */
import type { OpenApiDocument, Operation } from '../openapi-document.ts';

interface Group {
  readonly name: string;
  readonly title: string;
  readonly paths: RegExp;
  /** The page of docs/ that says what it is for. */
  readonly guide: string;
}

/** The first match counts. */
const groups: readonly Group[] = [
  { name: 'porting', title: 'Number porting', paths: /^\/v1\/(sip\/port|carrier)\b/, guide: 'porting' },
  { name: 'trunks', title: 'SIP trunks', paths: /^\/v1\/sip\b/, guide: 'contract/02-sip' },
  {
    name: 'calls',
    title: 'Calls',
    paths: /^\/v1\/(calls|conferences|phone-sessions)\b/,
    guide: 'contract/09-calls',
  },
  { name: 'numbers', title: 'Inbound numbers', paths: /^\/v1\/inbound\b/, guide: 'contract/10-inbound' },
  { name: 'pathways', title: 'Pathways and chats', paths: /^\/v1\/pathway\b/, guide: 'contract/11-pathways' },
  { name: 'personas', title: 'Personas', paths: /^\/v1\/personas\b/, guide: 'contract/12-personas' },
  {
    name: 'tools',
    title: 'Tools and integrations',
    paths: /^\/(v2\/tools|v1\/integrations)\b/,
    guide: 'contract/08-tools',
  },
  { name: 'widgets', title: 'Widgets', paths: /^\/(v1\/)?widget\b/, guide: 'contract/07-widgets' },
  {
    name: 'testing',
    title: 'Agent testing',
    paths: /^\/v1\/agent-testing\b/,
    guide: 'contract/06-agent-testing',
  },
  { name: 'events', title: 'Event stream', paths: /^\/v1\/events\b/, guide: 'contract/17-events' },
  {
    name: 'organization',
    title: 'Organization and keys',
    paths: /^\/v1\/(org|sessions?)\b/,
    guide: 'contract/14-organization',
  },
  { name: 'operators', title: 'For operators', paths: /^\/v1\/admin\b/, guide: 'operations' },
  { name: 'deployment', title: 'Deployment', paths: /^/, guide: 'contract/14-organization' },
];

/** In the order of the contents. */
const shown = [
  'calls',
  'numbers',
  'trunks',
  'pathways',
  'personas',
  'tools',
  'widgets',
  'testing',
  'porting',
  'events',
  'organization',
  'operators',
  'deployment',
];

/** Of all groups, in that order, without their operations. */
export const groupTitles: readonly Pick<Group, 'name' | 'title'>[] = shown.flatMap(
  (name) => groups.find((one) => one.name === name) ?? [],
);

export interface Described {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export interface OperationGroup {
  readonly name: string;
  readonly title: string;
  readonly guide: string;
  readonly operations: readonly Described[];
}

/** Sorted by path, and within a path in the order of {@link methods}. */
export function operationGroups(document: OpenApiDocument): OperationGroup[] {
  const all = describedIn(document.paths).sort(
    (one, other) =>
      one.path.localeCompare(other.path, 'en') || methods.indexOf(one.method) - methods.indexOf(other.method),
  );
  const byGroup = Map.groupBy(all, ({ path }) => groups.find(({ paths }) => paths.test(path))?.name ?? '');
  return shown.flatMap((name) => {
    const group = groups.find((one) => one.name === name);
    const operations = byGroup.get(name);
    return group && operations ? [{ ...group, operations }] : [];
  });
}

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Of paths, or of webhooks by their type. */
export function describedIn(paths: OpenApiDocument['paths'] = {}): Described[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      id: operation.operationId ?? `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}
