/** The pages behind a signature link, as HTML without scripts (contract 5.6). Pure. */
import { type Letter, type LetterBlock, letterHash } from './letter-rules.ts';

/** Contract 5.6. */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
} as const;

const style = `
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2330; background: #f3f4f7; margin: 0; }
main { max-width: 44rem; margin: 2rem auto; padding: 2rem; background: #fff; border: 1px solid #d9dce3; border-radius: 8px; }
h1 { font-size: 1.5rem; margin-top: 0; } h2 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
dl { display: grid; grid-template-columns: 14rem 1fr; gap: .15rem 1rem; margin: 0; } dt { color: #5b6270; } dd { margin: 0; overflow-wrap: anywhere; }
ul { columns: 3; padding-left: 1.2rem; margin: 0; } form { margin-top: 2rem; padding-top: 1rem; border-top: 1px solid #d9dce3; }
input[type=text] { display: block; width: 100%; box-sizing: border-box; font: inherit; padding: .5rem; margin: .25rem 0 1rem; }
button { font: inherit; padding: .6rem 1.4rem; border: 0; border-radius: 6px; background: #1f5eff; color: #fff; margin-top: 1rem; }
.problem { color: #a3121e; font-weight: 600; } .small { color: #5b6270; font-size: .85rem; overflow-wrap: anywhere; }
@media (max-width: 40rem) { main { margin: 0; border: 0; } dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } ul { columns: 2; } }`;

/** Text escaped for element content and quoted attributes. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** @param problem why the previous attempt was rejected @param name as typed before */
export function signPage(letter: Letter, problem: string | null = null, name = ''): string {
  const hash = letterHash(letter);
  return shell(
    letter.title,
    `${letterHtml(letter)}
<form method="post" action="?letter=${hash}">
<h2>Sign</h2>${problem === null ? '' : `\n<p class="problem" role="alert">${escapeHtml(problem)}</p>`}
<label>Your first and last name, as in the letter
<input type="text" name="name" value="${escapeHtml(name)}" minlength="2" maxlength="200" autocomplete="name" required></label>
<label><input type="checkbox" name="consent" value="true" required> I have read the letter, I agree to sign it electronically, and my typed name is my signature.</label>
<div><button type="submit">Sign the letter</button></div>
<p class="small">Your name, the time, your network address and the SHA-256 of the letter (${hash}) are kept with the signature.</p>
</form>`,
  );
}

export function signedPage(name: string, at: string): string {
  return shell(
    'The letter is signed',
    `<h1>The letter is signed</h1>
<p>${escapeHtml(name)} signed it at ${escapeHtml(at)}. Nothing is left to do; we take it from here.</p>`,
  );
}

export function problemPage(title: string, text: string): string {
  return shell(title, `<h1>${escapeHtml(title)}</h1>\n<p>${escapeHtml(text)}</p>`);
}

function letterHtml(letter: Letter): string {
  return `<h1>${escapeHtml(letter.title)}</h1>
<p class="small">Request ${escapeHtml(letter.requestId)}, ${escapeHtml(letter.date)}</p>
${letter.blocks.map(blockHtml).join('\n')}`;
}

function blockHtml(block: LetterBlock): string {
  switch (block.kind) {
    case 'paragraph':
      return `<p>${escapeHtml(block.text)}</p>`;
    case 'facts': {
      const facts = block.facts.map(
        ([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`,
      );
      return `<h2>${escapeHtml(block.heading)}</h2>\n<dl>${facts.join('')}</dl>`;
    }
    case 'numbers':
      return `<h2>${escapeHtml(block.heading)}</h2>\n<ul>${block.numbers.map((one) => `<li>${escapeHtml(one)}</li>`).join('')}</ul>`;
  }
}

function shell(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${escapeHtml(title)}</title><style>${style}</style></head>
<body><main>
${content}
</main></body>
</html>
`;
}
