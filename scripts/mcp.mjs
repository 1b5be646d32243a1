import { onNode24 } from './setup/node24.mjs';

await onNode24('mcp.ts');
