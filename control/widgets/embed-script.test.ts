import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { expect, it } from 'vitest';
import { embedScript } from './embed-script.ts';

const folder = join(import.meta.dirname, 'embed');
const modules = readdirSync(folder).filter((name) => name.endsWith('.js'));

const phone = '/assets/visitor-phone-abc.js';

it('joins all modules to a script that compiles without imports, exports or two things of one name', () => {
  const { text } = embedScript(phone);
  expect(() => new Script(text)).not.toThrow();
  expect(text).not.toMatch(/^(?:import|export)\b/m);
  expect(text).not.toMatch(/@chat\.css|'@phone'/);
  const names = (code: string) => [...code.matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
  const exported = modules.flatMap((name) => names(readFileSync(join(folder, name), 'utf8')));
  expect(exported.length).toBeGreaterThan(5);
  for (const name of exported) expect(text).toContain(`const ${name} =`);
});

it('changes its ETag with its text only', () => {
  expect(embedScript(phone)).toEqual(embedScript(phone));
  expect(embedScript(phone).etag).not.toBe(embedScript(null).etag);
});

it('has nothing of calls where a widget takes none', () => {
  const { text } = embedScript(null);
  expect(() => new Script(text)).not.toThrow();
  expect(text).not.toMatch(/phone|offerCalls/);
  expect(embedScript(phone).text).toContain(`"${phone}"`);
});
