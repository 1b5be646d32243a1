/** No screen needs a reload: each reading is renewed by something, which the types ask of `useLoaded`, or is named here. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../console');
const files = globSync('**/*.{ts,tsx}', { cwd: root }).filter(
  (name) => !name.includes('.test.') && !name.startsWith('visitor-phone'),
);
const sources = new Map(files.map((name) => [name, readFileSync(join(root, name), 'utf8')]));

/** The files in which something is found. */
function filesWith(form: RegExp): string[] {
  return files.filter((name) => form.test(sources.get(name) ?? '')).sort();
}

/** Files that read without `useLoaded`. */
const readOtherwise: Readonly<Record<string, string>> = {
  'api/session.ts': 'once, and again after a lost connection and while the screens are not allowed',
  'parts/agents.ts': 'for the screens that call it in their own reading',
  'parts/supervise.tsx': 'kept current by the events of supervisors',
  'screens/call/player.ts': 'the sound that is played',
  'screens/live/calls-now.ts': 'kept current by each event of a call',
  'screens/pathways/toolbar.tsx': 'after a click: what was just saved',
  'screens/ports/start.tsx': 'after a click: which numbers can be moved',
  'screens/tests/pieces.tsx': 'for the screens that call it in their own reading',
};

/** Files with a reading that is not renewed. */
const unchanging: Readonly<Record<string, string>> = {
  'parts/reading.ts': 'until there is data',
  'parts/renewal.ts': 'says what it is',
  'screens/connect/connect.tsx': 'a discovery that has ended',
  'screens/connect/test-call.tsx': 'a test call that has ended',
  'screens/graph/node-names.ts': 'no pathway is meant',
  'screens/organization/changes.tsx': 'old pages of the log of changes',
  'screens/organization/deliveries.tsx': 'the body of a webhook as it was sent',
  'screens/pathways/diff.tsx': 'no version is chosen',
  'screens/pathways/replay.tsx': 'no call is chosen',
  'screens/tests/templates.tsx': 'templates of the release',
};

it('reads nothing that is not renewed', () => {
  const reads = filesWith(/\b(request|send)\(\s*['`]GET /);
  expect(reads.length).toBeGreaterThan(40);
  const loads = new Set(filesWith(/\buseLoaded[(<]/));
  expect(reads.filter((name) => !loads.has(name))).toEqual(Object.keys(readOtherwise));
  expect(filesWith(/\bunchanging\b/)).toEqual(Object.keys(unchanging));
});

it('reads by no clock of its own', () => {
  // Seconds of calls, and levels of the microphone.
  const clocks = ['phone/bar.tsx', 'phone/levels.ts', 'screens/live/live.tsx'];
  expect(filesWith(/\bsetInterval\(/)).toEqual(clocks);
});

it('has no field whose text is lost when its form is drawn again', () => {
  const fields = files.flatMap((name) =>
    [...(sources.get(name) ?? '').matchAll(/<(?:input|textarea|select)\b(?:=>|[^>])*>/g)].map(
      ([text]) => `${name}: ${text.replaceAll(/\s+/g, ' ')}`,
    ),
  );
  expect(fields.length).toBeGreaterThan(80);
  const isBound = (field: string) => /\b(onInput|onChange|readOnly|type="(checkbox|radio)")/.test(field);
  const isSet = (field: string) => / value=| checked=/.test(field);
  // What is spread into an element of the pathway's form has its handler there.
  expect(fields.filter((field) => isSet(field) && !isBound(field))).toEqual([]);
});
