/** The commands in Markdown pages: in blocks that are fenced or indented, and in the text as code. */

export interface DocumentedCommand {
  /** The page, and the line where the command begins. */
  readonly place: string;
  /** Settings in front of it. */
  readonly settings: readonly string[];
  /** Its words, as a shell passes them on; variables and the output of others stay as they are written. */
  readonly words: readonly string[];
}

/** What a shell ends a command with; a word of its own. */
const ends = /^(?:[|;&]|&&|\|\||\d?>>?|<|#)$/;

/** @param text of the page */
export function documentedCommands(page: string, text: string): DocumentedCommand[] {
  const lines = text.split('\n');
  const found: DocumentedCommand[] = [];
  let fence: string | null = null;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const mark = /^\s*```(\w*)/.exec(line);
    if (mark) {
      fence = fence === null ? (mark[1] ?? '') : null;
      continue;
    }
    const inBlock = fence === null ? /^\s{4,}\S/.test(line) : ['sh', 'bash', 'console', ''].includes(fence);
    if (inBlock) {
      const rest = [line.trimStart().replace(/^[$#] /, ''), ...lines.slice(at + 1)].join('\n');
      found.push(...commandsIn(rest, `${page}:${at + 1}`));
    } else if (fence === null) {
      for (const [, code = ''] of line.matchAll(/`([^`]+)`/g))
        found.push(...commandsIn(code, `${page}:${at + 1}`));
    }
  }
  return found;
}

/** The commands of one line of a shell, which may go on in the next lines. */
function commandsIn(text: string, place: string): DocumentedCommand[] {
  const parts: string[][] = [[]];
  for (const word of shellWords(text)) {
    if (ends.test(word)) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts.flatMap((words) => {
    const first = words.findIndex((word) => !/^[A-Z][A-Z0-9_]*=/.test(word));
    if (first < 0) return [];
    const settings = words.slice(0, first).map((word) => word.slice(0, word.indexOf('=')));
    const own = { place, settings, words: words.slice(first) };
    const inside = insideContainer(own.words);
    return inside.length === 0 ? [own] : [own, { place, settings: [], words: inside }];
  });
}

/** What runs in the container; empty: the command starts none of ours in one. */
function insideContainer(words: readonly string[]): readonly string[] {
  if (!/^(?:kubectl|podman|docker)$/.test(words[0] ?? '')) return [];
  const exec = words.indexOf('exec');
  const at = words.indexOf('trunkline', exec);
  return exec < 0 || at < 0 ? [] : words.slice(at);
}

/** Words up to the end of the line, outside of quotes. */
function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let at = 0;
  const add = (part: string) => {
    word = (word ?? '') + part;
  };
  const end = () => {
    if (word !== null) words.push(word);
    word = null;
  };
  while (at < text.length) {
    const rest = text.slice(at);
    const [token = ''] =
      /^(?:\\\n|\\.|'[^']*'|"(?:\\.|[^"\\])*"|\$\((?:[^()]|\([^()]*\))*\)|&&|\|\||[|;&\n]|\d?>>?|[ \t]+|[^\s'"\\|;&>$]+|.)/s.exec(
        rest,
      ) ?? [];
    at += token.length;
    if (token === '\n') break;
    if (token === '\\\n' || /^[ \t]+$/.test(token)) end();
    else if (ends.test(token) && (word === null || !/^\d?>/.test(token))) {
      end();
      if (token === '#') break;
      words.push(token);
    } else if (token.startsWith("'") && token.length > 1) add(token.slice(1, -1));
    else if (token.startsWith('"') && token.length > 1) add(token.slice(1, -1).replace(/\\(["\\$`])/g, '$1'));
    else if (token.startsWith('\\')) add(token.slice(1));
    else add(token);
  }
  end();
  return words;
}
