import { onNode24 } from './setup/node24.mjs';

// `--peers` also installs the peers that the tests need.
await onNode24('setup.ts');
