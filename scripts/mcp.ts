/**
 * `trunkline mcp [--allow-writes]`: an MCP server over stdin and stdout. Standard output carries the protocol alone.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { ownCommand } from '#shared/own-command.ts';
import { createMcpServer } from '../clients/mcp/server.ts';
import { clientOf } from './connection.ts';
import { reportTrouble, Trouble } from './setup/trouble.mjs';

const usage = `Usage: ${ownCommand('mcp')} [--allow-writes] [--url URL] [--key-file FILE]

Serves the tools of Trunkline to an assistant over stdin and stdout (Model Context Protocol).

  --allow-writes    also offer the tools that run tests and store versions of pathways
  --url URL         of the control plane; default: TRUNKLINE_URL, else as bootstrap.json says
  --key-file FILE   that holds an API key; default: TRUNKLINE_API_KEY, else as bootstrap.json says`;

const options = {
  'allow-writes': { type: 'boolean' },
  url: { type: 'string' },
  'key-file': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

await reportTrouble(async () => {
  const values = given();
  if (values.help) return console.log(usage);
  const url = values.url ?? process.env.TRUNKLINE_URL ?? null;
  const client = await clientOf({ url, keyFile: values['key-file'] ?? null });
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '..', 'package.json'), 'utf8'));
  const allowWrites = values['allow-writes'] ?? false;
  serveStdio(() => createMcpServer(client, { allowWrites, version }), {
    onerror: (error) => console.error(`trunkline: ${error.message}`),
  });
});

/** @throws Trouble for an unknown option */
function given() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Trouble('cannot start the MCP server', why, `${ownCommand('mcp')} --help`);
  }
}
