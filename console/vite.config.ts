/** How the console is built (scripts/setup/console.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, defineConfig, type Plugin, type UserConfig } from 'vite';

/** `virtual:advice`: what to do about each error code, as docs/errors.md says it. */
function advice(): Plugin {
  const id = 'virtual:advice';
  return {
    name: 'advice',
    resolveId: (source) => (source === id ? `\0${id}` : null),
    load: (loaded) => {
      if (loaded !== `\0${id}`) return null;
      const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'errors.md'), 'utf8');
      const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| \d+ \| (.+?) \|$/gm)];
      return `export const advice = ${JSON.stringify(Object.fromEntries(rows.map(([, code, text]) => [code, text])))};`;
    },
  };
}

const build: BuildOptions = {
  target: 'es2023',
  // The policy of the page forbids scripts and styles inside it.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  reportCompressedSize: false,
};

/** The phone of widgets' visitors: a module in one file, for pages of other origins (control/console/bundle.ts). */
const phone: UserConfig = {
  root: import.meta.dirname,
  build: {
    ...build,
    emptyOutDir: false,
    rolldownOptions: {
      input: join(import.meta.dirname, 'visitor-phone', 'main.ts'),
      preserveEntrySignatures: 'strict',
      output: { format: 'es', entryFileNames: 'assets/visitor-phone-[hash].js' },
    },
  },
};

/** The mode `visitor-phone` builds that one file beside the console. */
export default defineConfig(({ mode }) =>
  mode === 'visitor-phone'
    ? phone
    : {
        root: import.meta.dirname,
        plugins: [advice()],
        oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
        build,
      },
);
