/**
 * Coverage of an input, by counters that are inserted into the code on load: reading them takes microseconds, V8's own
 * coverage takes tens of milliseconds.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

/** Space for the blocks of all loaded code; further blocks are not counted. */
const mostBlocks = 65_536;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  /** Of an `if`. */
  readonly alternate?: unknown;
}

/** How often each block ran. The instrumented code accesses it through a global. */
export class Instrument {
  readonly #name: string;
  readonly #counts = new Uint32Array(mostBlocks);
  readonly #seen = new Uint32Array(mostBlocks);
  #blocks = 0;
  #reached = 0;

  /** @param name of the global that holds the counters */
  constructor(name = '__blocks') {
    this.#name = name;
    Object.assign(globalThis, { [name]: this.#counts });
  }

  /** Blocks that some input has reached. */
  get reached(): number {
    return this.#reached;
  }

  /** Clears the counts. */
  reset(): void {
    this.#counts.fill(0, 0, this.#blocks);
  }

  /** Reads the counts since `reset`. @returns whether there is new coverage, and how many blocks ran */
  take(): { readonly isNew: boolean; readonly work: number } {
    let isNew = false;
    let work = 0;
    for (let block = 0; block < this.#blocks; block++) {
      const count = this.#counts[block] ?? 0;
      if (count === 0) continue;
      work += count;
      const seen = this.#seen[block] ?? 0;
      const bit = 1 << magnitude(count);
      if ((seen & bit) !== 0) continue;
      if (seen === 0) this.#reached++;
      this.#seen[block] = seen | bit;
      isNew = true;
    }
    return { isNew, work };
  }

  /**
   * Instruments project files that are imported from now on.
   * @param folders of the project
   * @param kept folder of what other processes have instrumented since the last change of a source, and this one adds to;
   * null: none
   */
  register(root: string, folders: readonly string[], kept: string | null = null): void {
    const prefixes = folders.map((folder) => `${root}/${folder}/`);
    registerHooks({
      load: (url, context, next) => {
        if (!url.endsWith('.ts') || !url.startsWith('file:')) return next(url, context);
        const path = fileURLToPath(url);
        if (!prefixes.some((prefix) => path.startsWith(prefix))) return next(url, context);
        return { format: 'module', source: this.#instrumentedFile(path, kept), shortCircuit: true };
      },
    });
  }

  #instrumentedFile(path: string, kept: string | null): string {
    const instrumented = () => this.instrumented(stripTypeScriptTypes(readFileSync(path, 'utf8')));
    if (kept === null) return instrumented();
    // The numbers of its blocks are in it.
    const first = this.#blocks;
    const name = `${first}-${createHash('sha256').update(path).digest('hex')}`;
    const file = join(kept, name);
    if (existsSync(file)) {
      const { source, blocks } = JSON.parse(readFileSync(file, 'utf8')) as Kept;
      this.#blocks += blocks;
      return source;
    }
    const source = instrumented();
    writeFileSync(file, JSON.stringify({ source, blocks: this.#blocks - first } satisfies Kept));
    return source;
  }

  /** @param source a module of plain JavaScript */
  instrumented(source: string): string {
    const program = parsed(source);
    if (!isNode(program)) throw new TypeError('the parser returns no node');
    return source.slice(0, program.start) + this.#written(source, program) + source.slice(program.end);
  }

  #written(source: string, node: Node): string {
    let text = '';
    let at = node.start;
    for (const { child, role } of childrenOf(node)) {
      if (child.start < at) continue;
      text += source.slice(at, child.start) + this.#counted(this.#written(source, child), child, role);
      at = child.end;
    }
    text += source.slice(at, node.end);
    return node.type === 'IfStatement' && !node.alternate ? `${text} else ${this.#count()};` : text;
  }

  #counted(text: string, node: Node, role: Role): string {
    if (role === 'expression') return `(${this.#count()},(${text}))`;
    if (role === 'before') return `${this.#count()};${text}`;
    if (role !== 'body') return text;
    return node.type === 'BlockStatement'
      ? `{${this.#count()};${text.slice(1)}`
      : `{${this.#count()};${text}}`;
  }

  #count(): string {
    return this.#blocks < mostBlocks ? `${this.#name}[${this.#blocks++}]++` : '0';
  }
}

/** An instrumented file. */
interface Kept {
  readonly source: string;
  /** How many it has. */
  readonly blocks: number;
}

/** The parser is loaded when it is used: that takes longer than a short run of a target whose files are all kept. */
function parsed(source: string): unknown {
  const { parseAst } = require('vitest/node') as typeof import('vitest/node');
  return parseAst(source);
}

/** How a part of the code is counted: as a statement that becomes a block, as an expression, by what precedes it. */
type Role = 'body' | 'expression' | 'before' | null;

/** Parts that run conditionally, by node type (ESTree) and property name. */
const roles: Readonly<Record<string, Readonly<Record<string, Role>>>> = {
  FunctionDeclaration: { body: 'body' },
  FunctionExpression: { body: 'body' },
  IfStatement: { consequent: 'body', alternate: 'body' },
  ForStatement: { body: 'body' },
  ForInStatement: { body: 'body' },
  ForOfStatement: { body: 'body' },
  WhileStatement: { body: 'body' },
  DoWhileStatement: { body: 'body' },
  CatchClause: { body: 'body' },
  ConditionalExpression: { consequent: 'expression', alternate: 'expression' },
  LogicalExpression: { right: 'expression' },
  AssignmentPattern: { right: 'expression' },
};

/** In source order; of two with the same start, as in `{ a = 1 }`, the longer one first. */
function childrenOf(node: Node): { child: Node; role: Role }[] {
  const found = Object.entries(node).flatMap(([name, value]: [string, unknown]) => {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list.filter(isNode).map((child, index) => ({ child, role: roleOf(node, name, child, index) }));
  });
  return found.sort((a, b) => a.child.start - b.child.start || b.child.end - a.child.end);
}

function roleOf(node: Node, name: string, child: Node, index: number): Role {
  if (node.type === 'SwitchCase') return name === 'consequent' && index === 0 ? 'before' : null;
  if (node.type === 'ArrowFunctionExpression' && name === 'body') {
    return child.type === 'BlockStatement' ? 'body' : 'expression';
  }
  return roles[node.type]?.[name] ?? null;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** 1, 2, 3, 4 to 7, 8 to 15 and so on: one more iteration of a loop is not new, twice as many are. */
function magnitude(count: number): number {
  return count < 4 ? count : Math.min(31, 2 + Math.floor(Math.log2(count)));
}
