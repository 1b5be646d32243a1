/** Pages of docs/ as markup: headings with anchors, links between pages, nothing of their own HTML. */
import { posix } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Marked, Tokens } from 'marked';
import { type PageFiles, pathOf } from './contents.ts';
import { anchorOf, codeBlock, escaped } from './markup.ts';

export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

/** A heading and what is under it, for the search. */
export interface Section {
  /** Empty before the first heading. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface Rendered {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
}

export async function markdownReader(files: PageFiles) {
  // Only when somebody reads: a control plane starts without it.
  const { Marked } = await import('marked');
  const readerOf = (file: string): { marked: Marked; headings: Heading[] } => {
    const headings: Heading[] = [];
    const marked = new Marked({
      gfm: true,
      renderer: {
        heading({ tokens, depth, text }: Tokens.Heading) {
          const anchor = anchorOf(plainText(text));
          const same = headings.filter((one) => one.id.replace(/-\d+$/, '') === anchor).length;
          const id = same === 0 ? anchor : `${anchor}-${same}`;
          headings.push({ level: depth, id, text: plainText(text) });
          return `<h${depth} id="${escaped(id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
        },
        link({ href, tokens }: Tokens.Link) {
          const target = targetOf(href, file, files);
          const text = this.parser.parseInline(tokens);
          return target === null ? text : `<a href="${escaped(target)}">${text}</a>`;
        },
        image({ href, text }: Tokens.Image) {
          return `<img src="/${escaped(posix.join(posix.dirname(file), href))}" alt="${escaped(text)}" loading="lazy">`;
        },
        code: ({ text }: Tokens.Code) => `${codeBlock(text, 'Code')}\n`,
        // Comments for programs are in some pages.
        html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text.replaceAll(/<!--[\s\S]*?-->/g, '')),
        table(token: Tokens.Table) {
          const cells = (tag: string, row: readonly Tokens.TableCell[]) =>
            row
              .map((cell) => {
                const align = cell.align ? ` class="${cell.align}"` : '';
                const scope = tag === 'th' ? ' scope="col"' : '';
                return `<${tag}${scope}${align}>${this.parser.parseInline(cell.tokens)}</${tag}>`;
              })
              .join('');
          const isNameless = token.header.every(({ text }) => text === '');
          const head = isNameless ? '' : `<thead><tr>${cells('th', token.header)}</tr></thead>`;
          const rows = token.rows.map((row) => `<tr>${cells('td', row)}</tr>`).join('\n');
          return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${rows}</tbody></table></div>\n`;
        },
      },
    });
    return { marked, headings };
  };
  return {
    /** @param file in the folder of Trunkline, to which the links of the page are relative */
    async page(file: string, text: string): Promise<Rendered> {
      const { marked, headings } = readerOf(file);
      // A turn for each section: a long page takes 50 ms.
      let html = '';
      for (const part of partsOf(text)) {
        html += await marked.parse(part.trimEnd());
        await setImmediate();
      }
      const title = headings.find(({ level }) => level === 1)?.text ?? file;
      return { title, html, headings };
    },
    /** One line of a file. */
    line(file: string, text: string): string {
      return String(readerOf(file).marked.parseInline(text));
    },
  };
}

/** Where a link of a page leads on this site; null: to a file that is not part of it, such as source. */
function targetOf(href: string, from: string, files: PageFiles): string | null {
  if (/^https?:/.test(href) || href.startsWith('#')) return href;
  if (href.startsWith('/')) return href;
  const [file = '', anchor] = href.split('#');
  const path = pathOf(posix.join(posix.dirname(from), file), files);
  if (path === null) return null;
  return `/docs/${path}${anchor === undefined ? '' : `#${anchor}`}`;
}

function plainText(markdown: string): string {
  return markdown.replaceAll(/[`*]/g, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}

/** Each begins with a heading, except perhaps the first one. */
function partsOf(text: string): string[] {
  let isCode = false;
  const parts: string[][] = [[]];
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    // A comment in a block of code is no heading.
    if (!isCode && /^#{1,4} /.test(line)) parts.push([]);
    parts.at(-1)?.push(line);
  }
  return parts.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
}

export function sectionsOf(text: string): Section[] {
  return partsOf(text).map((part) => {
    const [, title = ''] = /^#+ (.+)\n?/.exec(part) ?? [];
    const body = part.replace(/^#+ .+\n?/, '').replaceAll(/^```.*$/gm, '');
    return {
      id: title === '' ? '' : anchorOf(plainText(title)),
      title: plainText(title),
      text: plainText(body)
        .replaceAll(/[|#>-]{2,}|\s+|\|/g, ' ')
        .trim(),
    };
  });
}
