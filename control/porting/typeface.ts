/**
 * The typefaces of letters. Helvetica, which every PDF reader has, covers Western European letters only (ISO 32000-1
 * annex D.2). A letter with any others embeds DejaVu Sans: Latin with all accents, Greek, Cyrillic, Armenian, Georgian,
 * Hebrew, Arabic. That takes some hundred milliseconds, so not every letter does it.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create } from 'fontkit';

const require = createRequire(import.meta.url);

/** What a document is written with: names that every reader knows, or the bytes of TrueType files. */
export interface Fonts {
  readonly regular: string | Buffer;
  readonly bold: string | Buffer;
  /** Code points that it has letters for. */
  readonly known: ReadonlySet<number>;
}

/** WinAnsiEncoding, in which standard fonts are written, is Windows-1252. */
const western: ReadonlySet<number> = new Set(
  Array.from(new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 0x100 }, (_, code) => code)))
    .map((letter) => letter.codePointAt(0) ?? 0)
    .filter((point) => point >= 0x20 && (point < 0x7f || point > 0x9f)),
);

const helvetica: Fonts = { regular: 'Helvetica', bold: 'Helvetica-Bold', known: western };

/** The fonts for a text. The caller must replace letters that neither typeface has. */
export function fontsFor(text: string): Fonts {
  if ([...printing(text)].every((one) => western.has(one.codePointAt(0) ?? 0))) return helvetica;
  dejaVu ??= readDejaVu();
  return dejaVu;
}

/** The text as printed: composed, with every run of blanks and control characters as one blank. */
export function printing(text: string): string {
  return text.normalize('NFC').replaceAll(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

/** Read once, when first needed. */
let dejaVu: Fonts | null = null;

function readDejaVu(): Fonts {
  const regular = readFileSync(require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf'));
  const bold = readFileSync(require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'));
  const font = create(regular);
  const known = new Set('characterSet' in font ? font.characterSet : []);
  return { regular, bold, known };
}
