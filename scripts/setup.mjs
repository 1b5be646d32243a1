import { onNode24 } from './setup/node24.mjs';

// `--peers` brings the peers that the tests need too.
await onNode24('setup.ts');
